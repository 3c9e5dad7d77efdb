r"""Hugging Face's bars and dicts as columns: lines that a bar is redrawn on and that end with a dict.

`\r 1%| | 9/900 […]\r 1%| | 10/900 […]\r      \r{'loss': 2.1, …}` is taken apart at its CRs, and every piece must differ
from one that was read before by its digits alone, as whole lines must elsewhere. What is woven is what could only
mean one thing: the bar counts up, nothing waits, and each dict fits the bar in front of it and the interval that
is known. Whatever else a line is takes the common way, and so does the last line of every stretch: it leaves the
bar and the newest dict as they would be.
"""
# ruff: noqa: SLF001 - moves the same counters, bars and implied steps as the reader of single lines

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diagnosis.formats.bulk.bar_layout import BAR_NAMES, BLANK, bar_layout, blank_layout
from diagnosis.formats.bulk.block import StepBlock, Whole
from diagnosis.formats.bulk.chunk import UNKNOWN, Chunk, Rows
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.dict_layout import DictLayout, is_known
from diagnosis.formats.bulk.layout import Layout
from diagnosis.formats.bulk.learning import layout_of
from diagnosis.formats.bulk.moving import move
from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.formats.line import Line
from diagnosis.formats.memory import Memory
from diagnosis.formats.reader import Position
from diagnosis.formats.sampling import BAR, Sampler
from diagnosis.formats.shapes import Shape, Shapes
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.formats.weaver import is_calm
from diagnosis.observations import Origin, StepKind, StepSample

FEWEST = 8
MOST_LAYOUTS = 256
TRIED_PER_CHUNK = 64
POOR = 4
SETTLED = 16
"""So many lines must have taught nothing: a new shape may make layouts void."""
_LONGEST_PAUSE = 32
_LONGEST_WAIT = 64
_BLANK, _BAR, _DICT, _OTHER = range(4)


@dataclass(frozen=True, slots=True)
class Woven:
    """The points of a bar and those of the dicts between its redraws."""

    bars: StepBlock
    dicts: StepBlock
    bars_before: Whole
    """How many points of the bar come before each dict."""

    def __len__(self) -> int:
        return len(self.bars) + len(self.dicts)

    def samples(self, start: int = 0, stop: int | None = None) -> Iterator[StepSample]:
        """All points in the order of the log; or some dicts, each with the points of the bar in front of it."""
        at = int(self.bars_before[start - 1]) if start else 0
        for place, ends in enumerate(self.bars_before[start:stop].tolist(), start):
            yield from self.bars.samples(at, ends)
            yield self.dicts.sample(place)
            at = ends


