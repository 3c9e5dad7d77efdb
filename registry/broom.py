"""What nobody needs any more goes, so that Redis stays as large as the runs people care for, however long it serves.

One bot sweeps once an hour. Whatever writes again later begins anew, so nothing here needs to be exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from registry import keys
from registry.clock import RegistryClock
from registry.dead_letters import DeadLetters
from registry.door import Command, Door
from registry.heartbeats import Heartbeats
from registry.incidents import KEPT_DAYS
from registry.keys import StreamId
from registry.ledger import Ledger
from registry.mutes import Mutes
from registry.runs import Runs

STREAM_IDLE_SECONDS: Final = keys.DAY
"""A living watcher registers its stream every few seconds; one that comes back later begins again from its spool."""
MOST_MARKS: Final = 8192
MOST_ATTEMPTS: Final = 500


@dataclass(frozen=True, slots=True)
class Retention:
    """How long runs are kept, and how many."""

    runs_seconds: float = 180.0 * keys.DAY
    """A run nobody heard of for so long is forgotten, with its numbers and incidents; 0: never."""
    most_runs: int = 10_000
    """Beyond so many, the runs that were idle longest are forgotten, none of the last day; 0: no limit."""
    rollups_per_run: int = 64
    """So many newest attempts keep their numbers; older ones of a run that restarts all the time keep a line."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep took away."""

    runs: tuple[str, ...] = ()
    streams: tuple[StreamId, ...] = ()
    attempts: int = 0
    """Rollups of old attempts."""
    small_things: int = 0
    """Marks, old lines of attempts, dead letters, ended mutes, silent watchers, entries of indexes."""

    def __bool__(self) -> bool:
        """Whether anything went."""
        return bool(self.runs or self.streams or self.attempts or self.small_things)


class Broom:
    """Sweeps the registry."""

    def __init__(
        self, door: Door, clock: RegistryClock, *, runs: Runs, ledger: Ledger, heartbeats: Heartbeats, mutes: Mutes
    ) -> None:
        self._door = door
        self._clock = clock
        self._runs = runs
        self._ledger = ledger
        self._heartbeats = heartbeats
        self._mutes = mutes
        self._dead = DeadLetters(door, clock)

    async def sweep(self, retention: Retention = Retention()) -> Swept:
        """Take away what is over."""
        now = await self._clock.now()
        small = await self._heartbeats.tidy() + await self._mutes.tidy(now) + await self._dead.tidy()
        runs = await self._old_runs(retention, now)
        for run in runs:
            await self._runs.forget(run)
        streams = await self._idle_streams(now)
        attempts, more = await self._trim_runs(retention, now)
        return Swept(tuple(runs), tuple(streams), attempts, small + more)

    async def _old_runs(self, retention: Retention, now: float) -> list[str]:
        old: list[str] = []
        if retention.runs_seconds:
            old = await self._idle_since(now - retention.runs_seconds)
        left = int(await self._door.call("ZCARD", keys.RUNS)) - len(old)
        if retention.most_runs and left > retention.most_runs:
            idle = [run for run in await self._idle_since(now - keys.DAY) if run not in set(old)]
            old += idle[: left - retention.most_runs]
        return old

    async def _idle_since(self, since: float) -> list[str]:
        found = await self._door.call("ZRANGEBYSCORE", keys.RUNS, "-inf", f"({since}")
        return [name.decode() for name in found]

    async def _idle_streams(self, now: float) -> list[StreamId]:
        found = await self._door.call("ZRANGEBYSCORE", keys.STREAMS, "-inf", f"({now - STREAM_IDLE_SECONDS}")
        streams = [StreamId.parse(name.decode()) for name in found]
        return [stream for stream in streams if await self._ledger.forget(stream)]

    async def _trim_runs(self, retention: Retention, now: float) -> tuple[int, int]:
        """Trim runs that restarted very often or were marked very often, and the indexes of their incidents."""
        runs = [name.decode() for name in await self._door.call("ZRANGE", keys.RUNS, 0, -1)]
        attempts = small = 0
        for start in range(0, len(runs), 500):
            part = runs[start : start + 500]
            commands: list[Command] = []
            for run in part:
                commands += [("HLEN", keys.run(run, what)) for what in ("series", "marks", "attempts")]
                commands.append(
                    ("ZREMRANGEBYSCORE", keys.run(run, "incidents"), "-inf", f"({now - 2 * KEPT_DAYS * keys.DAY}")
                )
            said = await self._door.many(commands)
            for run, series, marks, lines, gone in zip(
                part, said[::4], said[1::4], said[2::4], said[3::4], strict=True
            ):
                small += gone
                if series > retention.rollups_per_run + 1:
                    attempts += await self._drop_rollups(run, retention.rollups_per_run)
                if marks > MOST_MARKS:
                    small += await self._drop_oldest(keys.run(run, "marks"), marks - MOST_MARKS)
                if lines > MOST_ATTEMPTS:
                    small += await self._drop_oldest(keys.run(run, "attempts"), lines - MOST_ATTEMPTS)
        return attempts, small

    async def _drop_rollups(self, run: str, kept: int) -> int:
        found = await self._door.call("HKEYS", keys.run(run, "series"))
        numbers = sorted(int(name) for name in found if name.isdigit())[:-kept]
        if numbers:
            rolls = [keys.roll(run, number) for number in numbers]
            await self._door.together([("HDEL", keys.run(run, "series"), *numbers), ("DEL", *rolls)])
        return len(numbers)

    async def _drop_oldest(self, key: str, count: int) -> int:
        """Drop fields of the lowest attempts; those without an attempt in their name are the newest."""
        fields: Sequence[bytes] = await self._door.call("HKEYS", key)
        return int(await self._door.call("HDEL", key, *sorted(fields, key=_attempt_of)[:count]))


def _attempt_of(field: bytes) -> tuple[bool, int]:
    number = field.partition(b":")[0]
    return (not number.isdigit(), int(number) if number.isdigit() else 0)
