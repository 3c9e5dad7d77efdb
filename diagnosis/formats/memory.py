"""What a reader remembers of its source: streams of lines, clocks, attempts, and what waits to be handed out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis.formats.line import Line
from diagnosis.formats.settings import ReadSettings
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.formats.stretch import Told
from diagnosis.formats.tags import rank_in
from diagnosis.formats.timestamps import Clock
from diagnosis.observations import AttemptMark, Origin

_MOST_STREAMS = 65_536
_MOST_FACTS = 16
_MOST_LIKES = 64
_NUMBERS = re.compile(r"[-+]?(?:\d[\d.,]*|nan\b|inf\b)(?:[eE][-+]?\d+)?\s*")


@dataclass(slots=True)
class Unread:
    """Lines that looked like metrics and were not understood."""

    count: int = 0
    samples: tuple[str, ...] = ()
    cut: int = 0
    """Lines that were too long: of each only the beginning was read."""
    first_cut: int | None = None
    """The number of the first of them."""


class Memory:
    """Shared by everything that works on the lines of one source."""

    __slots__ = (
        "_facts",
        "_global",
        "_has_marked",
        "_likes",
        "_ranked",
        "attempt",
        "clock",
        "dialects",
        "file",
        "has_sampled",
        "nodes",
        "out",
        "ranks",
        "seen_at",
        "settings",
        "streams",
        "tracebacks",
        "unread",
    )

    def __init__(self, file: str, origin: Origin, settings: ReadSettings) -> None:
        self.file = file
        self.settings = settings
        self.clock = Clock()
        self.seen_at: float | None = None
        self.out: list[Told] = []
        self.streams: dict[int, Stream] = {}
        """By the identity of the origin, which the stream keeps alive: cheaper than its hash for every line."""
        self.dialects: dict[str, list[Steps]] = {}
        """The counters of every dialect that was spoken."""
        self.ranks: set[int] = set()
        """Global ranks that spoke, or that the file's name tells."""
        self.nodes: set[str] = set()
        """Nodes likewise."""
        self.note_origin(origin)
        self.unread = Unread()
        self.tracebacks = 0
        self.attempt = 0
        self.has_sampled = False
        """Steps were seen since the newest attempt began."""
        self._has_marked = False
        self._facts: dict[str, str] = {}
        self._likes: set[str] = set()
        self._ranked: dict[tuple[int, str], tuple[Origin, Origin]] = {}
        self._global: dict[tuple[str | None, int | None], str | None] = {}

    def stream_of(self, origin: Origin) -> Stream:
        """The stream a line belongs to."""
        stream = self.streams.get(id(origin))
        if stream is None:
            stream = Stream(origin, self.settings.logging_interval, self.settings.recent_lines)
            self.streams[id(origin)] = stream
        return stream

    def note_origin(self, origin: Origin) -> None:
        """Somebody spoke."""
        if origin.rank is not None:
            self.ranks.add(origin.rank)
        if origin.node is not None:
            self.nodes.add(origin.node)

    @property
    def is_full(self) -> bool:
        """True when more streams are remembered than any job has ranks: something else looks like rank tags."""
        return len(self.streams) > _MOST_STREAMS

    def with_rank(self, origin: Origin, rank: str) -> Origin:
        """The origin of a line that names its own rank."""
        known = self._ranked.get((id(origin), rank))
        if known is None:
            if len(self._ranked) > _MOST_STREAMS:
                self._ranked.clear()
            named = Origin(origin.run, origin.node, int(rank), origin.local_rank)
            known = self._ranked[id(origin), rank] = (named, origin)
            self._learn_global(named, rank)
        return known[0]

    def _learn_global(self, named: Origin, rank: str) -> None:
        """A process that once names its global rank beside its local one has it in its other lines too."""
        place = (named.node, named.local_rank)
        if named.local_rank is not None and self._global.setdefault(place, rank) != rank:
            self._global[place] = None  # several nodes share this file: the local rank alone tells nothing

    def place(self, line: Line) -> None:
        """Find time and rank of a line that no learned shape has read."""
        if line.time is None:
            stamp = self.clock.find(line.text)
            if stamp is not None:
                line.time = stamp[2]
        rank = rank_in(line.text)
        if rank is not None:
            line.origin = self.with_rank(line.origin, line.text[rank.start : rank.end])
        elif line.origin.rank is None:
            known = self._global.get((line.origin.node, line.origin.local_rank))
            if known is not None:
                line.origin = self.with_rank(line.origin, known)
        self.note_origin(line.origin)

    def note_fact(self, name: str, value: str) -> None:
        """Something the log tells of its environment, for the next attempt's mark."""
        if len(self._facts) < _MOST_FACTS or name in self._facts:
            self._facts[name] = value

    @property
    def may_open_attempt(self) -> bool:
        """True when a banner is news: the first one since steps were seen. Several lines of one launch say the same."""
        return not self._has_marked or self.has_sampled

    def open_attempt(self) -> None:
        """What comes from now on belongs to another attempt than the steps that were seen."""
        if self.has_sampled:
            self.attempt += 1
        self.has_sampled = False

    def mark_attempt(self, line: Line, why: str) -> None:
        """Say that an attempt begins here, with what is known of its environment."""
        self._has_marked = True
        facts, self._facts = self._facts, {}
        self.out.append(
            AttemptMark(line.origin, why, line.evidence(self.file), facts, time=line.time, seen_at=self.seen_at)
        )

    def counters(self) -> Iterator[Steps]:
        """Every counter of this source."""
        for counters in self.dialects.values():
            yield from counters

    @property
    def has_losses(self) -> bool:
        """True when some line told a training loss."""
        return any(steps.losses for steps in self.counters())

    def comes_again(self, text: str) -> bool:
        """True when a line like this one but for its numbers was asked about before."""
        like = _NUMBERS.sub("0", text)
        if like in self._likes:
            return True
        if len(self._likes) < _MOST_LIKES:
            self._likes.add(like)
        return False

    def count_unread(self, line: Line) -> None:
        """Keep count, and a sample, of what looked like a metric."""
        self.unread.count += 1
        if len(self.unread.samples) < self.settings.unread_samples:
            self.unread.samples = (*self.unread.samples, line.text.strip()[:300])
