"""Brings commands to the server that keeps their key, following it where it moved.

A call is repeated only if its caller says a repeat is harmless, or if the server surely did nothing of it: a
redirect, a replica that takes no writes, a Cluster at odds with itself.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from redis import exceptions as answers

from registry.naming import BROKEN, REDIRECTS, SPOKEN, UNREADY
from registry.server import Command, Server, ask, line
from registry.topology import Topology

TRIES: Final = 3
MOST_HOPS: Final = 8
"""Redirects in a row; a slot that moves takes two."""

T = TypeVar("T")
Send = Callable[[Server, bool], Awaitable[T]]
"""Sends to a server; True: the key is just arriving there, so it must be asked for with ASKING."""


class Sender:
    """Sends through a topology, and tells it what went wrong."""

    def __init__(self, topology: Topology, home: str, keyless: frozenset[str]) -> None:
        self._topology = topology
        self._home = home
        self._keyless = keyless

    def key_of(self, command: Command) -> str:
        """Return the key that decides which server gets a command; commands without one go to the home key's."""
        name = command[0]
        if name == "XREAD":
            return str(command[list(command).index("STREAMS") + 1])
        return self._home if name in self._keyless else str(command[1])

    async def send(self, key: str, send: Send[T], tries: int, limit: asyncio.Timeout) -> T:
        """Send to the server of a key; a broken connection costs a try."""
        unready, sent_on = 0, None
        for _ in range(MOST_HOPS):
            server = sent_on or await self._topology.server_for(key)
            is_asking, sent_on = sent_on is not None, None
            try:
                return await send(server, is_asking)
            except REDIRECTS as answer:
                sent_on = await self._topology.redirected(answer, server)
                continue
            except UNREADY:
                await self._topology.lost(server)
                unready += 1
                if unready == TRIES:
                    raise
            except asyncio.CancelledError:
                await self._note_silence(server, limit)
                raise
            except BROKEN as problem:
                await self._topology.lost(server)
                tries -= 1
                if tries < 1 or isinstance(problem.__cause__, SPOKEN):
                    raise
            await _pause(TRIES - tries + unready)
        raise answers.ClusterDownError("its servers do not agree where the key lives")

    async def send_many(self, commands: Sequence[Command], *, again: bool, limit: asyncio.Timeout) -> list[Any]:
        """Send each command to the server of its key, those of one server in one go; errors are in their places."""
        replies: list[Any] = [None] * len(commands)
        waiting = list(range(len(commands)))
        for round_ in range(TRIES):
            if round_:
                await _pause(round_)
            for part, answer in await self._send_parts(commands, waiting, limit):
                for position, at in enumerate(part):
                    replies[at] = answer[position] if isinstance(answer, list) else answer
            repeatable = (*REDIRECTS, *UNREADY, *BROKEN) if again else (*REDIRECTS, *UNREADY)
            waiting = [at for at in waiting if isinstance(replies[at], repeatable)]
            if not waiting:
                break
            for at in [at for at in waiting if isinstance(replies[at], answers.AskError)]:
                await self._follow(commands[at], replies, at, limit)
        return replies

    async def _follow(self, command: Command, replies: list[Any], at: int, limit: asyncio.Timeout) -> None:
        """A key on its way to another server is met there by a call of its own."""

        async def send(server: Server, is_asking: bool) -> Any:
            async with line(server.quick) as connection:
                [answer] = await ask(server.quick, connection, [command], asking=is_asking)
            if isinstance(answer, (*REDIRECTS, *UNREADY)):
                raise answer
            return answer

        try:
            replies[at] = await self.send(self.key_of(command), send, 1, limit)
        except (*BROKEN, answers.ResponseError) as problem:
            replies[at] = problem

    async def _send_parts(
        self, commands: Sequence[Command], which: Sequence[int], limit: asyncio.Timeout
    ) -> list[tuple[list[int], Any]]:
        servers: dict[str, Server] = {}
        parts: dict[str, list[int]] = defaultdict(list)
        nowhere: list[tuple[list[int], Any]] = []
        for at in which:
            try:
                server = await self._topology.server_for(self.key_of(commands[at]))
            except (*BROKEN, answers.ResponseError) as problem:
                nowhere.append(([at], problem))
                continue
            servers[str(server)] = server
            parts[str(server)].append(at)
        got = await asyncio.gather(
            *(self._send_part(servers[name], [commands[at] for at in part], limit) for name, part in parts.items())
        )
        return [*zip(parts.values(), got, strict=True), *nowhere]

    async def _send_part(self, server: Server, commands: Sequence[Command], limit: asyncio.Timeout) -> Any:
        try:
            async with line(server.quick) as connection:
                said = await ask(server.quick, connection, commands)
        except asyncio.CancelledError:
            await self._note_silence(server, limit)
            raise
        except BROKEN as problem:
            await self._topology.lost(server)
            return problem
        for answer in said:
            if isinstance(answer, answers.MovedError):
                await self._topology.redirected(answer, server)
        if any(isinstance(answer, UNREADY) for answer in said):
            await self._topology.lost(server)
        return said

    async def _note_silence(self, server: Server, limit: asyncio.Timeout) -> None:
        """Our own limit cancels us: this server did not answer in all that time."""
        if limit.expired():
            await asyncio.shield(self._topology.lost(server))


async def _pause(times: int) -> None:
    # The first failure is usually an idle connection to a server that was restarted.
    await asyncio.sleep(random.uniform(0.01, 0.1) * times)  # noqa: S311
