"""Findings on their way: one stream per watcher and epoch, IDs are the watcher's own count.

An append with an ID that is there already is refused by Redis, so whoever is unsure appends again. Nothing here
trims on write; only `Ledger.trim` does, below what is settled.
"""

import asyncio
import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from redis.exceptions import RedisError

from diagnosis.findings import Cleared, Finding
from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Command, Door
from registry.doubt import Doubt
from registry.errors import Forgotten, Overtaken, Refused, RegistryAway, RegistryError
from registry.keys import StreamId

_REPEATED = "equal or smaller than the target stream top item"
_NO_STREAM = "no such key"
_ROUNDS: Final = 8
LARGEST_STREAM_BYTES: Final = 64 << 20
"""A spool is full at 24 MiB, so no watcher of ours fills a stream as far as this."""


@dataclass(frozen=True, slots=True)
class Event:
    """One finding as it stands in a watcher's stream."""

    stream: StreamId
    number: int
    body: bytes = field(repr=False)
    key: str = ""
    """The same for the same finding, whatever stream it comes by: after a lost spool it may come twice."""
    is_resent: bool = False
    """Redis may have lost data since it was first published: perhaps it was announced, and the word of that is gone."""
    was_lost: bool = False
    """Redis surely had lost it, and all that was known of its incident may be gone with it."""
    published_at: float = 0.0
    """When it was put into this stream (Unix seconds on the registry's clock); 0: it does not say."""

    @property
    def id(self) -> str:
        """What identifies this event everywhere: ledger, message metadata, timeline."""
        return f"{self.stream.watcher}/{self.stream.epoch}/{self.number}"

    @property
    def verdict(self) -> Finding | Cleared:
        """The finding (or that one is over) itself; raises wire.Unreadable."""
        value = wire.decode(self.body)
        if not isinstance(value, Finding | Cleared):
            raise wire.Unreadable(f"a {type(value).__name__} is no event")
        return value


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a stream cannot be read."""

    why: str
    is_rubbish: bool
    """True: no watcher of ours wrote that."""


class Events:
    """The door to the streams of findings."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock
        self._doubt = Doubt(door, clock)
        self._ears: Any = None
        self.troubles: dict[StreamId, Trouble] = {}
        """Streams that cannot be read: each holds up its own watcher and nobody else."""

    async def publish(self, watcher: str, epoch: str, number: int, body: bytes, key: str = "") -> bool:
        """Append one finding under its number; False: that number (or a later one) is there already."""
        return (await self.publish_all(StreamId(watcher, epoch), [(number, key, body)])) == 1

    async def publish_all(
        self,
        stream: StreamId,
        records: Sequence[tuple[int, str, bytes]],
        *,
        resent: bool = False,
        after: int = 0,
    ) -> int:
        """Append findings in the order of their numbers, wake the readers, and return how many were new.

        Raises Forgotten, if the stream does not go as far as `after` any more: what stood there goes first, since
        whoever reads past a number takes it for settled.
        """
        if not records:
            return 0
        mark = ("r", "1") if resent else ()
        now = f"{await self._clock.estimate():.3f}"
        commands: list[Command] = [
            ("XADD", keys.events(stream), f"{number}-0", "b", body, "k", key, "t", now, *mark)
            for number, key, body in records
        ]
        # One transaction: if a full Redis took number 6 but not 5, number 5 could never be appended again.
        if after:
            answers = await self._append_behind(stream, after, commands)
        else:
            answers = await self._door.together(commands, raising=False)
        new = sum(_is_appended(answer) for answer in answers)
        with contextlib.suppress(RegistryError):
            await self._door.call("PUBLISH", keys.WAKE, str(stream))
        return new

    async def register(self, stream: StreamId) -> None:
        """Make a stream known to readers. Comes before its first finding, and again now and then."""
        await self._door.call("ZADD", keys.STREAMS, await self._clock.estimate(), str(stream))

    async def last_number(self, watcher: str, epoch: str) -> int:
        """Return the highest number this stream ever had; 0: Redis does not know the stream."""
        try:
            info = await self._door.call("XINFO STREAM", keys.events(StreamId(watcher, epoch)))
        except Refused as answer:
            if _NO_STREAM in str(answer):
                return 0
            raise
        return _number(info["last-generated-id"])

    async def keys(self, stream: StreamId, first: int, last: int) -> dict[int, str]:
        """Return which findings stand in a part of a stream: number → key."""
        found = await self._door.call("XRANGE", keys.events(stream), f"{first}-0", f"{last}-0")
        return {event.number: event.key for event in events_from(stream, found)}

    async def streams(self) -> list[StreamId]:
        """Return every stream that is registered."""
        found = await self._door.call("ZRANGE", keys.STREAMS, 0, -1)
        return [StreamId.parse(text.decode()) for text in found]

    async def read(self, after: Mapping[StreamId, int], count: int = 100) -> list[Event]:
        """Return up to `count` findings of each stream above the number given for it, in order.

        A stream that cannot be read now is left out and named in `troubles`; raises when none can.
        """
        streams = await self._readable(list(after))
        pages = await self._door.many(
            [("XRANGE", keys.events(stream), f"({after[stream]}-0", "+", "COUNT", count) for stream in streams],
            raising=False,
        )
        away = [page for page in pages if isinstance(page, RegistryAway)]
        if away and len(away) == len(pages):
            # Nothing there and nobody who answers are not the same: a reader would believe that it is at the end.
            raise away[0]
        events: list[Event] = []
        for stream, page in zip(streams, pages, strict=True):
            if isinstance(page, Exception):
                self._note(stream, page)
            elif page:
                found = events_from(stream, page, await self._doubt.before(keys.events(stream)))
                if not found:
                    why = f"it holds {len(page)} entries that no watcher of ours wrote"
                    self.troubles[stream] = Trouble(why, is_rubbish=True)
                events += found
        return events

    @property
    def changes(self) -> int:
        """Counts up whenever a server was lost or replaced."""
        return self._door.changes

    async def doubtful_before(self, streams: Iterable[StreamId]) -> float:
        """Return the time before which a server of these may have forgotten something: it moves when one starts anew.

        Raises RegistryAway while that cannot be known.
        """
        newest = 0.0
        for key in {keys.INCIDENTS, *map(keys.events, streams)}:
            newest = max(newest, await self._doubt.before(key))
            if newest == math.inf:
                raise RegistryAway("nobody can say what Redis may have forgotten")
        return newest

    async def wait(self, seconds: float) -> set[StreamId]:
        """Return when a watcher published something, or after so many seconds with an empty set.

        Only an accelerator: a lost wake-up costs time, never a finding, so read on after it in any case.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            woken = await self._listen(seconds)
        except (RedisError, OSError):
            await self._stop_listening()
            woken = set()
        except asyncio.CancelledError:
            await self._stop_listening()
            raise
        if not woken and (left := deadline - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left)
        return woken

    async def aclose(self) -> None:
        """Stop listening."""
        await self._stop_listening()

    async def _readable(self, streams: Sequence[StreamId]) -> list[StreamId]:
        """Return the streams that hold something and may be read without harm.

        Reading means holding all of it in memory, so a stream that nobody but a rogue could fill is not read.
        """
        lengths = await self._door.many([("XLEN", keys.events(stream)) for stream in streams], raising=False)
        failed = [length for length in lengths if isinstance(length, Exception)]
        if failed and len(failed) == len(streams):
            raise failed[0]
        self.troubles = {}
        for stream, length in zip(streams, lengths, strict=True):
            self._note(stream, length)
        filled = [stream for stream, length in zip(streams, lengths, strict=True) if isinstance(length, int) and length]
        sizes = await self._door.many([("MEMORY USAGE", keys.events(stream)) for stream in filled], raising=False)
        readable = []
        for stream, size in zip(filled, sizes, strict=True):
            # Where we may not ask for the size, the server's own limit (proto-max-bulk-len) must do.
            if isinstance(size, int) and size > LARGEST_STREAM_BYTES:
                why = f"it holds {size >> 20} MiB, more than any watcher of ours writes"
                self.troubles[stream] = Trouble(why, is_rubbish=True)
            else:
                readable.append(stream)
        return readable

    async def _append_behind(self, stream: StreamId, after: int, commands: Sequence[Command]) -> list[Any]:
        """Append to a stream that goes as far as `after`, at this very moment."""
        key = keys.events(stream)
        for _ in range(_ROUNDS):
            # Whoever trims the stream meanwhile overtakes us.
            with contextlib.suppress(Overtaken):
                try:
                    async with self._door.watching(key, first=[("XINFO STREAM", key)]) as look:
                        last = _number(look.first[0]["last-generated-id"])
                        if last >= after:
                            return await look.commit(commands, raising=False)
                except Refused as answer:
                    if _NO_STREAM not in str(answer):
                        raise
                    last = 0
                raise Forgotten(f"the stream of {stream.watcher} went as far as {after} and ends at {last} now")
        raise RegistryAway(f"the stream of {stream.watcher} keeps changing under us")

    def _note(self, stream: StreamId, answer: Any) -> None:
        # A part of a Cluster that is away comes back by itself.
        if isinstance(answer, Exception) and not isinstance(answer, RegistryAway):
            self.troubles[stream] = Trouble(str(answer), is_rubbish=False)

    async def _listen(self, seconds: float) -> set[StreamId]:
        if self._ears is None:
            self._ears = await self._door.subscription()
            await self._ears.subscribe(keys.WAKE)
        woken: set[StreamId] = set()
        deadline = asyncio.get_running_loop().time() + seconds
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            message = await self._ears.get_message(timeout=left)
            while message is not None:
                woken.add(StreamId.parse(message["data"].decode("utf-8", "replace")))
                message = await self._ears.get_message(timeout=0)
            if woken:
                break
        return woken

    async def _stop_listening(self) -> None:
        ears, self._ears = self._ears, None
        if ears is not None:
            with contextlib.suppress(RedisError, OSError):
                await ears.aclose()


def events_from(
    stream: StreamId, entries: Iterable[tuple[bytes, Mapping[bytes, bytes] | None]], doubtful_before: float = 0.0
) -> list[Event]:
    """Return the events in an answer of XRANGE."""
    return [
        _event(stream, _number(entry), content, doubtful_before)
        for entry, content in entries
        # Ours end in -0; what else somebody put there is not a finding.
        if content is not None and entry.endswith(b"-0")
    ]


def _event(stream: StreamId, number: int, content: Mapping[bytes, bytes], doubtful_before: float) -> Event:
    published_at = _published_at(content)
    was_lost = b"r" in content
    return Event(
        stream,
        number,
        content.get(b"b", b""),
        key=content.get(b"k", b"").decode("utf-8", "replace"),
        is_resent=was_lost or 0 < published_at < doubtful_before,
        was_lost=was_lost,
        published_at=published_at,
    )


def _published_at(content: Mapping[bytes, bytes]) -> float:
    try:
        said = float(content.get(b"t", b"0"))
    except ValueError:
        return 0.0
    return said if math.isfinite(said) else 0.0


def _number(entry_id: bytes | str) -> int:
    text = entry_id.decode() if isinstance(entry_id, bytes) else entry_id
    return int(text.partition("-")[0])


def _is_appended(answer: Any) -> bool:
    if not isinstance(answer, Exception):
        return True
    if _REPEATED in str(answer):
        return False
    raise answer
