"""Reads a whole log fast: lines like others as columns, all others as `LogReader` reads them, in order.

A line goes into a block only when it differs from one that `LogReader` has read by its digits alone, byte by
byte; so a block means what the single lines would have meant. Whatever else happens on such a line (a step
that goes back, a counter that begins again) is cut out and takes the common way.
"""
# ruff: noqa: SLF001 - the same reader at another speed: it moves the same counters, clocks and streams

from collections.abc import Callable

import numpy as np

from diagnosis.formats.again import Again
from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.chunk import CR, UNKNOWN, Chunk, Rows
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.dict_layout import MARGIN, DictLayout, is_known
from diagnosis.formats.bulk.dicts import DictRows, block_of
from diagnosis.formats.bulk.layout import Group, Layout
from diagnosis.formats.bulk.learning import layout_of
from diagnosis.formats.bulk.moving import move
from diagnosis.formats.bulk.stamps import times_of
from diagnosis.formats.bulk.weaving import Weaver, Woven
from diagnosis.formats.dialects import GENERAL
from diagnosis.formats.echoes import KEPT_CALLBACKS
from diagnosis.formats.hygiene import MAX_LINE_BYTES
from diagnosis.formats.line import Line
from diagnosis.formats.reader import LogReader, Position
from diagnosis.formats.settings import ReadSettings
from diagnosis.formats.settled import TOLD_SINGLY, tells_the_same_again
from diagnosis.formats.steps import Steps
from diagnosis.observations import Observation, Origin, StepSample, Symptom

Item = Observation | StepBlock | Woven | Again

CHUNK = 1 << 20
KEPT = 4 << 20
"""Memory that is not given back between two chunks: to get it anew takes longer than to read what is in it."""
FEWEST = 8
"""Shorter runs are read line by line."""
MOST_LAYOUTS = 64
LEARNED_PER_CHUNK = 24
POOR = 4
"""A layout that fits fewer lines of its chunk than this was not worth its proof."""


