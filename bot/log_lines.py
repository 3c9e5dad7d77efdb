"""Reads anything that consists of lines: training logs, kernel logs, scheduler output; rotated files as one log."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from bot.opening import FAILURES, reason_of
from diagnosis.case import CaseFile
from diagnosis.exhibits import as_symptoms, read_containers
from diagnosis.formats.again import Again
from diagnosis.formats.reader import LogReader
from diagnosis.formats.settings import ReadSettings
from diagnosis.formats.timestamps import Clock
from diagnosis.log_facts import LogFacts, LogLine
from diagnosis.observations import Evidence, Observation, Origin, Symptom

if TYPE_CHECKING:
    from bot.second_reader import Account
    from diagnosis.formats.bulk.judging.absorbing import Twin

CHUNK = 1 << 18
BIG_CHUNK = 1 << 20
BULK_FROM = 1 << 20
"""A training log of so many bytes is read in bulk."""
TWO_FROM = 128 << 20
"""One of so many bytes is read by a second process: below, its start costs more than it saves."""
WHOLE_REPORT = 8 << 20
"""Bytes of a scheduler's report that are read in one piece."""
TAIL = 1 << 16
"""Bytes of a log's end that are kept to quote its last lines."""
KEPT_LINES = 24
MAX_TEXT = 2_000

_RANK_TAG = re.compile(r"\[rank:?[ -]?(\d{1,7})\]|\[default(\d{1,5})\]|\brank[ =:]?(\d{1,7})\b")
_OWN_TAG = re.compile(rb"^(?:\[default\d{1,5}\]:)?\[rank:? ?(\d{1,7})\]", re.MULTILINE)

