"""What could not be handled, kept for people who look: each with its reason and its body."""

from typing import Any, Final

from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Command, Door
from registry.keys import StreamId

KEPT_SECONDS: Final = 90 * keys.DAY
MOST_LETTERS: Final = 500


class DeadLetters:
    """The door to dead letters."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock

    async def written(self, stream: StreamId, name: str, why: str, body: bytes = b"") -> list[Command]:
        """Return what writes a letter, for a transaction of its watcher; the index has it already."""
        now = await self._clock.estimate()
        # An entry of the index without letters is skipped; letters without an entry would never be found.
        await self._door.call("ZADD", keys.DEAD, now, stream.watcher)
        letter = {"why": why, "at": now, "body": body.decode("utf-8", "backslashreplace")}
        key = keys.dead(stream.watcher)
        return [("HSET", key, f"{stream.epoch}:{name}", wire.dump(letter)), ("EXPIRE", key, KEPT_SECONDS)]

    async def watchers(self) -> list[str]:
        """Return the watchers that have letters, the newest first."""
        return [name.decode() for name in await self._door.call("ZREVRANGE", keys.DEAD, 0, -1)]

    async def of(self, watcher: str) -> dict[str, dict[str, Any]]:
        """Return the letters of one watcher: `epoch:number` → why, at, body."""
        letters = {}
        for name, data in (await self._door.call("HGETALL", keys.dead(watcher))).items():
            try:
                letters[name.decode()] = dict(wire.load(data))
            except (TypeError, ValueError):
                letters[name.decode()] = {"why": "this letter cannot be read itself", "at": 0.0, "body": ""}
        return letters

    async def tidy(self) -> int:
        """Keep the newest letters of each watcher, and no entry of one that has none; how many went."""
        oldest = await self._clock.estimate() - KEPT_SECONDS
        gone = int(await self._door.call("ZREMRANGEBYSCORE", keys.DEAD, "-inf", oldest))
        watchers = await self.watchers()
        counts = await self._door.many([("HLEN", keys.dead(watcher)) for watcher in watchers])
        for watcher, count in zip(watchers, counts, strict=True):
            if count > MOST_LETTERS:
                letters = await self.of(watcher)
                newest_last = sorted(letters, key=lambda name: wire.number(letters[name].get("at")) or 0.0)
                gone += int(await self._door.call("HDEL", keys.dead(watcher), *newest_last[:-MOST_LETTERS]))
        return gone
