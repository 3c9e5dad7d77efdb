"""Socket Mode: connections, envelopes and their acknowledgements, and the ways a socket fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import secrets
import uuid
from dataclasses import dataclass, field

from aiohttp import WSMessage, WSMsgType, web

from bot.workspace.feed import Feed
from bot.workspace.people import APP_ID
from bot.workspace.values import Json

_PING_SECONDS = 10.0
_REFRESH_GRACE_SECONDS = 5.0


@dataclass(eq=False, slots=True)
class Connection:
    """One open socket of the app."""

    socket: web.WebSocketResponse
    request: web.Request
    opened_at: float
    is_zombie: bool = False
    """Open, but nothing is read from it, answered or sent."""
    is_leaving: bool = False
    """Asked to reconnect: takes no new envelopes."""
    id: str = field(default_factory=lambda: secrets.token_hex(4))

    async def send(self, frame: Json) -> None:
        """Send, unless nothing gets through any more."""
        if not self.is_zombie:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.socket.send_str(json.dumps(frame))

    def cut(self) -> None:
        """The connection is gone without a goodbye."""
        if self.request.transport is not None:
            self.request.transport.abort()


class Sockets:
    """The app's Socket Mode connections; each envelope goes to one of them at random."""

    def __init__(self, feed: Feed, most: int) -> None:
        self._feed = feed
        self._most = most
        self._tickets: set[str] = set()
        self._waiting: dict[str, asyncio.Future[Json | None]] = {}
        self.connections: list[Connection] = []
        self.opened = 0
        """How many connections were ever opened."""
        self.repeat_next = 0
        """How many of the next envelopes are sent twice, as they are."""
        self.sent: list[Json] = []
        """Every envelope sent, newest last (the last 1,000)."""
        self.late_acks: list[str] = []
        """Envelope ids that were acknowledged after the deadline, or twice."""

    def ticket(self) -> str:
        """What apps.connections.open hands out: good for one connection."""
        ticket = secrets.token_urlsafe(16)
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One connection, from hello to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=401, text="unknown or used ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False, max_msg_size=16 * 1024 * 1024)
        await socket.prepare(request)
        connection = Connection(socket, request, asyncio.get_running_loop().time())
        if len(self.connections) >= self._most:
            await connection.send(_disconnect("too_many_websockets"))
            await socket.close()
            return socket
        self.connections.append(connection)
        self.opened += 1
        self._tell()
        pinging = asyncio.get_running_loop().create_task(_ping(connection))
        try:
            await connection.send(self._hello())
            await self._listen(connection)
        finally:
            pinging.cancel()
            if connection in self.connections:
                self.connections.remove(connection)
            self._tell()
        return socket

    async def deliver(
        self, kind: str, payload: Json, deadline_seconds: float, *, attempt: int = 0, reason: str = ""
    ) -> Json:
        """Send one envelope and wait for its acknowledgement.

        Returns:
            The acknowledgement's payload, empty when it carries none.

        Raises:
            ConnectionError: The app has no connection.
            TimeoutError: Nobody acknowledged in time.
        """
        open_ones = [one for one in self.connections if not one.is_leaving] or self.connections
        if not open_ones:
            raise ConnectionError("the app has no Socket Mode connection")
        envelope: Json = {
            "envelope_id": str(uuid.uuid4()),
            "type": kind,
            "payload": payload,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            envelope.update(retry_attempt=attempt, retry_reason=reason)
        waiting: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        self._waiting[envelope["envelope_id"]] = waiting
        self.sent = [*self.sent[-999:], envelope]
        try:
            connection = random.choice(open_ones)  # noqa: S311 - Slack chooses at random, nobody guesses
            await connection.send(envelope)
            if self.repeat_next:
                self.repeat_next -= 1
                await connection.send(envelope)
            return await asyncio.wait_for(waiting, deadline_seconds) or {}
        finally:
            self._waiting.pop(envelope["envelope_id"], None)

    async def repeat(self, envelope: Json, *, attempt: int = 0, reason: str = "") -> None:
        """Send an envelope of `sent` once more, as Slack does when an acknowledgement was lost."""
        again = {**envelope, "retry_attempt": attempt, "retry_reason": reason} if attempt else envelope
        for connection in self.connections[:1]:
            await connection.send(again)

    def drop(self) -> int:
        """Cut every connection without a goodbye; how many there were."""
        dropped = tuple(self.connections)
        for connection in dropped:
            connection.cut()
        return len(dropped)

    async def refresh(self, reason: str = "refresh_requested", grace: float = _REFRESH_GRACE_SECONDS) -> None:
        """Ask every connection to reconnect, and close it a little later, as Slack does every few hours."""
        leaving = tuple(self.connections)
        for connection in leaving:
            connection.is_leaving = True
            await connection.send(_disconnect(reason))
        await asyncio.sleep(grace)
        for connection in leaving:
            await connection.socket.close()

    def zombify(self) -> None:
        """Every connection stays open, and nothing goes through it any more, pongs neither."""
        for connection in self.connections:
            connection.is_zombie = True

    async def close(self) -> None:
        """The workspace goes away."""
        for connection in tuple(self.connections):
            if connection.is_zombie:
                connection.cut()
            else:
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(connection.socket.close(), 1)

    async def _listen(self, connection: Connection) -> None:
        while not connection.socket.closed:
            if connection.is_zombie:
                # A black hole reads nothing, a goodbye neither.
                await asyncio.sleep(0.1)
                if connection.request.transport is None or connection.request.transport.is_closing():
                    return
                continue
            message = await connection.socket.receive()
            if message.type in {WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR}:
                return
            await self._heard(connection, message)

    async def _heard(self, connection: Connection, message: WSMessage) -> None:
        if connection.is_zombie:
            return  # it became one while we listened
        if message.type is WSMsgType.PING:
            await connection.socket.pong(message.data)
        elif message.type is WSMsgType.TEXT:
            self._acknowledged(message.data)

    def _acknowledged(self, text: str) -> None:
        try:
            answer = json.loads(text)
            envelope_id = answer["envelope_id"]
        except (ValueError, KeyError, TypeError):
            return
        waiting = self._waiting.get(envelope_id)
        if waiting is None or waiting.done():
            self.late_acks.append(envelope_id)
        else:
            waiting.set_result(answer.get("payload"))
        self._feed.wake()

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {"host": "runwatch-workspace", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": APP_ID},
        }

    def _tell(self) -> None:
        self._feed.tell("app", connections=len(self.connections))


async def _ping(connection: Connection) -> None:
    while True:
        await asyncio.sleep(_PING_SECONDS)
        if not connection.is_zombie:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await connection.socket.ping(b"Ping from runwatch-workspace")


def _disconnect(reason: str) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "runwatch-workspace"}}
