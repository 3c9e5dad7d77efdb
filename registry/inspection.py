"""Looks inside the registry for people: what is there, how large it is, and all of one run as one document.

Nothing here writes, and nothing needs KEYS or SCAN: the indexes name everything there is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from registry import keys, wire
from registry.dead_letters import DeadLetters
from registry.door import Command, Door
from registry.errors import Refused
from registry.heartbeats import Heartbeats
from registry.incidents import Incidents
from registry.keys import StreamId
from registry.ledger import Ledger
from registry.ranks import Ranks
from registry.runs import Runs
from registry.series import SeriesDoor

SCHEMA: Final = 1
SAMPLED_RUNS: Final = 200
"""So many runs are measured, evenly spread; the others are taken to be like them."""


@dataclass(frozen=True, slots=True)
class StreamLook:
    """One stream of findings."""

    stream: StreamId
    registered_at: float
    waiting: int
    """Findings that stand in it and are not settled."""
    settled: int
    last_number: int
    bytes: int | None
    """None: we may not ask."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the registry is."""

    servers: Mapping[str, tuple[int, int]]
    """Server → bytes used, most bytes (0: no limit)."""
    runs: int
    kinds: Mapping[str, tuple[int, int]]
    """Kind of key → how many, about how many bytes."""
    largest: Sequence[tuple[str, int]]
    """The largest runs of those that were measured, with their bytes."""
    is_estimated: bool
    """True: there are more runs than were measured."""


@dataclass(slots=True)
class _Tally:
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    sizes: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, kind: str, size: int | None, weight: float = 1.0) -> None:
        if size:
            self.counts[kind] += 1
            self.sizes[kind] += size * weight


