"""Which part of a run is asked for: the last 2 h, the last 500 points, the steps from A to B."""

import math
from array import array
from dataclasses import dataclass, replace

from diagnosis.durations import parse_duration
from diagnosis.series import RunSeries, Series
from handlers.arguments import WrongWords

MOST_POINTS = 4096
"""The newest points the registry keeps exact."""


@dataclass(frozen=True, slots=True)
class Part:
    """What to show; nothing set: the whole run."""

    seconds: float | None = None
    points: int | None = None
    first: int | None = None
    last: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing was asked for but the run."""
        return self == Part()


def read_part(last: str | None, steps: str | None) -> Part:
    """`--last 2h|500` and `--steps A..B` as typed.

    Raises:
        WrongWords: Neither a duration nor a number, or no range.
    """
    if last is not None and steps is not None:
        raise WrongWords("Take either `--last` or `--steps`, not both.")
    if last is not None:
        return _read_last(last)
    return _read_steps(steps) if steps is not None else Part()


def select(series: RunSeries, part: Part) -> RunSeries:
    """The wanted part of a run, with its own marks."""
    if part.is_whole:
        return series
    if part.first is not None or part.last is not None:
        low = -math.inf if part.first is None else part.first
        high = math.inf if part.last is None else part.last
        return _between(series, low, high)
    newest = _longest(series)
    if not len(newest):
        return series
    if part.points is not None:
        return _between(series, newest.steps[max(0, len(newest) - part.points)], math.inf, since_point=part.points)
    times = [time for time in newest.times if time == time]  # noqa: PLR0124 - NaN: the time is not known
    if not times or part.seconds is None:
        raise WrongWords("This log prints no times, so `--last` needs a number of points: `--last 500`.")
    since = max(times) - part.seconds
    first = next((step for step, time in zip(newest.steps, newest.times, strict=True) if time >= since), math.inf)
    return _between(series, first, math.inf)


def _read_last(text: str) -> Part:
    plain = text.replace(",", "").replace("_", "")
    if plain.isdecimal() and plain.isascii():
        points = int(plain[:12])
        if points < 2:
            raise WrongWords("`--last` needs at least 2 points: `--last 500`, or a time such as `--last 2h`.")
        return Part(points=points)
    seconds = parse_duration(text)
    if not seconds:
        raise WrongWords(f"`--last {text}` is neither a time nor a number of points: `--last 2h` or `--last 500`.")
    return Part(seconds=seconds)


def _read_steps(text: str) -> Part:
    first, dots, last = text.replace(",", "").replace("_", "").replace("…", "..").partition("..")
    numbers = [part.strip() for part in (first, last)]
    if not dots or not all(number.isdecimal() and number.isascii() for number in numbers if number) or not any(numbers):
        raise WrongWords(f"`--steps {text}` is no range: `--steps 41000..41300`; one end may be left out.")
    part = Part(first=int(first[:15]) if numbers[0] else None, last=int(last[:15]) if numbers[1] else None)
    if part.first is not None and part.last is not None and part.first > part.last:
        raise WrongWords(f"`--steps {text}` ends before it begins.")
    return part


def _longest(series: RunSeries) -> Series:
    return max((series.loss, series.grad_norm, series.lr), key=len)


def _between(series: RunSeries, first: float, last: float, *, since_point: int | None = None) -> RunSeries:
    marks = tuple(mark for mark in series.marks if mark.step is None or first <= mark.step <= last)
    return replace(
        series,
        loss=_cut(series.loss, first, last, since_point),
        grad_norm=_cut(series.grad_norm, first, last, since_point),
        lr=_cut(series.lr, first, last, since_point),
        marks=marks,
    )


def _cut(series: Series, first: float, last: float, since_point: int | None) -> Series:
    start = max(0, len(series) - since_point) if since_point is not None else 0
    kept = [place for place in range(start, len(series)) if first <= series.steps[place] <= last]

    def pick(column: "array[float]") -> "array[float]":
        return array("d", (column[place] for place in kept)) if len(column) else array("d")

    return Series(
        series.metric,
        pick(series.steps),
        pick(series.times),
        pick(series.values),
        pick(series.lows),
        pick(series.highs),
    )
