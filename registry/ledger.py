"""What became of each finding: begun, intended, delivered; and how far everything is settled.

Fields of `rw:led:{W}`: `EPOCH:w` the watermark (every finding up to it is settled), `EPOCH:c` how far old fields
were cleared, and per number N `EPOCH:N:t` tries, `EPOCH:N:f` failures, `EPOCH:N:i` intent, `EPOCH:N:d` delivered.

The mark and the watermark are written in one transaction, and the stream is trimmed there too, below the
watermark and nowhere else. What this process settled it also remembers itself, until it begins anew: a Redis that was
emptied or went back in time cannot make it announce the same finding again, as long as it knows the incident too.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from registry import keys, wire
from registry.clock import RegistryClock
from registry.dead_letters import DeadLetters
from registry.door import Command, Door, Watch
from registry.errors import Overtaken, RegistryAway
from registry.events import Event, events_from
from registry.keys import StreamId

MOST_FAILURES = 5
"""After so many failed handlings a finding goes to the dead letters, is told as such, and the rest flows."""
KEPT_FIELDS = 64
"""So many settled findings keep their ledger fields, for people who look."""
_CLEARED_AT_ONCE = 500
_PAGES = (16, 64, 256)
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding was told. Without channel: it was settled without words, `incident` may still hold it."""

    channel: str | None = None
    ts: str | None = None
    incident: str | None = None
    note: str = ""
    """Why nothing was said (`muted`, `inhibited by …`, `same as …`), or `possible repeat`."""


@dataclass(frozen=True, slots=True)
class Intent:
    """Somebody was about to tell it."""

    channel: str
    by: str
    at: float
    """Unix seconds on the registry's clock."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger knows of one finding."""

    tries: int = 0
    """Handlings begun that did not even come to an intent."""
    failures: int = 0
    intent: Intent | None = None
    place: Place | None = None
    is_settled: bool = False


@dataclass(slots=True)
class _Memory:
    """What this process itself settled in one stream."""

    watermark: int = 0
    above: set[int] = field(default_factory=set)

    def has(self, number: int) -> bool:
        return number <= self.watermark or number in self.above

    def raise_to(self, watermark: int) -> None:
        if watermark > self.watermark:
            self.watermark = watermark
            self.above = {number for number in self.above if number > watermark}


