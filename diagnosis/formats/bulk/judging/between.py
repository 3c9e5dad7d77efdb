"""The redraws of a bar between the points of a run: they tell steps and how long these took, and no numbers."""

import numpy as np

from diagnosis.formats.bulk.block import Whole
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.weaving import Woven


class Between:
    """Where the redraws stand among the points of a run, for those to whom the order of both matters.

    Each point has redraws of its own in front of it, and the last of them tells its step: so it is no new one.
    """

    def __init__(self, woven: Woven, start: int, stop: int) -> None:
        self.first = int(woven.bars_before[start - 1]) if start else 0
        """The first redraw, counted from the first of the block of bars."""
        self.block = woven.bars
        self._before: Whole = woven.bars_before[start:stop] - self.first
        self._places: Whole = self._before + np.arange(stop - start)
        self.bar_steps: Whole = woven.bars.steps[self.first : int(woven.bars_before[stop - 1])]
        self.is_bar = np.ones(len(self.bar_steps) + len(self._before), np.bool_)
        """For both together in the order of the log: which are redraws."""
        self.is_bar[self._places] = False
        self._bars_before: Whole = np.cumsum(self.is_bar) - self.is_bar
        self.steps: Whole = np.empty(len(self.is_bar), np.int64)
        """The step of each of both."""
        self.steps[self.is_bar], self.steps[self._places] = self.bar_steps, woven.dicts.steps[start:stop]

    def bars_of(self, count: int) -> int:
        """How many redraws stand in front of the last of so many points."""
        return int(self._before[count - 1]) if count else 0

    def all_of(self, count: int) -> int:
        """How many of both there are up to the last of so many points."""
        return int(self._places[count - 1]) + 1 if count else 0

    def points_before(self, place: int) -> int:
        """How many points stand in front of one of both."""
        return place - int(self._bars_before[place])

    def of_both(self, name: str, of_points: Floats | None) -> Floats:
        """A field of both; 0 where it is not told."""
        told: Floats = np.zeros(len(self.steps))
        of_bars = self.block.fields.get(name)
        if of_bars is not None:
            told[self.is_bar] = of_bars[self.first : self.first + len(self.bar_steps)]
        if of_points is not None:
            told[self._places] = of_points
        return told


def is_regular(woven: Woven) -> bool:
    """True when each dict stands right behind a new step of the bar, and tells that step."""
    before, steps = woven.bars_before, woven.bars.steps
    if not len(before) or not (np.diff(before, prepend=0) > 0).all() or not (np.diff(steps) > 0).all():
        return False
    return bool((steps[before - 1] == woven.dicts.steps).all())
