"""The shared step axis of a chart: from where to where, and what time it was at its marks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from charts.columns import Columns, Floats
from charts.sketch import Axis, StepTick
from charts.ticks import step_ticks
from charts.words import DAY, is_a_time, say_clock, say_day
from diagnosis.observations import StepKind

STEP_NAMES: dict[StepKind, str] = {
    "printed": "step",
    "implied": "step",
    "samples": "samples",
    "ordinal": "point",
    "none": "point",
}
"""What the axis counts, after where the step numbers come from."""


def axis_of(
    columns: Iterable[Columns], zoom: tuple[float, float] | None, step_kind: StepKind, most_ticks: int = 5
) -> Axis:
    """The axis over all these rows, or over the part asked for."""
    filled = [rows for rows in columns if len(rows)]
    if not filled and zoom is None:
        return Axis(0.0, 1.0, (), STEP_NAMES[step_kind])
    first, last = sorted(zoom) if zoom is not None else _extent(filled)
    clock = Clock.of(filled)
    ticks = step_ticks(first, last, most_ticks)
    clocks = _say_times([clock.at(tick.at) for tick in ticks])
    labels = tuple(StepTick(tick.at, tick.says, said) for tick, said in zip(ticks, clocks, strict=True))
    return Axis(first, last, labels, STEP_NAMES[step_kind])


def _extent(columns: Sequence[Columns]) -> tuple[float, float]:
    return min(rows.first for rows in columns), max(rows.last for rows in columns)


@dataclass(frozen=True, slots=True)
class Clock:
    """Which time it was at a step, the newest attempt's where several passed it."""

    passes: tuple[tuple[Floats, Floats], ...]
    """Steps and times, newest attempt first."""

    @classmethod
    def of(cls, columns: Sequence[Columns]) -> "Clock":
        """The clock of the metric that knows most times."""
        known = [(rows, np.isfinite(rows.time)) for rows in columns]
        rows, has_time = max(known, key=lambda pair: int(np.count_nonzero(pair[1])), default=(None, None))
        if rows is None or has_time is None or not has_time.any():
            return cls(())
        if not has_time.all():
            rows = rows.pick(has_time)
        bounds = np.append(rows.passes, len(rows)).tolist()
        return cls(
            tuple((rows.step[start:end], rows.time[start:end]) for start, end in reversed(list(pairwise(bounds))))
        )

    def at(self, step: float) -> float | None:
        """Unix seconds at that step; None where no attempt passed it."""
        for steps, times in self.passes:
            if steps[0] <= step <= steps[-1]:
                time = float(np.interp(step, steps, times))
                return time if is_a_time(time) else None
        return None


def _say_times(times: Sequence[float | None]) -> list[str]:
    """Times of day, with the day where it is new; only days where the axis spans many."""
    known = [time for time in times if time is not None]
    if not known:
        return [""] * len(times)
    span = max(known) - min(known)
    said: list[str] = []
    day = ""
    is_many_days = span > 4 * DAY
    changes_day = len({say_day(time) for time in known}) > 1
    for time in times:
        if time is None:
            said.append("")
        elif is_many_days:
            said.append(say_day(time))
        else:
            shown = say_day(time) if say_day(time) != day and (changes_day or not day) else ""
            day = say_day(time)
            said.append(f"{shown} {say_clock(time, span)}".strip())
    return said