Take = Callable[[Observation], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """Who wants what a log says, and how it is read."""

    take: Take
    """Gets each observation of a training log."""
    twins: "Callable[[], Sequence[Twin]] | None" = None
    """Makes those who move the takers past many points of a big log; None: it is read line by line."""
    progress: Callable[[int], None] | None = None
    """Told of bytes (as they lie on the disk) as they are read."""
    settings: ReadSettings = field(default_factory=ReadSettings)
    """What a person says of the training logs."""
    hear_again: Callable[[Again], None] | None = None
    """Gets telling lines that come again and again in a big log; None: each of them is taken."""


class Lines(Protocol):
    """Reads one source."""

    @property
    def reader(self) -> "LogReader | Account":
        """Whom to ask about the source as a whole."""

    def take(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Read all of these; gives back what was read, or at least its end."""

    def go_on_in(self, file: str) -> None:
        """The source goes on in another file."""

    def close(self) -> None:
        """The end of the source."""


class PlainLines:
    """Line by line; a log that is no training log is heard by its facts alone."""

    def __init__(
        self, file: str, origin: Origin, facts: LogFacts, take: Take | None, settings: ReadSettings | None = None
    ) -> None:
        self.reader = LogReader(file, origin, settings=settings)
        self._facts = facts
        self._take = take

    def take(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Read all of these; gives them back."""
        for chunk in chunks:
            self._give(self.reader.feed(chunk))
            yield chunk

    def go_on_in(self, file: str) -> None:
        """Only training logs are read over several files."""
        raise ValueError(f"{file} cannot go on from a file that is no training log")

    def close(self) -> None:
        """The end of the source."""
        self._give(self.reader.close())

    def _give(self, told: Sequence[Observation]) -> None:
        for seen in told:
            note(self._facts, seen)
            if self._take is not None:
                self._take(seen)


class SchedulerLines(PlainLines):
    """A report of containers nests what it tells: it is read as a whole, and line by line for the events beside it."""

    def __init__(self, file: str, origin: Origin, facts: LogFacts) -> None:
        super().__init__(file, origin, facts, None)
        self._file, self._origin = file, origin
        self._whole = bytearray()
        self._told: list[Observation] = []

    def take(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Read all of these; gives them back."""
        for chunk in super().take(chunks):
            self._whole += chunk[: WHOLE_REPORT - len(self._whole)]
            yield chunk

    def close(self) -> None:
        """The end of the source: what the report tells stands in place of its single lines."""
        super().close()
        report = read_containers(self._whole.decode("utf-8", "replace"))
        for seen in self._told:
            if not isinstance(seen, Symptom) or seen.evidence.line not in report.lines:
                note(self._facts, seen)
        for end in report.ends:
            for symptom in as_symptoms(end, self._origin, self._file):
                note(self._facts, symptom)

    def _give(self, told: Sequence[Observation]) -> None:
        self._told += told


@dataclass(slots=True)
class Piece:
    """One file of a log; several where it was rotated."""

    file: CaseFile
    origin: Origin
    head: bytes
    stream: IO[bytes]
    size: int
    """Bytes on the disk."""
    is_packed: bool = False
    is_part: bool = False
    """True when the log was rotated."""
    path: Path | None = None
    """Where it lies, for whoever may open it again."""


def read_lines(pieces: Sequence[Piece], reading: Reading) -> None:
    """Read the files of one log in order; what the log says as a whole stands with the last one."""
    lines: Lines | None = None
    facts, origin = LogFacts(), pieces[-1].origin
    before = 0
    tail = bytearray()
    named: set[int] = set()
    newest: CaseFile | None = None
    for piece in pieces:
        file = piece.file
        if lines is None:
            lines = _lines_for(piece, origin, facts, reading)
        elif newest is not None:
            _close(newest, lines.reader, tail, before)
            before = lines.reader.tracebacks
            lines.go_on_in(file.path)
            tail.clear()
        newest = file
        named |= _named_in(piece.head)
        for chunk in lines.take(_chunks(piece, reading)):
            tail += chunk
            del tail[:-TAIL]
    assert lines is not None
    assert newest is not None
    lines.close()
    _close(newest, lines.reader, tail, before)
    newest.log = facts
    newest.node = lines.reader.node or origin.node
    named |= _named_in(bytes(tail))
    facts.observed_ranks |= named
    newest.ranks = tuple(sorted(lines.reader.ranks | named))
    facts.heard_at = _newest_stamp(newest.tail)
    facts.finish(_newest_lines(newest, origin.rank))


def note(facts: LogFacts, seen: Observation) -> None:
    """Keep what a diagnosis needs of it."""
    if isinstance(seen, LogLine):
        facts.observe(seen)


def _lines_for(piece: Piece, origin: Origin, facts: LogFacts, reading: Reading) -> Lines:
    is_training = piece.file.kind in {"training_log", "table"}
    if piece.file.kind == "scheduler":
        return SchedulerLines(piece.file.path, origin, facts)
    if not is_training or (piece.size < BULK_FROM and not piece.is_packed and not piece.is_part):
        if not is_training:
            return PlainLines(piece.file.path, origin, facts, None)
        return PlainLines(piece.file.path, origin, facts, reading.take, reading.settings)
    from bot.bulk_reading import BulkLines, LinesBeside  # noqa: PLC0415 - numpy only where a log is big

    is_whole = not piece.is_packed and not piece.is_part
    if piece.path is not None and is_whole and piece.size >= TWO_FROM and has_two_cores():
        return LinesBeside(piece.path, piece.file.path, origin, facts, reading)
    return BulkLines(piece.file.path, origin, facts, reading)


def has_two_cores() -> bool:
    """True where two processes of ours may run at the same time."""
    return len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) > 1


def _chunks(piece: Piece, reading: Reading) -> Iterator[bytes]:
    size = BIG_CHUNK if piece.size >= BULK_FROM or piece.is_packed else CHUNK
    chunk = piece.head
    while chunk:
        yield chunk
        if reading.progress is not None and not piece.is_packed:
            reading.progress(len(chunk))
        try:
            chunk = piece.stream.read(size)
        except FAILURES as failure:  # what came before it is read like any log
            piece.file.problem = reason_of(failure)
            break
    if reading.progress is not None and piece.is_packed:
        reading.progress(piece.size)


def _close(file: CaseFile, reader: "LogReader | Account", tail: bytearray, tracebacks_before: int) -> None:
    """What one file says of itself."""
    file.dialect, file.envelope = reader.dialect, reader.envelope
    file.processes_named = reader.processes
    file.unmatched = reader.unread
    file.lines = reader.lines + (bool(tail) and not tail.endswith(b"\n"))
    file.tracebacks = reader.tracebacks - tracebacks_before
    file.tail = _lines_of(bytes(tail), file.lines)
    file.ends_whole = tail.endswith((b"\n", b"\r"))


def _named_in(text: bytes) -> set[int]:
    return {int(tag) for tag in _OWN_TAG.findall(text)}


def _lines_of(tail: bytes, lines: int) -> tuple[str, ...]:
    texts = tail.decode("utf-8", "replace").split("\n")
    if texts and not texts[-1]:
        texts.pop()
    return tuple(text.rstrip("\r")[:MAX_TEXT] for text in texts[-lines:])


def _newest_stamp(tail: tuple[str, ...]) -> float | None:
    """The time of the last line that bears date and time, whatever line it is."""
    clock = Clock()
    for text in reversed(tail[-200:]):
        stamp = clock.find(text)
        if stamp is not None and clock.style in {"local", "zoned"}:
            return stamp[2]
    return None


def _newest_lines(file: CaseFile, rank: int | None) -> dict[int | None, tuple[Evidence, ...]]:
    """The last lines of every rank, as far as the end of the file goes back."""
    newest: dict[int | None, list[Evidence]] = {}
    for number, text in enumerate(file.tail, file.lines - len(file.tail) + 1):
        if not text.strip():
            continue
        owner = rank
        if owner is None and (tag := _RANK_TAG.search(text, 0, 120)) is not None:
            owner = int(next(value for value in tag.groups() if value is not None))
        newest.setdefault(owner, []).append(Evidence(file.path, number, text))
    return {owner: tuple(found[-KEPT_LINES:]) for owner, found in newest.items()}
