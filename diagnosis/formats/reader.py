"""Reads the log of one source: bytes in, observations out.

A line goes through: splitter (LF, CR) → escapes off → envelopes off → learned shapes (fast) → bars, records,
dialects, the general reader → phases, skips, banners, telling lines. What a line means never depends on how
the bytes were cut into chunks.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from diagnosis.formats.again import Again
from diagnosis.formats.bars import is_bar, opens_epoch
from diagnosis.formats.headings import LONGEST
from diagnosis.formats.hygiene import strip_escapes, unescape
from diagnosis.formats.line import Line
from diagnosis.formats.memory import Memory, Unread
from diagnosis.formats.metric_words import has_metric_word, is_yolo_row, looks_like_metrics, tells_values
from diagnosis.formats.noticing import Noticer
from diagnosis.formats.pairs import tells_no_loss
from diagnosis.formats.record import Step
from diagnosis.formats.sampling import Sampler
from diagnosis.formats.settings import ReadSettings
from diagnosis.formats.settled import OPENERS, TOLD_SINGLY, tells_the_same_again
from diagnosis.formats.shapes import Shapes
from diagnosis.formats.splitter import Lines, Piece, Splitter
from diagnosis.formats.step_finder import StepFinder
from diagnosis.formats.stream import Stream
from diagnosis.formats.stretch import Told, each
from diagnosis.formats.stretching import Stretcher
from diagnosis.formats.unwrapping import Unwrapper
from diagnosis.formats.weaver import FEWEST, Weaver
from diagnosis.observations import Evidence, Observation, Origin, Symptom

PARTIAL_WAITS_SECONDS = 5.0
"""How long a line that is not ended waits for its end before it is read as it stands."""
RECORD_WAITS_SECONDS = 1.0
"""How long a record waits for its next line, and a dict for its bar."""
_LONGEST_WAIT = 64
"""So many lines are read one by one at most before it is tried again whether the next ones are alike."""


class Position(NamedTuple):
    """A place in the source where a bookmark may stand."""

    offset: int
    line: int


class LogReader:
    """Reads one source. Never raises on any bytes; holds at most one capped line and a few records."""

    def __init__(
        self,
        file: str,
        origin: Origin,
        *,
        settings: ReadSettings | None = None,
        first_line: int = 1,
        first_offset: int = 0,
    ) -> None:
        self.file = file
        self._origin = origin
        self._first_line = first_line
        self._memory = Memory(file, origin, settings or ReadSettings())
        self._splitter = Splitter(first_line, first_offset)
        self._unwrapper = Unwrapper(origin, self._memory.clock)
        self._shapes = Shapes()
        self._sampler = Sampler(self._memory)
        self._noticer = Noticer(self._memory, self._sampler)
        self._finder = StepFinder(self._memory, self._shapes, self._sampler, self._noticer)
        self._stretcher = Stretcher(self._memory, self._unwrapper, self._shapes, self._sampler)
        self._weaver = Weaver(origin, self._memory, self._shapes, self._sampler)
        self._line: Line | None = None
        self._heard_at: float | None = None

    # What a caller may ask

    @property
    def dialect(self) -> str | None:
        """The dialect that most step lines spoke, those with a loss first; None before the first."""
        dialects = self._memory.dialects
        return max(dialects, key=lambda name: sum(steps.losses for steps in dialects[name]), default=None)

    @property
    def dialects(self) -> tuple[str, ...]:
        """All dialects that were spoken."""
        return tuple(self._memory.dialects)

    @property
    def envelope(self) -> str | None:
        """The envelopes that were taken off, as they were first met."""
        return " + ".join(self._unwrapper.names) or None

    @property
    def ranks(self) -> set[int]:
        """Every rank that spoke."""
        return self._memory.ranks

    @property
    def node(self) -> str | None:
        """The node, where all lines come from one."""
        nodes = self._memory.nodes
        return next(iter(nodes)) if len(nodes) == 1 else self._origin.node

    @property
    def processes(self) -> dict[tuple[str | None, int], int]:
        """(node, pid) → rank, where a runtime tags its lines with a process and some of them tell the rank."""
        return self._unwrapper.processes()

    @property
    def lines(self) -> int:
        """Whole lines read so far."""
        return self._splitter.line - self._first_line

    @property
    def unread(self) -> Unread:
        """Lines that looked like metrics and were not understood, and those that were too long."""
        return replace(self._memory.unread, cut=self._splitter.cut, first_cut=self._splitter.first_cut)

    @property
    def tracebacks(self) -> int:
        """Lines that opened a Python traceback."""
        return self._memory.tracebacks

    @property
    def time_style(self) -> str:
        """How much the log's stamps tell: none, clock only, no year, local, zoned."""
        return self._memory.clock.style

    @property
    def position(self) -> Position:
        """The first byte that is not turned into observations yet, and its line."""
        held = [line for stream in self._memory.streams.values() for line in stream.held()]
        held += self._unwrapper.held()
        held += [self._finder.held] if self._finder.held is not None else []
        first = min(held, key=lambda line: line.offset, default=None)
        if first is not None:
            return Position(first.offset, first.number)
        return Position(self._splitter.offset, self._splitter.line)

    def recent_lines(self, rank: int | None) -> tuple[str, ...]:
        """The last lines of a rank as they were printed, the newest last."""
        return tuple(line.text for line in self.recent_evidence(rank))

    def recent_evidence(self, rank: int | None) -> tuple[Evidence, ...]:
        """The same, each with its number."""
        streams = [stream for stream in self._memory.streams.values() if stream.origin.rank == rank]
        return tuple(Evidence(self.file, number, text) for stream in streams for number, text in stream.recent)

    # What it is fed

    def feed(self, data: bytes, received: float | None = None) -> list[Observation]:
        """What these bytes complete; `received` is the watcher's clock, None offline."""
        return each(self.feed_stretches(data, received))

    def feed_stretches(self, data: bytes, received: float | None = None) -> list[Told]:
        """The same, with step lines that look alike as stretches: much cheaper where they come by the thousand."""
        self._memory.seen_at = received
        if received is not None:
            self._heard_at = received
            self._memory.clock.assume_day(received)
        if self._splitter.has_partial:
            first = data.find(b"\n") + 1 or len(data)
            self._take_pieces(data[:first])
            data = data[first:]
        lines = self._splitter.whole_lines(data)
        if lines is None:
            self._take_redrawn(data)
        else:
            self._take_lines(lines)
        return self._hand_out_told()

    def idle(self, now: float) -> list[Observation]:
        """Live only: what waits for a continuation that does not come."""
        # A clock that was set back leaves no way to tell how long; what waits for hours is worse than what is cut.
        waited = abs(now - (self._heard_at if self._heard_at is not None else now))
        self._memory.seen_at = now
        if waited >= RECORD_WAITS_SECONDS:
            self._sampler.flush_all()
        else:
            self._sampler.flush_late(now, RECORD_WAITS_SECONDS)
        if waited >= PARTIAL_WAITS_SECONDS:
            self._take_partial()
        return self._hand_out()

    def close(self) -> list[Observation]:
        """The end of the source."""
        self._take_partial()
        for line in self._unwrapper.release():
            self._read(line)
        self._finder.release()
        self._sampler.flush_all()
        return self._hand_out()

    def _take_partial(self) -> None:
        piece = self._splitter.partial()
        if piece is not None and piece[0]:
            self._take(piece)
            self._sampler.flush_all()

    def _hand_out(self) -> list[Observation]:
        return each(self._hand_out_told())

    def _hand_out_told(self) -> list[Told]:
        out, self._memory.out = self._memory.out, []
        return out

    # Many lines

    def _take_pieces(self, data: bytes) -> None:
        for piece in self._splitter.split(data):
            if piece[0]:
                if piece[4] or not piece[0].isspace():  # blanks wipe a bar from the screen
                    self._take(piece)
            elif piece[4]:
                self._line = None  # a line that begins with its redraw owes nothing to the one before it

    def _take_redrawn(self, data: bytes) -> None:
        """Lines that are rewritten: those of a Trainer's bar and its dicts together, where they just go on."""
        redrawn = self._splitter.redrawn_lines(data)
        if redrawn is None or len(redrawn.raws) <= FEWEST:
            self._take_pieces(data)
            return
        place, ends, waits, try_at = 0, len(redrawn.raws), 1, 0
        while place < ends:
            woven = self._weaver.take(redrawn.raws, place, redrawn.number, redrawn.offsets) if place >= try_at else None
            if woven is not None:
                self._memory.out.append(woven)
                place, waits = place + len(woven), 1
                self._splitter.go_on_at(redrawn.number + place, redrawn.offsets[place])
            elif place >= try_at:
                try_at, waits = place + waits, min(2 * waits, _LONGEST_WAIT)
            self._take_pieces(redrawn.raws[place] + b"\n")
            place += 1
        self._take_pieces(redrawn.rest)

    def _take_lines(self, lines: Lines) -> None:
        place, ends, waits, try_at, in_a_row = 0, len(lines.printed), 1, 0, 1
        while place < ends:
            stretch = self._stretcher.take(lines, place) if place >= try_at else None
            if stretch is not None:
                self._memory.out.append(stretch)
                place += len(stretch)
                waits = 1
                continue
            if place >= try_at:  # the longer it fails, the more rarely it is tried
                try_at, waits = place + waits, min(2 * waits, _LONGEST_WAIT)
            printed, before = lines.printed[place], len(self._memory.out)
            if printed:
                self._take_printed(printed, lines.offsets[place], lines.number + place)
            place += 1
            in_a_row = in_a_row + 1 if place > 1 and printed == lines.printed[place - 2] else 1
            if in_a_row >= TOLD_SINGLY and in_a_row % TOLD_SINGLY == 0:
                place += self._tell_again(lines, place, self._memory.out[before:])

    def _tell_again(self, lines: Lines, place: int, told: Sequence[Told]) -> int:
        """Say for the lines from here on that are the one just read what it said; how many they are."""
        printed, memory = lines.printed, self._memory
        # They are counted only where they are left out: else the same ones would be counted again and again.
        if not tells_the_same_again(self, told):
            return 0
        others = (at for at in range(place, len(printed)) if printed[at] != printed[place - 1])
        times = next(others, len(printed)) - place
        if not times:
            return 0
        assert self._line is not None
        self._unwrapper.count_alike(times)
        stream = memory.stream_of(self._line.stream)
        for number in range(max(0, times - (stream.recent.maxlen or 0)), times):
            stream.remember(self._line.printed, lines.number + place + number)
        symptoms = tuple(one for one in told if isinstance(one, Symptom))
        if symptoms:
            memory.out += Again(symptoms, times, lines.offsets[place] - lines.offsets[place - 1]).each()
        return times

    # One line

    def _take(self, piece: Piece) -> None:
        raw, offset, number, before, starts_line = piece
        self._take_printed(raw.decode("utf-8", "replace"), offset, number, before, starts_line=starts_line)

    def _take_printed(
        self, printed: str, offset: int, number: int, before: bytes = b"", *, starts_line: bool = True
    ) -> None:
        line = Line(printed, number, offset, before, self._origin)
        if "#0" in printed:
            printed = line.text = unescape(printed)
        if "\x1b" in printed or "\b" in printed:
            line.text = strip_escapes(printed)
        if starts_line:
            self._line = line
            if not self._unwrapper.unwrap(line):
                return
        elif self._line is not None:
            line.origin, line.stream, line.time = self._line.origin, self._line.stream, self._line.time
        if "\r" in line.text:  # a container runtime has put a whole bar into one line
            for part in line.text.split("\r"):
                if part:
                    self._read(line.part(strip_escapes(part)))
        else:
            self._read(line)

    def _read(self, line: Line) -> None:
        text = line.text
        for shape in () if "%|" in text else self._shapes.known:  # a bar is always read as one
            read = shape.read(text)
            if read is not None:
                values, stamp, rank = read
                if stamp is not None:
                    line.time = self._memory.clock.read(stamp)
                if rank is not None:
                    line.origin = self._memory.with_rank(line.origin, rank)
                self._sampler.take(line, values, shape.name, shape.found)
                return
        self._read_slowly(line)

    def _read_slowly(self, line: Line) -> None:
        if self._memory.is_full:
            self._sampler.forget()
        stream = self._memory.stream_of(line.stream)
        text = line.text
        if self._finder.read_own(line):
            return
        if len(text) <= LONGEST:
            self._finder.hear_heading(text)
        if is_bar(text) and not is_yolo_row(text) and self._read_bar(stream, line):
            return
        if text.isspace():
            return
        if opens_epoch(text):
            self._sampler.release_bars(stream)
            stream.bars.begin_epoch()
        has_metric = has_metric_word(text)
        may_open = has_metric or text[-1:] in OPENERS or text[:2] == "{'"
        if stream.open or may_open:
            done: list[Step] = []
            taken = stream.read_record(line, done, may_open=may_open)
            self._sampler.take_all(done)
            if taken:
                stream.remember(line.printed, line.number)
                return
        if has_metric and self._finder.read(line):
            return
        stream.remember(line.printed, line.number)
        if not self._noticer.notice(line) and has_metric and self._is_metric(text):
            self._memory.count_unread(line)

    def _is_metric(self, text: str) -> bool:
        """Whether somebody may miss the numbers of a line."""
        if looks_like_metrics(text):
            return not (self._memory.has_losses and tells_no_loss(text))
        # Without our words it is one that comes again and again in a log that tells no loss otherwise.
        return tells_values(text) and not self._memory.has_losses and self._memory.comes_again(text)

    def _read_bar(self, stream: Stream, line: Line) -> bool:
        bars, rest = stream.bars.read(line)
        self._sampler.take_bars(stream, bars)
        if rest is None:
            return False
        if stream.bars.phase is not None:
            self._noticer.mark_phase(line, stream.bars.phase)
            stream.bars.phase = None
        rest = rest.strip()
        if rest:
            self._read(line.part(rest))
        return True
