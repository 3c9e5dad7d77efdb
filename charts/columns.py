"""One metric as numpy columns, and what is asked about them again and again."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diagnosis.series import Series

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)  # no slots: the answers below are kept, because each is a walk over a million rows
class Columns:
    """One metric in the order of the log; `low` and `high` are the values themselves where nothing was thinned."""

    step: Floats
    time: Floats
    value: Floats
    low: Floats
    high: Floats
    is_band: bool = False

    def __len__(self) -> int:
        return len(self.value)

    def pick(self, which: Any) -> "Columns":
        """The same columns, only these rows."""
        return Columns(
            self.step[which], self.time[which], self.value[which], self.low[which], self.high[which], self.is_band
        )

    @cached_property
    def is_finite(self) -> NDArray[np.bool_]:
        """Where every number of the row can be drawn."""
        if not self.is_band:
            return np.isfinite(self.value)
        return np.isfinite(self.value) & np.isfinite(self.low) & np.isfinite(self.high)

    @cached_property
    def is_all_finite(self) -> bool:
        """Whether every row can be drawn."""
        return bool(self.is_finite.all())

    @cached_property
    def passes(self) -> Indices:
        """Where the step goes back: row 0, then the first row of each later attempt."""
        return starts_of_passes(self.step)

    @property
    def first(self) -> float:
        """The lowest step: the first of some attempt."""
        return float(self.step[self.passes].min())

    @property
    def last(self) -> float:
        """The highest step: the last of some attempt."""
        return float(self.step[np.append(self.passes[1:] - 1, -1)].max())


def columns_of(series: Series) -> Columns:
    """The series as numpy columns; exact points are not copied."""
    value = np.frombuffer(series.values, dtype=np.float64)
    step = np.frombuffer(series.steps, dtype=np.float64)
    time = np.frombuffer(series.times, dtype=np.float64)
    if len(step) != len(value) or not np.isfinite(step).all():
        step = np.arange(len(value), dtype=np.float64)
    if len(time) != len(value):
        time = np.full(len(value), np.nan)
    if len(series.lows) != len(value) or len(series.highs) != len(value) or not len(value):
        return Columns(step, time, value, value, value)
    low, high = (np.frombuffer(column, dtype=np.float64) for column in (series.lows, series.highs))
    return Columns(step, time, value, low, high, is_band=True)


def starts_of_passes(step: Floats) -> Indices:
    """Row 0 and every row whose step is lower than that of the row before."""
    if not len(step):
        return np.empty(0, dtype=np.intp)
    return np.concatenate(([0], np.flatnonzero(step[1:] < step[:-1]) + 1)).astype(np.intp)
