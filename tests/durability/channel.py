"""A channel as hostile as a chat server can be: it takes posts, and lies about it.

One line of JSON per request over a unix socket. A post may be refused before it is taken, taken and then refused,
taken and the connection cut, or taken late, after the one who sent it has died.
"""

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FAULTS = ("refused", "taken_then_refused", "taken_then_cut", "cut", "late")
LATE_SECONDS = 0.4


@dataclass
class Channel:
    """What people would see, and how often it misbehaved."""

    fault_share: float
    chance: random.Random
    post_seconds: float = 0.0
    """How long a post takes at least."""
    posts: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    """Name → where it stands first."""
    faults: Counter[str] = field(default_factory=Counter)
    looks: int = 0
    server: asyncio.Server | None = None

    async def open(self, path: Path) -> None:
        """Listen."""
        self.server = await asyncio.start_unix_server(self._serve, path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = json.loads(await reader.readline() or b"{}")
            answer = await self._answer(request)
            if answer is not None:
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        if request.get("do") == "look":
            self.looks += 1
            return {"ok": True, "found": [self.places[name] for name in request["names"] if name in self.places]}
        if request.get("do") != "post":
            return None
        await asyncio.sleep(self.post_seconds)
        fault = self.chance.choice(FAULTS) if self.chance.random() < self.fault_share else ""
        if fault:
            self.faults[fault] += 1
        if fault == "refused":
            return {"ok": False, "clear": True}
        if fault == "cut":
            return None
        if fault == "late":
            await asyncio.sleep(self.chance.uniform(0, LATE_SECONDS))
        self.places.setdefault(request["name"], len(self.posts))
        self.posts.append(request["name"])
        if fault == "taken_then_refused":
            return {"ok": False, "clear": False}
        if fault == "taken_then_cut":
            return None
        return {"ok": True, "ts": str(len(self.posts) - 1)}


async def ask(path: Path, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Send one request; None: no answer that means anything."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(json.dumps(request).encode() + b"\n")
                line = await reader.readline()
            finally:
                writer.close()
            return json.loads(line) if line else None
    except (TimeoutError, OSError, ValueError):
        return None
