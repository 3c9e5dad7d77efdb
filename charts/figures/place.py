"""From steps and values to pixels within one panel."""

from dataclasses import dataclass

import numpy as np

from charts.columns import Floats
from charts.figures.boxes import Box
from charts.sketch import Axis, Panel

INSET = 10.0
"""Pixels left free at both ends of the step axis, so that the first and the last mark are whole."""
FAR = 1e4
"""How far outside a panel a point may lie; the rasteriser overflows beyond."""


@dataclass(frozen=True, slots=True)
class Place:
    """A panel's box with what its edges mean."""

    box: Box
    first: float
    last: float
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False

    @classmethod
    def of(cls, panel: Panel, axis: Axis, box: Box) -> "Place":
        """The place of a panel."""
        return cls(box, axis.first, axis.last, panel.low, panel.high, panel.is_log)

    def columns(self, steps: Floats) -> Floats:
        """Pixel columns of steps."""
        span = self.last - self.first
        share = (steps - self.first) / span if span > 0 else np.full(len(steps), 0.5)
        inner = self.box.width - 2 * INSET
        return np.clip(self.box.left + INSET + share * inner, self.box.left - FAR, self.box.right + FAR)

    def rows(self, values: Floats) -> Floats:
        """Pixel rows of values; NaN where there is nothing to draw."""
        low, high = self.low, self.high
        if self.is_log:
            low, high = float(np.log10(low)), float(np.log10(high))
            # A zero norm lies below every decade: it is drawn at the lower edge.
            values = np.where(np.isnan(values), np.nan, np.log10(np.maximum(values, 1e-300)))
        share = (values - low) / (high - low)
        return np.clip(self.box.bottom + share * self.box.height, self.box.bottom - FAR, self.box.top + FAR)

    def column(self, step: float) -> float:
        """Pixel column of one step."""
        return float(self.columns(np.array([step]))[0])

    def row(self, value: float) -> float:
        """Pixel row of one value; infinite ones lie outside."""
        return float(self.rows(np.array([value]))[0])
