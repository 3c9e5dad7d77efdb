"""Between which values a panel shows its curve, so that one spike does not flatten the rest."""

import math
from dataclasses import dataclass

import numpy as np

from charts.columns import Columns, Floats
from charts.ticks import Tick, log_ticks, value_ticks

HUGE, TINY = 1e100, 1e-290
"""Beyond them distances would overflow, or vanish."""
LEAST_BINS = 12
"""Below that many there is no rest that an extreme could flatten."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a panel spans, and whether in decades."""

    low: float
    high: float
    is_log: bool = False
    is_zero: bool = False
    """Every value is 0: no other mark would mean anything."""

    def ticks(self, most: int) -> tuple[Tick, ...]:
        """Its few marks."""
        if self.is_zero:
            return (Tick(0.0, "0"),)
        return log_ticks(self.low, self.high, most) if self.is_log else value_ticks(self.low, self.high, most)


def scale_of(
    columns: Columns, *, decades_for_log: float = 3.0, most_squeezed: float = 3.0, keep: tuple[float, ...] = ()
) -> Scale:
    """A scale for these rows.

    Args:
        columns: The rows in view, condensed: what counts is the width on screen, not the number of points.
        decades_for_log: Positive values that span as much, without their outer tails, are shown in decades.
        most_squeezed: How many times the height of the ordinary values an extreme may ask for.
        keep: Values that must be inside, such as those at the bad step.
    """
    rows = columns.pick(columns.is_finite)
    if not len(rows):
        return Scale(0.0, 1.0)
    low, high = np.clip(rows.low, -HUGE, HUGE), np.clip(rows.high, -HUGE, HUGE)
    kept = [value for value in keep if math.isfinite(value)]
    if _is_for_decades(low, high, decades_for_log):
        return _log_scale(low, high, kept)
    return _linear_scale(low, high, [*kept, float(rows.value[-1])], most_squeezed)


def rate_scale(columns: Columns) -> Scale:
    """From zero to just above the highest learning rate."""
    rows = columns.pick(columns.is_finite)
    if not len(rows):
        return Scale(0.0, 1.0)
    top, bottom = min(float(rows.high.max()), HUGE), max(min(0.0, float(rows.low.min())), -HUGE)
    is_zero = top - bottom < TINY
    return Scale(bottom, 1.0 if is_zero else top + 0.15 * (top - bottom), is_zero=is_zero)


def _is_for_decades(low: Floats, high: Floats, decades: float) -> bool:
    positive = low[low > 0]
    if len(positive) < 0.9 * len(low) or not len(positive):
        return False
    return math.log10(high.max()) - math.log10(float(np.quantile(positive, 0.02))) >= decades


def _log_scale(low: Floats, high: Floats, kept: list[float]) -> Scale:
    positive = low[low > 0]
    bottom = max(float(positive.min()), float(np.quantile(positive, 0.02)) / 10)
    bottom = min([bottom, *(value for value in kept if value > 0)])
    top = max([float(high.max()), *kept])
    return Scale(max(bottom / 1.3, TINY), top * 1.6, is_log=True)


def _linear_scale(low: Floats, high: Floats, kept: list[float], most_squeezed: float) -> Scale:
    bottom, top = float(low.min()), float(high.max())
    if len(high) >= LEAST_BINS:
        usual_low, usual_high = float(np.quantile(low, 0.02)), float(np.quantile(high, 0.96))
        usual = max(usual_high - usual_low, 1e-9 * abs(usual_high))
        for value in kept:
            if abs(value - usual_low) <= 12 * usual:
                usual_low, usual_high = min(usual_low, value), max(usual_high, value)
        usual = max(usual_high - usual_low, 1e-9 * abs(usual_high))
        if top - usual_low > most_squeezed * usual:
            top = usual_high + 0.3 * usual
        if usual_high - bottom > most_squeezed * usual:
            bottom = usual_low - 0.3 * usual
    span = top - bottom
    if not span > 1e-9 * max(abs(top), abs(bottom)):
        span = abs(top) * 0.1 if abs(top) > TINY else 1.0
        return Scale(bottom - span / 2, top + span / 2, is_zero=top == bottom == 0)
    return Scale(bottom - 0.06 * span, top + 0.12 * span)
