"""From the bytes of a run's files to observations, and to the places where bookmarks may stand."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from diagnosis.formats.reader import LogReader
from diagnosis.formats.source_name import origin_of
from diagnosis.formats.stretch import Told
from diagnosis.observations import Evidence, Origin
from watcher.bookmarks import Places
from watcher.identity import Digest, FileId, Place, Recent
from watcher.last_bytes import LastBytes
from watcher.pieces import Chunk, Continued, Ended, Piece, Rested, Use
from watcher.settings import WatchedRun

CONTEXT_BYTES = 16 << 10
"""So much of a file is kept to know what is spoken when the log goes on in another."""
WHOLE_SECONDS = 60.0
"""Nothing that was read before a restart waits for a continuation."""


class Seen(NamedTuple):
    """One observation, or a stretch of them; `is_news` is false for what was already judged before a restart."""

    told: Told
    is_news: bool


@dataclass(slots=True)
class _Part:
    """One file being read."""

    source: str
    reader: LogReader | None
    """None: set aside, only its place is kept."""
    recent: Recent
    place: Place
    """Where a bookmark may stand."""
    file: Place
    """The file as it was when bytes came last."""
    knows_lines: bool
    line: int = 1
    is_new: bool = True
    """True: the place must be found out anew."""

    def mark(self) -> Place:
        """Where a bookmark may stand now."""
        if self.is_new and self.reader is not None:
            self.is_new = False
            offset, self.line = self.reader.position
            behind = self.recent.digest_before(offset)
            if behind is not None:
                line = self.line if self.knows_lines else None
                # What waits for its rest lay there already when the file was read to its end.
                caught_up_at = self.file.caught_up_at if offset == self.recent.end else None
                self.place = replace(self.file, offset=offset, line=line, behind=behind, caught_up_at=caught_up_at)
        return self.place


class Reading:
    """Everything of one run that is being read on this node."""

    def __init__(self, run: WatchedRun, node: str) -> None:
        self._run = run
        self._settings = run.read_settings()
        self._node = node
        self._parts: dict[int, _Part] = {}
        self._context: dict[str, bytes] = {}
        self.last = LastBytes()
        """What was read last of each file."""
        self._waiting: set[int] = set()
        """Files whose last line or record is not whole yet."""
        self._uncounted: set[str] = set()

    def take(self, piece: Piece, written: float) -> Iterator[Seen]:
        """What one piece shows; `written` is when its bytes came, on this node's clock."""
        match piece:
            case Chunk():
                yield from self._read(piece, written)
            case Continued(before=before, part=part):
                if before in self._parts:
                    self._parts[part] = self._parts.pop(before)
                    self._note_waiting(part)
            case Rested(part=part):
                self._set_aside(part)
            case Ended(part=part):
                ended = self._parts.pop(part, None)
                self._waiting.discard(part)
                if ended is not None and ended.reader is not None:
                    for one in ended.reader.close():
                        yield Seen(one, is_news=True)

    def idle(self, now: float) -> Iterator[Seen]:
        """What waited for a continuation that did not come."""
        for number in list(self._waiting):
            part = self._parts.get(number)
            if part is None or part.reader is None:
                self._waiting.discard(number)
                continue
            for one in part.reader.idle(now):
                yield Seen(one, is_news=True)
            self._note_waiting(number)

    def close(self) -> Iterator[Seen]:
        """What is left when the job has ended: nothing will be added to these files."""
        for reader in self.readers():
            for one in reader.close():
                yield Seen(one, is_news=True)

    def places(self) -> Places:
        """Per file name: the first byte of each of its files that is not turned into observations yet."""
        found: dict[str, tuple[Place, ...]] = {}
        for part in self._parts.values():
            found[part.source] = (*found.get(part.source, ()), part.mark())
        return found

    def ends(self) -> Iterator[tuple[str, FileId, int]]:
        """Per file: which one it is, and how far it was read."""
        for part in self._parts.values():
            yield part.source, part.file.file_id, part.recent.end

    def holds_something(self) -> bool:
        """True when a line or a record waits for its rest."""
        return bool(self._waiting)

    def speakers(self, part: int) -> Iterable[int | None]:
        """The one rank that speaks in a file; nobody where several do, since a line may be anyone's."""
        known = self._parts.get(part)
        if known is None or known.reader is None or len(known.reader.ranks) > 1:
            return ()
        return known.reader.ranks or (None,)

    def forget(self, source: str) -> None:
        """Drop what is known of a file: it will be begun anew at its place."""
        for number in [number for number, part in self._parts.items() if part.source == source]:
            del self._parts[number]

    def readers(self) -> list[LogReader]:
        """The readers of all files, for those who want to know a dialect or the last lines."""
        return [part.reader for part in self._parts.values() if part.reader is not None]

    def checked(self, evidence: Evidence) -> Evidence:
        """Evidence without a line number where lines were never counted from the top of the file."""
        return replace(evidence, line=None) if evidence.file in self._uncounted else evidence

    def _read(self, chunk: Chunk, written: float) -> Iterator[Seen]:
        part, reader = self._part_of(chunk)
        told = reader.feed_stretches(chunk.data, written)
        part.recent.add(chunk.data)
        part.file, part.is_new = chunk.place, True
        if chunk.data:
            self.last.add(chunk.source, chunk.data)
            self._context[chunk.source] = (self._context.get(chunk.source, b"") + chunk.data)[-CONTEXT_BYTES:]
        if chunk.use is Use.WARM_UP:
            # The bookmark stood at the start of a line, so what the warm-up ends with is whole.
            told += reader.idle(written + WHOLE_SECONDS)
        self._note_waiting(chunk.part)
        if chunk.use is not Use.CONTEXT:
            is_news = chunk.use is Use.NEWS
            yield from (Seen(one, is_news) for one in told)

    def _part_of(self, chunk: Chunk) -> tuple[_Part, LogReader]:
        part = self._parts.get(chunk.part)
        if part is not None and part.reader is not None and part.recent.end == chunk.offset:
            return part, part.reader
        line = chunk.line
        knows_lines = line is not None
        if part is not None and chunk.use is Use.CONTEXT:
            # Lines were counted up to the bookmark, which lies somewhere in this context.
            after = chunk.data[max(0, part.place.offset - chunk.offset) :]
            line, knows_lines = part.line - (chunk.data.count(b"\n") - after.count(b"\n")), part.knows_lines
        before = self._heard_before(chunk) if chunk.use is Use.NEWS else b""
        reader = LogReader(
            chunk.source,
            self._origin(chunk.source),
            first_line=(line or 1) - before.count(b"\n"),
            first_offset=chunk.offset - len(before),
            settings=self._settings,
        )
        reader.feed(before)
        (self._uncounted.discard if knows_lines else self._uncounted.add)(chunk.source)
        place = replace(chunk.place, offset=chunk.offset, line=chunk.line, behind=Digest())
        if part is not None:
            place = part.place
        part = self._parts[chunk.part] = _Part(
            chunk.source, reader, Recent(chunk.offset), place, chunk.place, knows_lines, line or 1
        )
        return part, reader

    def _heard_before(self, chunk: Chunk) -> bytes:
        """Whole lines of the run just before: a reader hears them first, so that it knows what is spoken."""
        before = self._context.get(chunk.source, b"")
        return before[before.find(b"\n") + 1 : before.rfind(b"\n") + 1]

    def _set_aside(self, number: int) -> None:
        part = self._parts.get(number)
        if part is None:
            return
        part.mark()
        part.reader = None
        self._waiting.discard(number)
        self._context.pop(part.source, None)
        self.last.forget(part.source)

    def _note_waiting(self, number: int) -> None:
        part = self._parts[number]
        is_waiting = part.reader is not None and part.reader.position.offset < part.recent.end
        (self._waiting.add if is_waiting else self._waiting.discard)(number)
        part.is_new = True

    def _origin(self, path: str) -> Origin:
        named = origin_of(path)
        return replace(
            named,
            run=self._run.name,
            node=named.node or self._node,
            rank=named.rank if named.rank is not None else self._run.rank,
        )
