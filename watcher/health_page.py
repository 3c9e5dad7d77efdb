"""A watcher's own /healthz and /metrics: a page so small that it brings no web server.

Only where a port was set. It answers GET on two paths, one short request to a connection, and holds at most a few.
"""

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

from watcher.health import account_of, is_well

if TYPE_CHECKING:
    from watcher.agent import Agent
    from watcher.metrics import Metrics

ASK_SECONDS = 5.0
"""Whoever connects has so long to ask, and to take the answer."""
LARGEST_LINE = 4096
MOST_AT_ONCE = 16
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


class HealthPage:
    """Answers on one port."""

    def __init__(self, agent: "Agent", host: str, port: int, metrics: "Metrics | None" = None) -> None:
        self._agent = agent
        self._host, self._wanted = host, port
        self._metrics = metrics
        self._open = 0
        self.port = 0
        """Where it listens; 0: not yet."""

    async def serve(self) -> None:
        """Until cancelled; raises OSError when the port is taken."""
        server = await asyncio.start_server(self._answer, self._host, self._wanted, limit=LARGEST_LINE)
        self.port = int(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MOST_AT_ONCE:
                async with asyncio.timeout(ASK_SECONDS):
                    status, kind, body = self._said(await reader.readline())
                    head = f"HTTP/1.0 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\n"
                    writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
                    await writer.drain()
                    writer.write_eof()
                    # What was asked beyond the first line is read, so that the answer is not lost to a reset.
                    await reader.read(LARGEST_LINE)
        except (TimeoutError, OSError, ValueError):
            pass
        finally:
            self._open -= 1
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _said(self, line: bytes) -> tuple[int, str, bytes]:
        method, _, rest = line.decode("latin-1").partition(" ")
        path = rest.split(" ")[0].strip().partition("?")[0]
        if not path:
            return 400, "text/plain", b""
        if method != "GET":
            return 405, "text/plain", b""
        if path == "/healthz":
            status = 200 if is_well(self._agent) else 503
            return status, "application/json", json.dumps(account_of(self._agent)).encode()
        if path == "/metrics" and self._metrics is not None:
            return 200, "text/plain; version=0.0.4; charset=utf-8", self._metrics.text()
        return 404, "text/plain", b""
