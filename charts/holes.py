"""Where no value could be drawn: stretches of NaN and Inf, however many there are."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from charts.columns import Columns, Floats
from charts.look import Ink
from charts.sketch import Flag, Shade, Shape
from charts.words import say_nonfinite, say_step
from diagnosis.series import Mark

NONFINITE = "nonfinite"
LEAST_IN_A_ROW = 3
"""From so many non-finite points on, a stretch is shaded."""
MOST_CROSSES = 40
MOST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Holes:
    """Stretches of non-finite points, one row each, ordered by their first step."""

    first: Floats
    last: Floats
    count: NDArray[np.intp]
    value: Floats
    """The stretch's first value: NaN, Inf or −Inf."""
    goes_on: NDArray[np.bool_]
    """No finite point follows."""

    def __len__(self) -> int:
        return len(self.first)

    def pick(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "Holes":
        """Only these stretches."""
        return Holes(self.first[which], self.last[which], self.count[which], self.value[which], self.goes_on[which])

    def within(self, first: float, last: float) -> "Holes":
        """The stretches that can be seen between two steps."""
        return self.pick((self.last >= first) & (self.first <= last))

    def say(self, index: int) -> str:
        """One stretch in words: `NaN from 41,200`."""
        what, first, last = say_nonfinite(float(self.value[index])), say_step(self.first[index]), self.last[index]
        if self.count[index] == 1:
            return f"{what} at {first}"
        return f"{what} from {first}" if self.goes_on[index] else f"{what} {first}–{say_step(last)}"


def holes_of(columns: Columns, marks: Iterable[Mark]) -> Holes:
    """Every stretch without a finite value, from the rows and from marks that thinned rows have lost."""
    in_rows = _holes_in_rows(columns)
    wanted = [mark for mark in marks if mark.kind == NONFINITE and mark.step is not None]
    if not wanted:
        return in_rows
    step = np.array([mark.step for mark in wanted], dtype=np.float64)
    value = np.array([math.nan if mark.value is None else mark.value for mark in wanted], dtype=np.float64)
    order = np.argsort(step, kind="stable")
    step, value = step[order], value[order]
    before = np.searchsorted(in_rows.first, step, side="right") - 1
    is_known = (before >= 0) & (step <= in_rows.last[before]) if len(in_rows) else np.zeros(len(step), dtype=np.bool_)
    if is_known.all():
        return in_rows
    lost = _holes_of_marks(step[~is_known], value[~is_known], np.sort(columns.step[columns.is_finite]))
    both = Holes(*(np.concatenate(pair) for pair in zip(_parts(in_rows), _parts(lost), strict=True)))
    return both.pick(np.argsort(both.first, kind="stable"))


def _parts(holes: Holes) -> tuple[NDArray[np.generic], ...]:
    return (holes.first, holes.last, holes.count, holes.value, holes.goes_on)


def _holes_in_rows(columns: Columns) -> Holes:
    bad = np.flatnonzero(~columns.is_finite)
    is_start = np.append(True, np.diff(bad) != 1)[: len(bad)]
    is_end = np.append(is_start[1:], True)[: len(bad)]
    starts, ends = bad[is_start], bad[is_end] + 1
    first, last = columns.step[starts], columns.step[ends - 1]
    holes = Holes(
        np.minimum(first, last), np.maximum(first, last), ends - starts, columns.value[starts], ends == len(columns)
    )
    return holes.pick(np.argsort(holes.first, kind="stable"))


def _holes_of_marks(step: Floats, value: Floats, finite: Floats) -> Holes:
    """Marks belong to one stretch while no finite point lies between them."""
    place = np.searchsorted(finite, step, side="right")
    starts = np.flatnonzero(np.append(True, place[1:] != place[:-1])[: len(step)])
    ends = np.append(starts[1:], len(step))[: len(starts)].astype(np.intp)
    return Holes(step[starts], step[ends - 1], ends - starts, value[starts], place[starts] == len(finite))


def flags_of_holes(holes: Holes, first: float, last: float) -> tuple[tuple[Flag, ...], tuple[Shade, ...]]:
    """A cross at the upper edge where holes begin, no denser than can be seen, and a shade over the long ones."""
    seen = holes.within(first, last)
    if not len(seen):
        return (), ()
    span = last - first or 1.0
    place = np.floor((np.maximum(seen.first, first) - first) / span * MOST_CROSSES)
    crosses = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
    speakers = {0, int(seen.count.argmax())}
    if len(speakers) < MOST_WORDS:
        speakers.add(len(seen) - 1)
    flags = [
        Flag(
            x=max(float(seen.first[index]), first),
            y=math.inf,
            shape=Shape.CROSS,
            ink=Ink.BAD,
            kind=NONFINITE,
            says=seen.say(index) if index in speakers else "",
            weight=1e6 if index == 0 else 1e4,
        )
        for index in sorted({*crosses.tolist(), *speakers})
    ]
    return tuple(flags), _shades_of(seen, first, last)


def _shades_of(seen: Holes, first: float, last: float) -> tuple[Shade, ...]:
    long = seen.pick(seen.count >= LEAST_IN_A_ROW)
    if len(long) > 4 * MOST_CROSSES:
        long = long.pick(np.sort(np.argsort(long.first - long.last, kind="stable")[: 4 * MOST_CROSSES]))
    return tuple(
        Shade(max(float(start), first), min(float(end), last)) for start, end in zip(long.first, long.last, strict=True)
    )


def count_words(seen: Holes) -> str:
    """How many points these are: `NaN × 312`."""
    kinds = {say_nonfinite(float(value)) for value in seen.value[:1000]}
    what = kinds.pop() if len(kinds) == 1 else "NaN or Inf"
    count = int(seen.count.sum())
    return what if count == 1 else f"{what} × {count:,}"