class BulkReader(LogReader):
    """`LogReader` for files: `read` takes any bytes and gives observations and blocks."""

    def __init__(self, file: str, origin: Origin, *, settings: ReadSettings | None = None) -> None:
        super().__init__(file, origin, settings=settings)
        np.empty(KEPT, np.uint8)  # glibc keeps up to twice what was once given back
        self._layouts: list[Layout | DictLayout] = []
        self._bulk_weaver = Weaver(self._origin, self._memory, self._shapes, self._sampler)
        self._rest = b""
        self._chunk = Chunk(b"\n" + MARGIN, 1)
        self._first = Position(0, 1)
        """Where the chunk begins."""
        self._left = 0
        """Layouts that may still be proven in this chunk."""
        self._newest = b""
        """The line that was read last."""
        self._in_a_row = 0
        """How often it was read, with nothing in between."""
        self._told_before = 0
        """What waited to be handed out before it."""

    def read(self, data: bytes) -> list[Item]:
        """What these bytes complete."""
        if self._splitter.has_partial or not self._splitter._starts_line:
            self._in_a_row = 0
            first = data.find(b"\n") + 1
            items: list[Item] = list(self.feed(data[:first] if first else data))
            return [*items, *self.read(data[first:])] if 0 < first < len(data) else items
        data = b"".join((self._rest, data, MARGIN))
        end = data.rfind(b"\n") + 1
        self._rest = data[end : -len(MARGIN)]
        items = self._read_chunk(Chunk(data, end)) if end else []
        if len(self._rest) > MAX_LINE_BYTES:
            self._in_a_row = 0
            items += self.feed(self._rest)
            self._rest = b""
        return items

    def finish(self) -> list[Item]:
        """The end of the source."""
        rest, self._rest = self._rest, b""
        return [*self.feed(rest), *self.close()]

    def go_on_in(self, file: str) -> list[Item]:
        """The source goes on in another file, whose lines are counted anew; what waits is given out."""
        self._sampler.flush_all()
        self._in_a_row = 0
        self._memory.file = file
        self._splitter.begin()
        return list(self._hand_out())

    # One chunk

    def _read_chunk(self, chunk: Chunk) -> list[Item]:
        items: list[Item] = []
        self._chunk, self._first = chunk, Position(self._splitter.offset, self._splitter.line)
        self._left = LEARNED_PER_CHUNK
        self._know(chunk, 0)
        self._bulk_weaver.begin(chunk, self._first)
        row, count = 0, len(chunk)
        while row < count:
            if chunk.has_redraws and chunk.data[chunk.starts[row]] == CR:
                row = self._weave(row, items)
                continue
            stop = self._run_from(row)
            is_run = stop - row >= FEWEST
            row = self._read_run(row, stop, items) if is_run else self._pass_again(self._read_line(row, items), items)
        self._splitter.line, self._splitter.offset = self._first.line + count, self._first.offset + chunk.size
        items += self._hand_out()
        return items

    def _weave(self, row: int, items: list[Item]) -> int:
        """Lines that a bar is redrawn on; the line behind them is read the common way."""
        woven = self._bulk_weaver.weave(row)
        if woven is not None:
            items += self._hand_out()
            items.append(woven[0])
            row = woven[1]
        return self._read_line(row, items)

    def _know(self, chunk: Chunk, first: int) -> None:
        """Sort the lines from `first` on by the layouts that are known."""
        for layout in self._layouts:
            chunk.fit(layout, first)

    def _run_from(self, row: int) -> int:
        """Where the lines end that stand in one group with this one."""
        groups = self._chunk.group_of
        group = groups[row]
        if group == UNKNOWN:
            return row
        size = FEWEST
        while True:
            others = np.flatnonzero(groups[row : row + size] != group)
            if len(others):
                return row + int(others[0])
            if row + size >= len(groups):
                return len(groups)
            size *= 8

    def _read_line(self, row: int, items: list[Item]) -> int:
        """One line the common way; learn its layout if it is a step."""
        chunk, memory = self._chunk, self._memory
        raw, number = chunk.line(row), self._first.line + row
        offset = self._first.offset + int(chunk.starts[row])
        if not raw:
            return row + 1
        known = self._shapes._learned
        if len(raw) > MAX_LINE_BYTES or b"\r" in raw or b"\0" in raw:
            self._splitter.line, self._splitter.offset = number, offset
            items += self.feed(raw + b"\n")
            self._in_a_row = 0
        else:
            self._in_a_row = self._in_a_row + 1 if raw == self._newest else 1
            self._newest = raw
            before = self._told_before = len(memory.out)
            self._take((raw, offset, number, b"", True))
            newest = memory.out[-1] if len(memory.out) > before else None
            is_step = isinstance(newest, StepSample) and newest.evidence.line == number
            if is_step and chunk.layout_of[row] == UNKNOWN:
                self._learn(raw, row)
        if self._shapes._learned != known:
            self._doubt(row + 1)
        return row + 1

    def _pass_again(self, row: int, items: list[Item]) -> int:
        """Count the lines from here on that are the one just read, where they can only say the same."""
        if self._in_a_row < TOLD_SINGLY or self._in_a_row % TOLD_SINGLY:
            return row
        chunk, memory = self._chunk, self._memory
        told = memory.out[self._told_before :]
        # They are counted only where they are left out: else the same ones would be counted again and again.
        if not tells_the_same_again(self, told):
            return row
        times = chunk.again(row - 1)
        if not times:
            return row
        assert self._line is not None
        self._unwrapper.count_alike(times)
        stream = memory.stream_of(self._line.stream)
        for number in range(max(0, times - (stream.recent.maxlen or 0)), times):
            stream.remember(self._line.printed, self._first.line + row + number)
        if told:
            items += self._hand_out()
            symptoms = tuple(one for one in told if isinstance(one, Symptom))
            items.append(Again(symptoms, times, int(chunk.starts[row] - chunk.starts[row - 1])))
        self._in_a_row += times
        return row + times

    # Layouts

    def _learn(self, raw: bytes, row: int) -> None:
        if not self._left or self._line is None:
            return
        line = self._line
        shape = next((shape for shape in self._shapes.known if shape.places(line.text) is not None), None)
        if shape is not None and is_known(self._layouts, raw, shape):
            return
        has_step = shape is not None and (shape.found.kind != "implied" or "step" in (*shape.names, *shape.constants))
        layout = layout_of(raw, line, shape, has_step=has_step) if shape is not None else None
        self._left -= 1
        if layout is None:
            return
        if self._chunk.fit(layout, row + 1) >= POOR:
            self._left += 1
        self._layouts.insert(0, layout)
        del self._layouts[MOST_LAYOUTS:]

    def _doubt(self, row: int) -> None:
        """A new shape was learned: lines that it reads first are not read by older ones any more."""
        known = self._shapes.known
        kept = []
        for layout in self._layouts:
            first = next((shape for shape in known if shape.places(layout.text) is not None), None)
            if first is layout.shape:
                kept.append(layout)
        if len(kept) < len(self._layouts):
            self._layouts = kept
            self._chunk.forget(row)
            self._know(self._chunk, row)

    # Runs

    def _read_run(self, row: int, stop: int, items: list[Item]) -> int:
        """Lines of one group: the first the common way, as it may release what waits; the rest as blocks."""
        number = self._chunk.group_of[row]
        group = self._chunk.groups[number]
        doubted = self._unwrapper._doubted
        row = self._read_line(row, items)
        line = self._line
        stop = min(stop, self._run_from(row))
        if line is None or stop - row < FEWEST or self._chunk.group_of[row] != number or self._unwrapper._parts:
            return row
        doubted = self._unwrapper._doubted - doubted
        if doubted and line.text == line.printed:
            return row  # something looks like an envelope and is not believed yet
        if group.kind == "implied":
            return self._read_dicts(line, row, stop, items, doubted)
        counter = self._sampler._counters.get((id(line.origin), group.dialect))
        is_same = line.origin == group.origin and line.stream == group.stream
        if counter is None or not is_same or counter.attempt != self._memory.attempt:
            return row
        end = self._cut(counter, row, stop)
        if end - row < FEWEST:
            return row
        times = self._times(group, row, end)
        if times is None and group.is_timed:
            return row
        self._unwrapper._lines += end - row
        self._unwrapper._doubted += doubted * (end - row)
        items += self._hand_out()
        items.append(self._block(group, line, counter, slice(row, end), times))
        return end

    def _read_dicts(self, line: Line, row: int, stop: int, items: list[Item], doubted: int) -> int:
        """Dicts that carry no step, in a log without the bar."""
        chunk, first = self._chunk, self._first
        number = chunk.group_of[row]
        offsets = first.offset + chunk.starts[row:stop]
        columns = {name: column[row:stop] for name, column in chunk.columns(number).items()}
        rows = DictRows(line, columns, first.line + row, offsets, self._printed(row))
        block = block_of(rows, self._memory, self._sampler, self._memory.stream_of(line.stream))
        if block is None:
            return row
        self._unwrapper._lines += stop - row
        self._unwrapper._doubted += doubted * (stop - row)
        items += self._hand_out()
        items.append(block)
        return stop

    def _cut(self, counter: Steps, row: int, stop: int) -> int:
        """The first line of a run on which something else happens than the next step."""
        columns = self._chunk.columns(self._chunk.group_of[row])
        told = columns.get("step", columns.get("step_in_epoch"))
        if told is None:
            return row
        values = told[row:stop]
        base = counter.base(within_epochs="epoch" in columns or "step" not in columns)
        last = float(counter.last - base) if counter.last is not None else 0.0
        bad = np.diff(values, prepend=last) < 0
        epochs = columns.get("epoch")
        if epochs is not None:
            known = counter._epoch if counter._epoch is not None else float(epochs[row])
            bad |= np.diff(epochs[row:stop], prepend=known) < 0
        return row + int(bad.argmax()) if bad.any() else stop

    def _times(self, group: Group, row: int, stop: int) -> Floats | None:
        chunk = self._chunk
        moments = chunk.moments(chunk.group_of[row]) if group.is_timed else None
        if moments is None:
            return None

        def stamp(place: int) -> str:
            layout = chunk.layout(row + place)
            raw = chunk.line(row + place)
            return raw[layout.stamp.start : layout.stamp.end].decode() if layout.stamp is not None else ""

        return times_of(moments.cut(row, stop), stamp, self._memory.clock)

    def _block(self, group: Group, line: Line, counter: Steps, rows: slice, times: Floats | None) -> StepBlock:
        chunk, memory = self._chunk, self._memory
        row, stop = rows.start, rows.stop
        columns = {name: column[row:stop] for name, column in chunk.columns(chunk.group_of[row]).items()}
        steps = _steps(columns, counter)
        _move(counter, columns, steps)
        if "skipped_total" in columns:
            columns["skipped_steps"] = _skipped(columns.pop("skipped_total"), counter)
        if "loss" in columns:
            counter.losses += stop - row
        stream = memory.stream_of(line.stream)
        for place in range(max(row, stop - (stream.recent.maxlen or 0)), stop):
            stream.remember(chunk.line(place).decode("utf-8", "replace"))
        if group.dialect == GENERAL.name and "loss" in columns:
            stream.hear_calls(steps[-KEPT_CALLBACKS:].tolist(), columns["loss"][-KEPT_CALLBACKS:].tolist())
        return StepBlock.of(
            memory.file,
            line.origin,
            group.kind,
            steps,
            columns,
            times,
            self._first.line + np.arange(row, stop),
            self._first.offset + chunk.starts[row:stop],
            self._printed(row),
        )

    def _printed(self, first: int) -> Callable[[int], str]:
        """Lines of the chunk as they were printed, counted from `first`."""
        chunk = self._chunk
        return lambda place: chunk.line(first + place).decode("utf-8", "replace")


def _steps(columns: dict[str, Floats], counter: Steps) -> Rows:
    """The global steps; takes out of the columns what only counts."""
    step = columns.pop("step", None)
    if step is not None and "epoch" not in columns:
        return step.astype(np.int64) + counter.base(within_epochs=False)
    within = columns.pop("step_in_epoch", None)
    told = within if step is None else step
    assert told is not None
    return told.astype(np.int64) + counter._offset


def _move(counter: Steps, columns: dict[str, Floats], steps: Rows) -> None:
    """Leave the counter as it would be after each of these lines."""
    if "epoch" in columns:
        counter._epoch, counter._within = float(columns["epoch"][-1]), int(steps[-1]) - counter._offset
    move(counter, steps)


def _skipped(totals: Floats, counter: Steps) -> Floats:
    highest = np.maximum.accumulate(np.concatenate(([counter._skipped], totals)))
    counter._skipped = float(highest[-1])
    grown: Floats = np.maximum(0.0, totals - highest[:-1])
    return grown
