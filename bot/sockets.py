"""Socket Mode with a watchdog of its own: a connection that says nothing is replaced, whatever the SDK thinks.

The SDK's client tries the same one-use address again after a failed connect, and cannot see a connection that is
open and dead. So a connection is thrown away as a whole and a new one made.
"""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from aiohttp import WSMessage
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.repeats import Repeats
from registry.ending import end_all

logger = logging.getLogger(__name__)

PING_SECONDS = 5.0
CONNECT_SECONDS = 15.0
GOODBYE_SECONDS = 2.0
LONGEST_WAIT_SECONDS = 10.0
"""However often it breaks: with the time to connect, answering again takes 15 s at most."""
STABLE_SECONDS = 30.0


class Connection(AsyncSocketModeHandler):
    """One Socket Mode connection that knows when it last heard anything."""

    def __init__(self, app: AsyncApp, token: str, web: AsyncWebClient, repeats: Repeats) -> None:
        super().__init__(app, token, logger=logger, web_client=web, ping_interval=PING_SECONDS)
        self._repeats = repeats
        self.heard_at = time.monotonic()
        self._pong: float | None = None
        self.client.on_message_listeners.append(self._heard)
        # A broken connection is replaced by us, sooner than the SDK would; it still follows Slack's own refreshes.
        self.client.auto_reconnect_enabled = self.client.default_auto_reconnect_enabled = False

    async def handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        """Answer one envelope, once."""
        started = time.time()
        # Nothing is asked of the registry before the acknowledgement; events are compared with other bots' by their id.
        if not self._repeats.is_first_here(f"envelope/{req.envelope_id}"):
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
            return
        answer = await run_async_bolt_app(self.app, req)
        await send_async_response(client, req, answer, started)

    @property
    def silent_seconds(self) -> float:
        """How long nothing was heard: neither a message nor an answer to our ping."""
        # The SDK notes a wall clock, which may be set meanwhile; that it noted something new is all we need of it.
        pong = self.client.last_ping_pong_time
        if pong != self._pong:
            self._pong, self.heard_at = pong, time.monotonic()
        return time.monotonic() - self.heard_at

    @property
    def is_broken(self) -> bool:
        """Whether the connection was closed and nobody is making the next one."""
        session = self.client.current_session
        return (session is None or session.closed) and not self.client.connect_operation_lock.locked()

    async def end(self) -> None:
        """Close, whatever state it is in; one that is dead answers no goodbye, and still leaves nothing behind."""
        with suppress(Exception):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self.close_async()  # type: ignore[no-untyped-call]
        left: list[Any] = [self.client.message_processor, self.client.current_session_monitor]
        await end_all(part for part in [*left, self.client.message_receiver] if part is not None)
        with suppress(Exception):
            await self.client.aiohttp_client_session.close()

    async def _heard(self, message: WSMessage) -> None:
        del message
        self.heard_at = time.monotonic()


class Sockets:
    """Keeps one living connection."""

    def __init__(
        self, app: AsyncApp, token: str, web: AsyncWebClient, repeats: Repeats, *, silence_seconds: float = 60.0
    ) -> None:
        self._app = app
        self._token = token
        self._web = web
        self._repeats = repeats
        self._silence = silence_seconds
        self.connection: Connection | None = None

    @property
    def is_connected(self) -> bool:
        """Whether a connection stands and was heard lately."""
        return self.connection is not None and self.connection.silent_seconds < self._silence

    async def run(self) -> None:
        """Connect, watch, replace; for ever."""
        wait = 0.5
        while True:
            began = time.monotonic()
            connection = Connection(self._app, self._token, self._web, self._repeats)
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await connection.connect_async()  # type: ignore[no-untyped-call]
                self.connection = connection
                logger.info("Socket Mode is connected.")
                await self._until_dead(connection)
            except TimeoutError:
                logger.warning("Slack gave no Socket Mode connection within %.0f s.", CONNECT_SECONDS)
            except Exception as failure:
                logger.warning("Socket Mode failed: %s: %s", type(failure).__name__, failure)
            finally:
                self.connection = None
                await connection.end()
            wait = 0.5 if time.monotonic() - began > STABLE_SECONDS else min(LONGEST_WAIT_SECONDS, wait * 2)
            await asyncio.sleep(wait)

    async def _until_dead(self, connection: Connection) -> None:
        # Silence makes no event to wait for.
        while connection.silent_seconds < self._silence and not connection.is_broken:  # noqa: ASYNC110
            await asyncio.sleep(min(0.5, self._silence / 4))
        logger.warning("The connection to Slack broke or fell silent; making a new one.")
