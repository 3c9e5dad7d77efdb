"""The numbers of a run: newest points exact, the whole of it as a rollup, marks for what must never blur.

One watcher writes a series at a time: a lease in Redis says who, and each write checks it in its transaction.
A write is all or nothing and carries the position of its points, so after an unclear answer the writer looks
how far Redis is and goes on from there; a Redis that lost data is refilled from the writer's memory.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from diagnosis.formats.stretch import Point
from diagnosis.observations import StepSample
from diagnosis.series import Mark, RunSeries
from registry import keys, wire
from registry.door import Command, Door
from registry.errors import Overtaken, RegistryAway
from registry.points import PER_BLOB, pack, unpack
from registry.rollup import MOST_BUCKETS
from registry.series_reader import newest_points, whole_series
from registry.series_writer import AttemptWriter, mark_field

TAIL_POINTS = 4096
WRITER_SECONDS = 30
MOST_MARKS = 4096
_TAIL_BLOBS = -(-TAIL_POINTS // PER_BLOB)
_MOST_ATTEMPTS = 64
_ROUNDS = 4


class SeriesDoor:
    """The door to the numbers of runs."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._owners: dict[str, str] = {}
        self._writers: dict[tuple[str, int], AttemptWriter] = {}

    async def claim_writer(self, run: str, watcher: str) -> bool:
        """Become the one who writes this run's series, or stay it; False: another watcher is.

        Each `append` renews the claim, so a run that prints now and then needs this again before it writes.
        """
        key = keys.run(run, "writer")
        is_mine = bool(await self._door.call("SET", key, watcher, "NX", "EX", WRITER_SECONDS))
        if not is_mine and await self._door.call("GET", key) == watcher.encode():
            is_mine = bool(await self._door.call("EXPIRE", key, WRITER_SECONDS))
        if is_mine:
            self._owners[run] = watcher
        else:
            self._forget(run)
        return is_mine

    async def append(self, run: str, attempt: int, samples: Sequence[StepSample | Point]) -> bool:
        """Add step lines of one attempt; False: another watcher writes this series and nothing was added.

        When Redis is away the samples are kept and go with the next append. Lines that several ranks print
        alike, and lines that were stored before a restart, count once.
        """
        watcher = self._owners.get(run)
        if watcher is None:
            return False
        if self._writers.get((run, attempt)) is None:
            loaded = await self._load(run, attempt)
            self._writers[run, attempt] = loaded
        writer = self._writers[run, attempt]
        writer.add(samples)
        for _ in range(_ROUNDS):
            try:
                return await self._write(run, watcher, writer)
            except Overtaken:
                continue
        raise RegistryAway(f"the series of {run} keeps changing under us")

    async def mark(self, run: str, marks: Sequence[Mark]) -> None:
        """Add what must stay visible at any zoom; the same mark again changes nothing."""
        if not marks:
            return
        key = keys.run(run, "marks")
        pairs: list[str | bytes] = []
        for mark in marks:
            pairs += [mark_field(mark), wire.encode(mark)]
        if int(await self._door.call("HLEN", key)) < MOST_MARKS:
            await self._door.call("HSET", key, *pairs)

    async def stored(self, run: str) -> dict[int, tuple[int, int | None]]:
        """Return how much Redis holds: attempt → count of points and the last step, to refill it from the log."""
        found = await self._door.call("HGETALL", keys.run(run, "series"))
        return {number: (meta["n"], (meta.get("last") or [None])[0]) for number, meta in sorted(_metas(found).items())}

    async def whole(self, run: str) -> RunSeries:
        """Return the whole run: every attempt, thinned where it is long, with its marks; two round trips."""
        series, marks, attempts, tail = await self._door.many(
            [
                ("HGETALL", keys.run(run, "series")),
                ("HGETALL", keys.run(run, "marks")),
                ("HGETALL", keys.run(run, "attempts")),
                ("LRANGE", keys.run(run, "tail"), 0, -1),
            ]
        )
        metas = dict(sorted(_metas(series).items())[-_MOST_ATTEMPTS:])
        rolls = await self._door.many([("GET", keys.roll(run, number)) for number in metas])
        return whole_series(
            run,
            {number: (meta, roll or b"") for (number, meta), roll in zip(metas.items(), rolls, strict=True)},
            unpack(tail),
            marks,
            attempts,
        )

    async def newest(self, run: str, points: int) -> RunSeries:
        """Return the newest points of a run, exact, with the marks among them; one round trip."""
        blobs = -(-points // PER_BLOB) + 1
        series, marks, attempts, tail = await self._door.many(
            [
                ("HGETALL", keys.run(run, "series")),
                ("HGETALL", keys.run(run, "marks")),
                ("HGETALL", keys.run(run, "attempts")),
                ("LRANGE", keys.run(run, "tail"), -min(blobs, _TAIL_BLOBS), -1),
            ]
        )
        return newest_points(run, points, metas=_metas(series), tail=unpack(tail), marks=marks, spans=attempts)

    def _forget(self, run: str) -> None:
        self._owners.pop(run, None)
        for key in [key for key in self._writers if key[0] == run]:
            del self._writers[key]

    async def _load(self, run: str, attempt: int) -> AttemptWriter:
        """Take up a rollup where a former writer left it."""
        meta, roll, tail = await self._door.many(
            [
                ("HGET", keys.run(run, "series"), str(attempt)),
                ("GET", keys.roll(run, attempt)),
                ("LRANGE", keys.run(run, "tail"), -2, -1),
            ]
        )
        return AttemptWriter.resumed(attempt, _meta(meta), roll or b"", unpack(tail))

    async def _write(self, run: str, watcher: str, writer: AttemptWriter) -> bool:
        owner_key, series, tail = keys.run(run, "writer"), keys.run(run, "series"), keys.run(run, "tail")
        reading = [("GET", owner_key), ("HMGET", series, str(writer.attempt), "tail"), ("EXISTS", tail)]
        async with self._door.watching(owner_key, series, first=reading) as look:
            owner, (meta, end_of_tail), has_tail = look.first
            if owner is not None and owner != watcher.encode():
                self._forget(run)
                return False
            stored = 0 if writer.starts_anew else _meta(meta).get("n", 0)
            if stored > writer.count:
                # Another life of this watcher wrote meanwhile: what we hold is the older picture.
                del self._writers[run, writer.attempt]
                raise RegistryAway(f"the series of {run} was written by another process")
            commands = [
                ("SET", owner_key, watcher, "EX", WRITER_SECONDS),
                *_roll_commands(run, writer, stored),
                *_tail_commands(run, writer, stored, end_of_tail if has_tail else None),
                *_mark_commands(run, writer),
                ("HSET", series, str(writer.attempt), wire.dump(writer.meta()), "tail", writer.end_of_tail()),
            ]
            await look.commit(commands)
        writer.is_written()
        return True


def _roll_commands(run: str, writer: AttemptWriter, stored: int) -> list[Command]:
    key = keys.roll(run, writer.attempt)
    change = writer.rollup.changes()
    if stored < writer.stored or writer.starts_anew:
        # Redis went back in time or was emptied; we still have all of it.
        return [("SET", key, writer.rollup.whole())]
    if change is None:
        return []
    offset, data = change
    return [("SETRANGE", key, offset, data)] if offset or writer.rollup.width == 1 else [("SET", key, data)]


def _tail_commands(run: str, writer: AttemptWriter, stored: int, end_of_tail: bytes | None) -> list[Command]:
    key = keys.run(run, "tail")
    first, points = writer.recent_from(stored)
    if not points:
        return []
    before = writer.recent_between(first - first % PER_BLOB, first)
    fills_up = first % PER_BLOB != 0 and end_of_tail == writer.end_of_tail_at(first).encode() and before is not None
    commands: list[Command] = []
    if fills_up:
        # The last blob is not full: replace it by itself and more.
        blobs = pack(writer.attempt, first - first % PER_BLOB, [*(before or ()), *points])
        commands.append(("LSET", key, -1, blobs[0]))
        blobs = blobs[1:]
    else:
        blobs = pack(writer.attempt, first, points)
    if blobs:
        commands.append(("RPUSH", key, *blobs))
    return [*commands, ("LTRIM", key, -_TAIL_BLOBS, -1), ("EXPIRE", key, keys.WEEK)]


def _mark_commands(run: str, writer: AttemptWriter) -> list[Command]:
    pairs: list[str | bytes] = []
    for name, mark in writer.fresh_marks.items():
        pairs += [name, wire.encode(mark)]
    return [("HSET", keys.run(run, "marks"), *pairs)] if pairs else []


def _metas(found: Mapping[bytes, bytes]) -> dict[int, dict[str, Any]]:
    return {int(name): _meta(data) for name, data in found.items() if name.lstrip(b"-").isdigit() and _meta(data)}


def _meta(data: bytes | None) -> dict[str, Any]:
    try:
        meta = wire.load(data) if data else {}
    except wire.Unreadable:
        return {}
    if not isinstance(meta, dict):
        return {}
    count, width = meta.get("n"), meta.get("w")
    is_sane = isinstance(count, int) and isinstance(width, int) and 0 <= count <= width * MOST_BUCKETS
    return meta if is_sane else {}