class Inspection:
    """The door for people who look."""

    def __init__(
        self,
        door: Door,
        *,
        runs: Runs,
        series: SeriesDoor,
        ranks: Ranks,
        heartbeats: Heartbeats,
        incidents: Incidents,
        ledger: Ledger,
        dead: DeadLetters,
    ) -> None:
        self._door = door
        self._runs = runs
        self._series = series
        self._ranks = ranks
        self._heartbeats = heartbeats
        self._incidents = incidents
        self._ledger = ledger
        self._dead = dead

    async def streams(self) -> list[StreamLook]:
        """Return every stream that is registered, the one with most waiting first."""
        found = await self._door.call("ZRANGE", keys.STREAMS, 0, -1, "WITHSCORES")
        names, scores = found[::2], found[1::2]
        registered = {StreamId.parse(name.decode()): float(at) for name, at in zip(names, scores, strict=True)}
        settled = await self._ledger.settled_all(list(registered))
        lengths = await self._door.many([("XLEN", keys.events(stream)) for stream in registered], raising=False)
        infos = await self._door.many([("XINFO STREAM", keys.events(stream)) for stream in registered], raising=False)
        sizes = await self._sizes(keys.events(stream) for stream in registered)
        looks = [
            StreamLook(
                stream,
                at,
                length if isinstance(length, int) else 0,
                settled[stream],
                0 if isinstance(info, Exception) else _number(info["last-generated-id"]),
                size,
            )
            for (stream, at), length, info, size in zip(registered.items(), lengths, infos, sizes, strict=True)
        ]
        return sorted(looks, key=lambda look: (-look.waiting, str(look.stream)))

    async def letters(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the dead letters of every watcher that has any."""
        found = {watcher: await self._dead.of(watcher) for watcher in await self._dead.watchers()}
        return {watcher: letters for watcher, letters in found.items() if letters}

    async def size_of(self, run: str) -> int | None:
        """Return about how many bytes a run takes; None: we may not ask."""
        sizes = await self._sizes(await self._keys_of(run))
        return None if None in sizes else sum(size or 0 for size in sizes)

    async def sizes(self) -> Sizes:
        """Return how large the registry is, by kind of key; raises Refused when we may not ask at all."""
        memory = await self._door.everywhere("INFO", "memory")
        names = [name.decode() for name in await self._door.call("ZREVRANGE", keys.RUNS, 0, -1)]
        sampled = names[:: max(1, len(names) // SAMPLED_RUNS)][:SAMPLED_RUNS]
        weight = len(names) / len(sampled) if sampled else 0.0
        tally, largest = _Tally(), list[tuple[str, int]]()
        for run in sampled:
            wanted = await self._keys_of(run)
            sizes = await self._sizes(wanted)
            largest.append((run, sum(size or 0 for size in sizes)))
            for key, size in zip(wanted, sizes, strict=True):
                tally.add(_kind(key), size, weight)
        for key, size in await self._others():
            tally.add(_kind(key), size)
        counts = {kind: round(count * weight) if kind in _OF_RUNS else count for kind, count in tally.counts.items()}
        return Sizes(
            {server: (int(said["used_memory"]), int(said.get("maxmemory", 0))) for server, said in memory.items()},
            len(names),
            {kind: (counts[kind], round(size)) for kind, size in tally.sizes.items()},
            sorted(largest, key=lambda one: -one[1])[:5],
            is_estimated=len(names) > len(sampled),
        )

    async def export(self, run: str) -> dict[str, Any]:
        """Return all that is known of a run, as JSON can hold it; raises UnknownRun."""
        known = await self._runs.find(run)
        series = await self._series.whole(run)
        incidents = await self._incidents.of_run(run, 1000)
        beats = await self._heartbeats.of_run(run)
        document = {
            "schema": SCHEMA,
            "run": asdict(known),
            "attempts": [asdict(span) for span in await self._runs.attempts(run)],
            "environments": await self._runs.environments(run),
            "ranks": [wire.plain(progress) for progress in await self._ranks.all(run)],
            "watchers": [wire.plain(beat.heartbeat) for beat in beats],
            "series": {
                name: {
                    "steps": list(one.steps),
                    "times": list(one.times),
                    "values": list(one.values),
                    **({"lows": list(one.lows), "highs": list(one.highs)} if one.lows else {}),
                }
                for name, one in (("loss", series.loss), ("grad_norm", series.grad_norm), ("lr", series.lr))
            },
            "marks": [wire.plain(mark) for mark in series.marks],
            "incidents": {
                name: {**fields, "timeline": await self._incidents.timeline(name)} for name, fields in incidents.items()
            },
        }
        return wire.jsonable(document)  # type: ignore[no-any-return]

    async def _keys_of(self, run: str) -> list[str]:
        found = await self._door.call("HGETALL", keys.run(run, "series"))
        rolls = [keys.roll(run, int(number)) for number in found if number.isdigit()]
        return [keys.run(run), *(keys.run(run, part) for part in keys.RUN_PARTS), *rolls]

    async def _others(self) -> list[tuple[str, int | None]]:
        """Return the keys that are no run's, with their sizes."""
        watched = (keys.RUNS, keys.WATCHERS, keys.STREAMS, keys.INCIDENTS, keys.OPEN_INCIDENTS, keys.DEAD)
        indexes = (*watched, keys.MUTES, keys.ROUTES, keys.DIGESTS, keys.LANGUAGES, keys.AUDIT)
        streams = [StreamId.parse(name.decode()) for name in await self._door.call("ZRANGE", keys.STREAMS, 0, -1)]
        watchers = [name.decode() for name in await self._door.call("ZRANGE", keys.WATCHERS, 0, -1)]
        incidents = [name.decode() for name in await self._door.call("ZREVRANGE", keys.INCIDENTS, 0, -1)]
        wanted = [
            *indexes,
            *(keys.events(stream) for stream in streams),
            *(keys.ledger(watcher) for watcher in {stream.watcher for stream in streams}),
            *(keys.heartbeat(watcher) for watcher in watchers),
            *(keys.dead(watcher) for watcher in await self._dead.watchers()),
            *(keys.incident(one, part) for one in incidents for part in ("", "timeline")),
        ]
        return list(zip(wanted, await self._sizes(wanted), strict=True))

    async def _sizes(self, wanted: Iterable[str]) -> list[int | None]:
        """Return the size of each key, 0 where there is none; None: we may not ask."""
        commands: list[Command] = [("MEMORY USAGE", key) for key in wanted]
        said = await self._door.many(commands, raising=False)
        for one in said:
            if isinstance(one, Exception) and not isinstance(one, Refused):
                raise one
        return [None if isinstance(one, Exception) else int(one or 0) for one in said]


_OF_RUNS: Final = ("rollups", "newest points", "marks", "facts of runs")


def _kind(key: str) -> str:
    """Return what people call this kind of key."""
    kind = key.split(":")[1]
    if kind == "run":
        part = key.rpartition("}")[2]
        return (
            "rollups"
            if part.startswith(":roll")
            else {":tail": "newest points", ":marks": "marks"}.get(part, _OF_RUNS[3])
        )
    named = {"hb": "heartbeats", "ev": "findings on their way", "led": "ledgers", "dead": "dead letters"}
    return "incidents" if kind == "incident" else named.get(kind, "indexes") if "{" in key else "indexes"


def _number(entry_id: bytes | str) -> int:
    text = entry_id.decode() if isinstance(entry_id, bytes) else entry_id
    return int(text.partition("-")[0])