class Weaver:
    """Finds what can be woven among the lines of one source."""

    def __init__(self, origin: Origin, memory: Memory, shapes: Shapes, sampler: Sampler) -> None:
        self._origin = origin
        self._memory = memory
        self._shapes = shapes
        self._sampler = sampler
        self._layouts: list[Layout | DictLayout] = []
        self._learned = self._settled = 0
        """The shapes that had been learned when the layouts were, and how many lines were read since."""
        self._chunk: Chunk | None = None
        self.first = Position(0, 1)
        self._pieces: Chunk | None = None
        self._pause = self._paused = 0
        """Chunks that are left out, for a log in which there is nothing to weave."""
        self._has_woven = True
        self._try_at, self._waits = 0, 1
        """The longer it fails, the more rarely it is tried."""

    def begin(self, chunk: Chunk, first: Position) -> None:
        """The next piece of the log, and where it begins."""
        self.first = first
        if self._pieces is not None:
            self._pause = 0 if self._has_woven else min(max(1, 2 * self._pause), _LONGEST_PAUSE)
            self._paused = 0
        elif self._pause:
            self._paused += 1
        self._pieces, self._has_woven, self._try_at = None, False, 0
        self._chunk = chunk if chunk.has_redraws and self._paused >= self._pause else None

    def weave(self, row: int) -> tuple[Woven, int] | None:
        """The points of the lines from `row` on and the first line that is not among them; None: read it singly."""
        chunk = self._chunk
        stream = self._memory.streams.get(id(self._origin))
        if chunk is None or stream is None or not is_calm(self._memory, stream):
            return None
        bar, told = (self._sampler.counter_of(self._origin, name) for name in (BAR, DICT.name))
        if bar is None or told is None or bar.last is None or told.last is None:
            return None
        if self._learned != self._shapes._learned:
            self._layouts = [layout for layout in self._layouts if self._first_shape(layout.text) is layout.shape]
            self._learned, self._settled, self._pieces = self._shapes._learned, 0, None
        self._settled += 1
        if self._settled < SETTLED:
            return None
        if self._pieces is None:
            self._sort(chunk)
        if row < self._try_at:
            return None
        stop = self._fits_until(row)
        woven = _Draft(self, row, stop, stream, (bar, told)) if stop - row > FEWEST else None
        count = woven.cut() - 1 if woven is not None else 0  # the last one takes the common way
        if woven is None or count < FEWEST:
            self._try_at, self._waits = row + self._waits, min(2 * self._waits, _LONGEST_WAIT)
            return None
        self._has_woven, self._waits = True, 1
        return woven.take(count), row + count

    # Pieces

    def _sort(self, chunk: Chunk) -> None:
        """Take the lines apart and find out what each piece is."""
        pieces, self.firsts = chunk.at_redraws()
        self._pieces = pieces
        for layout in self._layouts:
            pieces.fit(layout)
        left, row = TRIED_PER_CHUNK, 0
        while left:
            unknown = np.flatnonzero((pieces.layout_of[row:] == UNKNOWN) & (pieces.lengths[row:] > 0))
            if not len(unknown):
                break
            row += int(unknown[0])
            learned = self._layout_of(pieces.line(row))
            left -= 1
            if learned is not None:
                left += pieces.fit(learned, row) > POOR
                self._layouts.insert(0, learned)
            row += 1
        del self._layouts[MOST_LAYOUTS:]
        self._classify(pieces)

    def _layout_of(self, raw: bytes) -> Layout | DictLayout | None:
        if not raw.strip(b" "):
            return blank_layout(raw, self._origin)
        if b"%|" in raw:
            return bar_layout(raw, self._origin)
        if raw[:2] != b"{'":
            return None
        line = Line(raw.decode("utf-8", "replace"), 0, 0, b"", self._origin)
        shape = self._first_shape(line.text)
        if shape is None or shape.name != DICT.name or shape.found.kind != "implied":
            return None
        if is_known(self._layouts, raw, shape):
            return None
        return layout_of(raw, line, shape, has_step=False)

    def _first_shape(self, text: str) -> Shape | None:
        """What reads a dict; None for bars and blanks."""
        return next((shape for shape in self._shapes.known if shape.read(text) is not None), None)

    def _classify(self, pieces: Chunk) -> None:
        kinds = np.array([_kind_of(group.dialect) for group in pieces.groups] + [_OTHER], np.int8)
        self.kinds = kinds[pieces.group_of]
        self.kinds[pieces.lengths == 0] = _BLANK
        self.ends: Rows = np.append(self.firsts[1:], len(pieces))
        last = self.ends - 1
        dicts, self.bars = (
            np.add.reduceat((self.kinds == kind).astype(np.int64), self.firsts) for kind in (_DICT, _BAR)
        )
        good = (
            (pieces.lengths[self.firsts] == 0)
            & (self.kinds[last] == _DICT)
            & (dicts == 1)
            & (self.bars > 0)
            & (np.maximum.reduceat(self.kinds, self.firsts) < _OTHER)
        )
        self._group_at = np.where(good, pieces.group_of[last], UNKNOWN)

    def _fits_until(self, row: int) -> int:
        group = self._group_at[row]
        if group == UNKNOWN:
            return row
        others = np.flatnonzero(self._group_at[row:] != group)
        return row + int(others[0]) if len(others) else len(self._group_at)