class Ledger:
    """The door to the ledger."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock
        self._dead = DeadLetters(door, clock)
        self._memories: dict[StreamId, _Memory] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def begin(self, event: Event) -> Entry:
        """Say that a handling begins, and return what is known; a finding that keeps killing us is counted here."""
        key = keys.ledger(event.stream.watcher)
        commands: list[Command] = [("HINCRBY", key, _field(event, "t"), 1), ("HMGET", key, *_fields(event))]
        async with self._turn(key):
            answers = await self._door.together(commands)
        return self._entry(event, answers[1])

    async def survived(self, event: Event) -> None:
        """Say that a handling that had begun did not end us: what then waits long for its turn is no poison."""
        key = keys.ledger(event.stream.watcher)
        async with self._turn(key):
            await self._door.call("HDEL", key, _field(event, "t"))

    async def state(self, event: Event) -> Entry:
        """Return what is known of a finding."""
        found = await self._door.call("HMGET", keys.ledger(event.stream.watcher), *_fields(event))
        return self._entry(event, found)

    async def states(self, events: Sequence[Event]) -> list[Entry]:
        """Return what is known of many findings, asked for at once: whoever takes over has all of a backlog to ask."""
        asked: list[Command] = [("HMGET", keys.ledger(event.stream.watcher), *_fields(event)) for event in events]
        found = await self._door.many(asked)
        return [self._entry(event, fields) for event, fields in zip(events, found, strict=True)]

    async def intent(self, event: Event, channel: str, by: str = "") -> Intent:
        """Write down, before it is done, that a finding is about to be told."""
        intent = Intent(channel, by, await self._clock.estimate())
        key = keys.ledger(event.stream.watcher)
        commands: list[Command] = [
            ("HSET", key, _field(event, "i"), wire.dump(wire.plain(intent))),
            ("HDEL", key, _field(event, "t")),
        ]
        async with self._turn(key):
            await self._door.together(commands)
        return intent

    async def delivered(self, event: Event, place: Place) -> int:
        """Write where a finding was told, move the watermark, trim below it; return the watermark."""
        self._memory(event.stream).above.add(event.number)
        return await self._settle(event, [("HSET", _field(event, "d"), wire.dump(wire.plain(place)))])

    async def settle(self, event: Event, note: str, incident: str | None = None) -> int:
        """Settle a finding without a message of its own: muted, inhibited, or part of one already told."""
        return await self.delivered(event, Place(incident=incident, note=note))

    async def failed(self, event: Event, why: str) -> bool:
        """Count a failed handling; True: that was one too many, the finding is in the dead letters and settled."""
        key = keys.ledger(event.stream.watcher)
        async with self._turn(key):
            failures = int(await self._door.call("HINCRBY", key, _field(event, "f"), 1, again=False))
        if failures < MOST_FAILURES:
            return False
        await self.bury(event, why)
        return True

    async def bury(self, event: Event, why: str) -> None:
        """Put a finding into the dead letters and settle it, in one transaction."""
        letter = await self._dead.written(event.stream, str(event.number), why, event.body)
        self._memory(event.stream).above.add(event.number)
        place = wire.dump(wire.plain(Place(note=f"dead letter: {why}")))
        await self._settle(event, [("HSET", _field(event, "d"), place)], letter)

    async def discard(self, stream: StreamId, why: str) -> None:
        """Throw away, unread, what stands in a stream that cannot be read; its watcher sends its own findings again."""
        letter = await self._dead.written(stream, "thrown away", why)
        await self._door.together([*letter, ("XTRIM", keys.events(stream), "MAXLEN", 0)])

    async def dead_letters(self, watcher: str) -> dict[str, dict[str, Any]]:
        """Return what could not be handled of one watcher: `epoch:number` → why, at, body."""
        return await self._dead.of(watcher)

    async def settled(self, stream: StreamId) -> int:
        """Return the number up to which every finding of a stream is settled."""
        return (await self.settled_all([stream]))[stream]

    async def settled_all(self, streams: Sequence[StreamId], *, raising: bool = True) -> dict[StreamId, int]:
        """Return the watermark of each of these streams, by ledger, spool and our own memory.

        With `raising` false, those whose server is away are left out.
        """
        commands: list[Command] = []
        for stream in streams:
            commands += _watermarks(stream)
        found = await self._door.many(commands, raising=raising)
        marks: dict[StreamId, int] = {}
        for stream, *said in zip(streams, found[::2], found[1::2], strict=True):
            failed = next((one for one in said if isinstance(one, Exception)), None)
            if failed is None:
                marks[stream] = max(*map(_whole, said), self._memory(stream).watermark)
            elif not isinstance(failed, RegistryAway):
                raise failed
        return marks

    async def raise_floor(self, stream: StreamId, number: int) -> None:
        """Say, as the watcher, up to where its spool knows everything to be settled: for a ledger that was lost."""
        key = keys.floor(stream.watcher)
        for _ in range(_ROUNDS):
            try:
                async with self._door.watching(key) as look:
                    if _whole(await look.read("HGET", key, stream.epoch)) >= number:
                        return
                    await look.commit([("HSET", key, stream.epoch, number)])
                    return
            except Overtaken:
                continue
        raise RegistryAway(f"the floor of {stream} keeps changing under us")

    async def forget(self, stream: StreamId) -> bool:
        """Forget a stream nobody fills any more; False: something in it is not settled yet."""
        watermark = await self.advance(stream)
        if await self._door.call(*_page(stream, watermark, 1)):
            return False
        key = keys.ledger(stream.watcher)
        found = [name for name in await self._door.call("HKEYS", key) if name.startswith(f"{stream.epoch}:".encode())]
        commands: list[Command] = [
            ("DEL", keys.events(stream)),
            ("HDEL", keys.floor(stream.watcher), stream.epoch),
            *([("HDEL", key, *found)] if found else []),
        ]
        await self._door.together(commands)
        await self._door.call("ZREM", keys.STREAMS, str(stream))
        self._memories.pop(stream, None)
        return True

    async def advance(self, stream: StreamId) -> int:
        """Move the watermark over all that is settled, trim below it, and return it."""
        return await self._settle(Event(stream, 0, b""), [])

    def begin_anew(self) -> None:
        """Believe Redis again: whoever reads its incidents anew must be given the findings it does not know settled."""
        self._memories.clear()

    def remembers(self, event: Event) -> bool:
        """True when this very process settled that finding, whatever Redis says now."""
        return self._memory(event.stream).has(event.number)

    async def _settle(self, event: Event, own: Sequence[tuple[Any, ...]], more: Sequence[Command] = ()) -> int:
        stream, key = event.stream, keys.ledger(event.stream.watcher)
        for _ in range(_ROUNDS):
            # Each write of ours would undo every look of ours that is open: in this process they take turns.
            async with self._turn(key):
                with contextlib.suppress(Overtaken):
                    return await self._settle_now(stream, key, own, more)
        raise RegistryAway(f"the ledger of {stream} keeps changing under us")

    async def _settle_now(
        self, stream: StreamId, key: str, own: Sequence[tuple[Any, ...]], more: Sequence[Command]
    ) -> int:
        start = self._memory(stream).watermark
        reading = [
            ("HMGET", key, f"{stream.epoch}:w", f"{stream.epoch}:c"),
            ("HGET", keys.floor(stream.watcher), stream.epoch),
            _page(stream, start, _PAGES[0]),
        ]
        async with self._door.watching(key, first=reading) as look:
            (mark, cleared), floor, entries = look.first
            known = max(_whole(mark), _whole(floor))
            # The page was asked for before we knew the watermark; usually both are the same.
            page = entries if known <= start else None
            watermark = await self._watermark(look, stream, max(known, start), page)
            commands: list[Command] = [(verb, key, *rest) for verb, *rest in own]
            commands += more
            commands += _moves(stream, known, watermark, _whole(cleared))
            if commands:
                await look.commit(commands)
            self._memory(stream).raise_to(watermark)
            return watermark

    async def _watermark(self, look: Watch, stream: StreamId, watermark: int, entries: Any) -> int:
        """Return how far everything is settled, reading on from a watermark.

        What stands in the stream counts, not the count itself: a number that is missing there was lost in the
        spool and can never come, since a stream only grows upwards.
        """
        memory = self._memory(stream)
        for page in _PAGES:
            if entries is None:
                entries = await look.read(*_page(stream, watermark, page))
            events, entries = events_from(stream, entries), None
            if not events:
                return watermark
            marks = await look.read("HMGET", keys.ledger(stream.watcher), *(_field(event, "d") for event in events))
            for event, mark in zip(events, marks, strict=True):
                if mark is None and not memory.has(event.number):
                    return watermark
                watermark = event.number
        return watermark

    def _entry(self, event: Event, found: Sequence[bytes | None]) -> Entry:
        tries, failures, intent, place, watermark = found
        told = _built(Place, place)
        return Entry(
            _whole(tries),
            _whole(failures),
            _built(Intent, intent),
            told,
            is_settled=told is not None or event.number <= _whole(watermark) or self.remembers(event),
        )

    def _memory(self, stream: StreamId) -> _Memory:
        return self._memories.setdefault(stream, _Memory())

    def _turn(self, key: str) -> asyncio.Lock:
        return self._turns.setdefault(key, asyncio.Lock())


def _field(event: Event, part: str) -> str:
    return f"{event.stream.epoch}:{event.number}:{part}"


def _fields(event: Event) -> tuple[str, ...]:
    return (*(_field(event, part) for part in "tfid"), f"{event.stream.epoch}:w")


def _watermarks(stream: StreamId) -> tuple[Command, Command]:
    return (
        ("HGET", keys.ledger(stream.watcher), f"{stream.epoch}:w"),
        ("HGET", keys.floor(stream.watcher), stream.epoch),
    )


def _page(stream: StreamId, after: int, count: int) -> Command:
    return ("XRANGE", keys.events(stream), f"({after}-0", "+", "COUNT", count)


def _moves(stream: StreamId, known: int, watermark: int, cleared: int) -> list[Command]:
    """Return what moves the watermark: the mark itself, the trim below it, and old fields cleared."""
    if watermark <= known:
        return []
    key = keys.ledger(stream.watcher)
    commands: list[Command] = [
        ("HSET", key, f"{stream.epoch}:w", watermark),
        ("XTRIM", keys.events(stream), "MINID", f"{watermark}-1"),
    ]
    cleared = max(cleared, watermark - KEPT_FIELDS - 4 * _CLEARED_AT_ONCE)
    upto = min(watermark - KEPT_FIELDS, cleared + _CLEARED_AT_ONCE)
    if upto > cleared:
        old = [f"{stream.epoch}:{number}:{part}" for number in range(cleared + 1, upto + 1) for part in "tfid"]
        commands += [("HDEL", key, *old), ("HSET", key, f"{stream.epoch}:c", upto)]
    return commands


def _whole(data: bytes | None) -> int:
    return int(data) if data and data.isdigit() else 0


def _built(kind: type[Any], data: bytes | None) -> Any:
    try:
        return wire.build(kind, wire.load(data)) if data else None
    except wire.Unreadable:
        return kind() if kind is Place else Intent("", "", 0.0)
