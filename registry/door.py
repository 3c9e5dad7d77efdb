"""The one connection to Redis: limits on every call, our own retries, errors by name.

The client library's own retries are off: an append that was done but not answered would be done twice.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from registry import keys
from registry.address import parse
from registry.errors import Overtaken, RegistryError
from registry.naming import BROKEN, REDIRECTS, SPOKEN, UNREADY, name_of, naming
from registry.sending import TRIES, Sender
from registry.server import Command, Server, ask, line, transact
from registry.topology import topology_of
from registry.watch import Watch, must_share_a_tag, spoken

__all__ = ["AT_ONCE", "CALL_SECONDS", "Command", "Door", "Watch"]

CALL_SECONDS: Final = 5.0
BLOCK_MARGIN_SECONDS = 5.0
"""A blocking read is given its block time and this much more; the two can never disagree."""
AT_ONCE: Final = 64
"""Calls in flight from one process; more wait, inside their own limit."""
KEYLESS: Final = frozenset({"TIME", "INFO", "PING"})

T = TypeVar("T")


class Door:
    """Sends commands to Redis (or Valkey), wherever the key lives, and says by name what went wrong."""

    def __init__(self, url: str, name: str, *, call_seconds: float = CALL_SECONDS) -> None:
        self.call_seconds = call_seconds
        self.address = parse(url)
        self.address.check_files()
        self._topology = topology_of(self.address, name, call_seconds)
        self._sender = Sender(self._topology, keys.RUNS, KEYLESS)
        self._slots = asyncio.Semaphore(AT_ONCE)

    @property
    def changes(self) -> int:
        """Counts up whenever a server was lost or replaced: what was asked before may not hold any more."""
        return self._topology.changes

    async def call(self, *command: str | bytes | float, again: bool = True, beside: str | None = None) -> Any:
        """Send one command. `again`: a repeat is harmless, so it may be sent once more after a broken connection.

        `beside`: a key whose server is meant, for commands without one of their own.
        """
        key, tries = beside or self._sender.key_of(command), TRIES if again else 1
        return await self._limited(lambda limit: self._sender.send(key, _one(command), tries, limit))

    async def many(
        self, commands: Sequence[Command], *, again: bool = True, raising: bool = True, chunk: int = 500
    ) -> list[Any]:
        """Send many independent commands in one go; the first error is raised after all were answered.

        With `raising` false, an error stands in the place of its answer, as one of ours.
        """
        collected: list[Any] = []
        for start in range(0, len(commands), chunk):
            part = commands[start : start + chunk]
            said = await self._limited(
                lambda limit, part=part: self._sender.send_many(part, again=again, limit=limit)  # type: ignore[misc]
            )
            collected += self._named(said, raising=raising)
        return collected

    async def together(self, commands: Sequence[Command], *, again: bool = True, raising: bool = True) -> list[Any]:
        """Run commands of one hash tag in one transaction: all or nothing.

        With `raising` false, a command that the server refused while it ran yields its error in its place.
        """
        must_share_a_tag(commands)

        async def send(server: Server, is_asking: bool) -> list[Any]:
            async with line(server.quick) as connection:
                return await transact(server.quick, connection, commands, asking=is_asking)

        key, tries = self._sender.key_of(commands[0]), TRIES if again else 1
        said = await self._limited(lambda limit: self._sender.send(key, send, tries, limit))
        return self._named(said, raising=raising)

    @asynccontextmanager
    async def watching(self, *watched: str, first: Sequence[Command] = ()) -> AsyncIterator[Watch]:
        """Look at keys and then write only if nobody changed them meanwhile (`Overtaken` says that somebody did).

        `first` are the reading commands known beforehand; they travel with the look, and `first` of the look answers.
        """

        async def begin(server: Server, is_asking: bool) -> Watch:
            look = Watch(server, self.call_seconds, asking=is_asking)
            await look.begin(watched, first)
            return look

        with naming(self.call_seconds):
            async with self._slots:
                async with asyncio.timeout(self.call_seconds) as limit:
                    look = await self._sender.send(watched[0], begin, TRIES, limit)
                is_sound = False
                try:
                    yield look
                    is_sound = True
                except (Overtaken, ValueError):
                    is_sound = True
                    raise
                except BaseException as failed:
                    if isinstance(failed.__cause__, (*UNREADY, *REDIRECTS, *BROKEN)):
                        await self._topology.lost(look.server)
                    raise
                finally:
                    await look.end(is_sound=is_sound)

    async def blocking(self, *command: str | bytes | float, block_seconds: float) -> Any:
        """Send a command that waits at the server; it gets its block time and a margin."""
        seconds = block_seconds + BLOCK_MARGIN_SECONDS
        with naming(seconds):
            async with asyncio.timeout(seconds) as limit:
                return await self._sender.send(self._sender.key_of(command), _one(command, waits=True), 1, limit)

    async def everywhere(self, *command: str | bytes | float) -> dict[str, Any]:
        """Send one command to every server, replicas too: server → answer. One that does not answer is left out."""
        home = await self._server_of(keys.RUNS)
        servers = await self._limited(lambda _limit: self._topology.everyone())

        async def send(server: Server) -> Any:
            async with asyncio.timeout(self.call_seconds / 2):
                return await _one(command)(server, False)

        got = await asyncio.gather(*(send(server) for server in servers), return_exceptions=True)
        said = {}
        for server, answer in zip(servers, got, strict=True):
            if server.place != home.place:
                # Asked once an hour or so; nobody keeps a connection for that.
                await server.renew()
            if not isinstance(answer, BaseException):
                said[str(server)] = answer
            elif server.place == home.place or isinstance(answer, SPOKEN):
                # The one we work with must answer; from another, silence tells nothing.
                raise name_of(answer, self.call_seconds) or answer
        return said

    async def where(self, key: str) -> str:
        """Return the name of the server that keeps this key now."""
        return str(await self._server_of(key))

    async def subscription(self) -> Any:
        """Return a fresh pub/sub connection; whoever asks closes it. Each server of a Cluster hears all."""
        return (await self._server_of(keys.RUNS)).slow.pubsub(ignore_subscribe_messages=True)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._topology.aclose()

    async def _server_of(self, key: str) -> Server:
        return await self._limited(lambda _limit: self._topology.server_for(key))

    async def _limited(self, act: Callable[[asyncio.Timeout], Awaitable[T]]) -> T:
        with naming(self.call_seconds, is_tls=self.address.is_tls):
            async with asyncio.timeout(self.call_seconds) as limit, self._slots:
                return await act(limit)
        raise AssertionError("unreachable")

    def _named(self, said: Sequence[Any], *, raising: bool) -> list[Any]:
        named = [name_of(one, self.call_seconds) or one if isinstance(one, Exception) else one for one in said]
        if raising:
            for one, original in zip(named, said, strict=True):
                if isinstance(one, RegistryError):
                    raise one from original
                spoken(one)
        return named


def _one(command: Command, *, waits: bool = False) -> Callable[[Server, bool], Awaitable[Any]]:
    async def send(server: Server, is_asking: bool) -> Any:
        client = server.slow if waits else server.quick
        async with line(client) as connection:
            [answer] = await ask(client, connection, [command], asking=is_asking)
        return spoken(answer)

    return send