class _Draft:
    """Lines that may be woven, from `row` to before `stop`."""

    def __init__(self, weaver: Weaver, row: int, stop: int, stream: Stream, counters: tuple[Steps, Steps]) -> None:
        assert weaver._pieces is not None
        self._weaver = weaver
        self._pieces = weaver._pieces
        self._row = row
        self._stream = stream
        self._bar_counter, self._dict_counter = counters
        firsts = weaver.firsts[row:stop]
        self._starts = self._pieces.starts[firsts]
        self._dicts: Rows = weaver.ends[row:stop] - 1
        self._bars: Rows = firsts[0] + np.flatnonzero(weaver.kinds[firsts[0] : self._dicts[-1]] == _BAR)
        per_line = weaver.bars[row:stop]
        self._line_of: Rows = np.repeat(np.arange(len(firsts)), per_line)
        self._newest: Rows = np.cumsum(per_line) - 1
        """The last bar of each line."""
        columns = self._pieces.columns(int(self._pieces.group_of[self._bars[0]]))
        self._of_bars = {name: columns[name][self._bars] for name in BAR_NAMES}
        self._counts: Whole = self._of_bars["n"].astype(np.int64)
        implied = stream.implied
        assert implied._last is not None
        assert implied.interval is not None
        self._steps: Whole = implied._last + implied.interval * np.arange(1, len(firsts) + 1)

    def cut(self) -> int:
        """How many lines from the first on do nothing but go on."""
        bars, bar, counter = self._stream.bars, self._bar_counter, self._dict_counter
        assert bars._last is not None
        if bar._epoch != float(bars._lap) or int(self._steps[0]) < max(counter._within, _told(counter)):
            return 0
        lines, told = len(self._dicts), self._of_bars
        bad = (told["total"] != bars._total) | ~(told["rate"] > 0.0) | (self._counts < 1)
        bad |= np.diff(self._counts, prepend=max(bars._last[0], bar._within, _told(bar))) < 0
        stop = int(self._line_of[bad.argmax()]) if bad.any() else lines
        misfit = self._counts[self._newest] != self._steps
        return min(stop, int(misfit.argmax())) if misfit.any() else stop

    def take(self, count: int) -> Woven:
        """The points of so many lines; leaves everything as it would be after each of them."""
        bars, implied = self._stream.bars, self._stream.implied
        assert bars._last is not None
        used = int(self._newest[count - 1]) + 1
        counts, line_of = self._counts[:used], self._line_of[:used]
        # A bar counts when something else follows than its like, and only once for each count.
        released = np.append((counts[1:] != counts[:-1]) | (line_of[1:] != line_of[:-1]), [True])
        places = np.flatnonzero(released)
        places = places[np.diff(counts[places], prepend=bars._last[0]) != 0]
        newest = int(self._steps[count - 1])
        woven = Woven(
            self._of_bar(places),
            self._of_dicts(count),
            np.cumsum(np.bincount(line_of[places], minlength=count)),
        )
        bars._last = (newest, None)
        implied._last = implied.bar = newest
        implied._position += count
        return woven

    def _of_bar(self, places: Rows) -> StepBlock:
        told = {name: column[places] for name, column in self._of_bars.items()}
        counter, counts = self._bar_counter, self._counts[places]
        steps = counts + counter._offset
        move(counter, steps)
        counter._within = int(counts[-1])
        rate = told["rate"]
        columns = {
            "total_steps": told["total"],
            "elapsed_seconds": told["hours"] * 3600 + told["minutes"] * 60 + told["seconds"],
            "step_seconds": np.where(told["is_speed"] > 0, 1 / rate, rate),
        }
        return self._block("printed", steps, columns, self._line_of[places], self._bars[places])

    def _of_dicts(self, count: int) -> StepBlock:
        rows, counter = self._dicts[:count], self._dict_counter
        group = self._pieces.columns(int(self._pieces.group_of[rows[0]]))
        fields = {name: column[rows] for name, column in group.items()}
        steps = self._steps[:count]
        if "epoch" in fields:
            counter._epoch, counter._within = float(fields["epoch"][-1]), int(steps[-1])
            steps = steps + counter._offset
        move(counter, steps)
        counter.losses += count if "loss" in fields else 0
        for place in range(max(0, count - (self._stream.recent.maxlen or 0)), count):
            raw = self._pieces.line(int(rows[place]))
            self._stream.remember(raw.decode("utf-8", "replace"), self._weaver.first.line + self._row + place)
        return self._block("implied", steps, fields, np.arange(count), rows)

    def _block(self, kind: StepKind, steps: Whole, columns: dict[str, Floats], line_of: Rows, rows: Rows) -> StepBlock:
        pieces, starts, first = self._pieces, self._starts[line_of], self._weaver.first

        def printed(place: int) -> str:
            row = int(rows[place])
            return redrawn(pieces.data[int(starts[place]) : int(pieces.starts[row])], pieces.line(row))

        return StepBlock.of(
            self._weaver._memory.file,
            self._weaver._origin,
            kind,
            steps,
            columns,
            None,
            first.line + self._row + line_of,
            first.offset + pieces.starts[rows],
            printed,
        )


def redrawn(before: bytes, piece: bytes) -> str:
    """A piece as evidence shows it: behind what was redrawn."""
    return (before[-MAX_EVIDENCE:].decode("utf-8", "replace") + piece.decode("utf-8", "replace"))[-MAX_EVIDENCE:]


def _told(counter: Steps) -> int:
    """The newest step as lines print it."""
    return (counter.last or 0) - counter._offset


def _kind_of(dialect: str) -> int:
    return {BLANK: _BLANK, BAR: _BAR, DICT.name: _DICT}[dialect]
