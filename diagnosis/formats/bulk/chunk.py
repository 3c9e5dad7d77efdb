"""Some whole lines of a log, sorted by the layouts they fit."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.decimal import Digits, Floats
from diagnosis.formats.bulk.dict_layout import DictLayout
from diagnosis.formats.bulk.layout import Bytes, Group, Layout
from diagnosis.formats.bulk.stamps import Moments

Rows = NDArray[np.int64]

NONE: Rows = np.empty(0, np.int64)
UNKNOWN = -1
LF, CR = 10, 13
_MOST_COUNTED = 1024
"""Lines that are longer are counted together."""


class Chunk:
    """Lines of one piece of a log.

    The piece is what stands in `data` before `size`, and ends with a line end; `MARGIN` or more stands behind it.
    """

    def __init__(self, data: bytes, size: int, ends: Rows | None = None) -> None:
        self.data = data
        self.size = size
        self._bytes: Bytes = np.frombuffer(data, np.uint8)
        self.has_redraws = False
        """Some line is rewritten with CR."""
        self._marks = NONE
        """Where LF and CR stand, if there is a CR."""
        ends = self._ends() if ends is None else ends
        self.starts: Rows = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
        self.lengths: Rows = ends - self.starts
        if len(self._marks):
            self._leave_out_cr(ends, len(self._marks) - len(ends))
        self.layout_of = np.full(len(ends), UNKNOWN, np.int32)
        """For every line, the number of the layout that it fits."""
        self.groups: list[Group] = []
        self.group_of = np.full(len(ends), UNKNOWN, np.int32)
        """For every line, the number of the group it belongs to."""
        self._layouts: list[Layout | DictLayout] = []
        self._columns: list[dict[str, Floats]] = []
        self._moments: list[Moments | None] = []

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, row: int) -> bytes:
        """One line without its end."""
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])]

    def again(self, row: int) -> int:
        """How many lines right below are the same, byte for byte and with their ends."""
        if row + 1 >= len(self.starts):
            return 0
        start, size = int(self.starts[row]), int(self.starts[row + 1] - self.starts[row])
        line = self._bytes[start : start + size]
        found, look = 0, 1
        while True:
            begin = start + (found + 1) * size
            count = min(look, (self.size - begin) // size)
            if count <= 0:
                return found
            differs = (self._bytes[begin : begin + count * size].reshape(count, size) != line).any(axis=1)
            if differs.any():
                return found + int(differs.argmax())
            found, look = found + count, 8 * look

    def fit(self, layout: Layout | DictLayout, first: int = 0) -> int:
        """Sort in the lines from `first` on that fit a layout; how many they are."""
        if isinstance(layout, DictLayout):
            is_open = (self.layout_of[first:] == UNKNOWN) & (self.lengths[first:] >= layout.shortest)
            rows, columns = layout.read(self, first + np.flatnonzero(is_open))
            if len(rows):
                self._enter(layout, rows, columns)
            return len(rows)
        size = len(layout.line)
        if not self._has_any_of(size):
            return 0
        rows = first + np.flatnonzero((self.lengths[first:] == size) & (self.layout_of[first:] == UNKNOWN))
        if not len(rows):
            return 0
        digits, good = layout.match(self.at(self.starts[rows], size))
        if good is not None:
            rows = rows[good]
            if not len(rows):
                return 0
        return self._take(layout, rows, digits)

    def at(self, starts: Rows, size: int) -> Bytes:
        """So many bytes from each of these places on, one row each."""
        # Elements of `size` bytes that overlap: picking some of them copies each line in one piece.
        windows = np.ndarray((len(self._bytes) - size + 1,), f"V{size}", self._bytes, 0, (1,))
        return windows[starts].view(np.uint8).reshape(-1, size)

    def columns(self, group: int) -> dict[str, Floats]:
        """The numbers of a group's lines, in arrays as long as the chunk has lines."""
        return self._columns[group]

    def moments(self, group: int) -> Moments | None:
        """The printed times of a group's lines, likewise."""
        return self._moments[group]

    def layout(self, row: int) -> Layout | DictLayout:
        """The layout of a line that has one."""
        return self._layouts[int(self.layout_of[row])]

    def forget(self, row: int) -> None:
        """Let no layout apply to a line and to what follows it: shapes have changed."""
        self.layout_of[row:] = UNKNOWN
        self.group_of[row:] = UNKNOWN

    def at_redraws(self) -> "tuple[Chunk, Rows]":
        """The same with a line for each redraw, and with which of them each line begins."""
        are_ends = np.flatnonzero(self._bytes[self._marks] == LF)
        return Chunk(self.data, self.size, self._marks), np.concatenate((np.zeros(1, np.int64), are_ends[:-1] + 1))

    @cached_property
    def _sizes(self) -> Rows:
        """How many lines have so many bytes, or the most that are counted."""
        return np.bincount(np.minimum(self.lengths, _MOST_COUNTED))

    def _has_any_of(self, size: int) -> bool:
        place = min(size, _MOST_COUNTED)
        return place < len(self._sizes) and bool(self._sizes[place])

    def _ends(self) -> Rows:
        piece = self._bytes[: self.size]
        if self.data.find(b"\r", 0, self.size) < 0:
            return np.flatnonzero(piece == LF)
        marks: Rows = np.flatnonzero(piece <= CR)
        told = piece[marks]
        are_ends = told == LF
        known = are_ends | (told == CR)
        self._marks = marks if known.all() else marks[known]
        ends: Rows = marks[are_ends]
        return ends

    def _leave_out_cr(self, ends: Rows, count: int) -> None:
        """CR before LF is part of the line end; anywhere else it is a redraw."""
        before = self._bytes[np.maximum(ends - 1, 0)] == CR
        self.lengths = self.lengths - (before & (self.lengths > 0))
        self.has_redraws = count > int(np.count_nonzero(before))

    def _take(self, layout: Layout, rows: Rows, digits: Digits) -> int:
        columns, refused = layout.values(digits)
        if layout.no_loss is not None and "loss" in columns:
            none = columns["loss"] == layout.no_loss
            refused = none if refused is None else refused | none
        if refused is not None and refused.any():
            keep = ~refused
            rows, digits = rows[keep], digits[:, keep]
            columns = {name: column[keep] for name, column in columns.items()}
            if not len(rows):
                return 0
        number = self._enter(layout, rows, columns)
        moments = self._moments[number]
        if moments is not None and layout.stamp is not None:
            read = layout.stamp.read(digits)
            moments.minutes[rows], moments.seconds[rows] = read.minutes, read.seconds
            moments.fractions[rows] = read.fractions
        return len(rows)

    def _enter(self, layout: Layout | DictLayout, rows: Rows, columns: dict[str, Floats]) -> int:
        number = self._number_of(layout.group)
        first, last = int(rows[0]), int(rows[-1]) + 1
        where = slice(first, last) if last - first == len(rows) else rows  # copying in one piece is faster
        self.layout_of[where] = len(self._layouts)
        self.group_of[where] = number
        self._layouts.append(layout)
        for name, target in self._columns[number].items():
            target[where] = columns[name] if name in columns else layout.constants[name]
        return number

    def _number_of(self, group: Group) -> int:
        if group in self.groups:
            return self.groups.index(group)
        count = len(self)
        self.groups.append(group)
        self._columns.append({name: np.empty(count) for name in group.names})
        moments = Moments(np.empty(count, np.int64), np.empty(count), np.empty(count)) if group.is_timed else None
        self._moments.append(moments)
        return len(self.groups) - 1
