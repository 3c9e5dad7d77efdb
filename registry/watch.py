"""A look at some keys that may end in a write: all of it, and only if nobody changed them meanwhile."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from redis import exceptions as answers

from registry import keys
from registry.naming import BROKEN, name_of, naming
from registry.server import Command, Server, ask, transact

UNWATCH_SECONDS: Final = 1.0


class Watch:
    """An open look at some keys: read, then `commit`."""

    def __init__(self, server: Server, limit: float, *, asking: bool = False) -> None:
        self.server = server
        self.first: list[Any] = []
        """The answers to the commands that came with the look."""
        self._client = server.quick
        self._connection: Any = None
        self._is_watching = False
        self._limit = limit
        self._asking = asking

    async def begin(self, watched: Sequence[str], first: Sequence[Command]) -> None:
        """Send the look and the first reading in one go: each round trip costs, and most need no other."""
        self._connection = await self._client.connection_pool.get_connection()
        try:
            said = await ask(self._client, self._connection, [("WATCH", *watched), *first], asking=self._asking)
            self.first = [spoken(answer) for answer in said][1:]
        except BaseException:
            await self.end(is_sound=False)
            raise
        self._is_watching = True

    async def read(self, *command: str | bytes | float) -> Any:
        """Send one reading command."""
        with naming(self._limit):
            async with asyncio.timeout(self._limit):
                [answer] = await ask(self._client, self._connection, [command], asking=self._asking)
                return spoken(answer)

    async def commit(self, commands: Sequence[Command], *, raising: bool = True) -> list[Any]:
        """Write all of it, or raise `Overtaken` because a watched key changed.

        With `raising` false, a command that the server refused while it ran yields its error (one of ours) there.
        """
        must_share_a_tag(commands)
        with naming(self._limit):
            async with asyncio.timeout(self._limit):
                try:
                    said = await transact(self._client, self._connection, commands, asking=self._asking)
                except answers.WatchError:
                    self._is_watching = False
                    raise
                self._is_watching = False
                if raising:
                    return [spoken(answer) for answer in said]
        return [name_of(one, self._limit) or one if isinstance(one, Exception) else one for one in said]

    async def end(self, *, is_sound: bool) -> None:
        """Give the connection back, watching nothing; one that is not sound is closed first."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if is_sound and self._is_watching:
                is_sound = await self._unwatch(connection)
            if not is_sound:
                await asyncio.shield(connection.disconnect(nowait=True))
        finally:
            await asyncio.shield(self._client.connection_pool.release(connection))

    async def _unwatch(self, connection: Any) -> bool:
        with suppress(TimeoutError, *BROKEN):
            async with asyncio.timeout(UNWATCH_SECONDS):
                [answer] = await ask(self._client, connection, [("UNWATCH",)])
                return not isinstance(answer, Exception)
        return False


def spoken(answer: Any) -> Any:
    """Return an answer, or raise it when it is the server's refusal."""
    if isinstance(answer, Exception):
        raise answer
    return answer


def must_share_a_tag(commands: Sequence[Command]) -> None:
    """Keep every transaction inside one Cluster slot; a slip shows in every test, not first on a Cluster."""
    tags = {keys.tag_of(str(command[1])) or str(command[1]) for command in commands}
    if len(tags) > 1:
        raise ValueError(f"one transaction, several slots: {sorted(tags)}")
