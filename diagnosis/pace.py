"""How long a run's steps took, bounded at any length, and where that changed for good."""

import math
import statistics
from dataclasses import dataclass

from diagnosis.observations import Evidence

KEPT = 4096
"""Intervals kept; beyond, neighbours are merged."""
MIN_SIDE = 8
"""Intervals on each side of a change."""
MIN_RATIO = 1.04
"""A change of less is not worth a word (BLOOM saw 5 % from one slow GPU of 384)."""
DRIFT_RATIO = 1.25
"""A smaller change must come at once."""
MOST_SIZES = 64
"""A step whose size is told so often anew varies by itself; its growth explains nothing."""
MIN_SIGMA = 4.0
"""The change must stand this far above the scatter."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What one step took."""

    step: int
    seconds: float
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Shift:
    """Steps took longer from here on, until the end."""

    first: Interval
    before: float
    """Median seconds a step before it."""
    after: float

    @property
    def ratio(self) -> float:
        """How many times longer."""
        return self.after / self.before


class Pace:
    """The intervals between steps, in order."""

    def __init__(self) -> None:
        self._intervals: list[Interval] = []
        self._merge = 1
        self._waiting: list[Interval] = []
        self._sizes: list[tuple[int, float]] = []
        """From which step on a step is how much work."""

    def note_work(self, step: int, work: float | None) -> None:
        """From this step on a step is so much work (`work_of`); None: nobody told."""
        if work is not None and len(self._sizes) <= MOST_SIZES and (not self._sizes or work != self._sizes[-1][1]):
            self._sizes.append((step, work))

    def add(self, step: int, seconds: float, evidence: Evidence) -> None:
        """Take what one step took; zero and negative times are clocks, not paces."""
        if not (seconds > 0.0 and math.isfinite(seconds)):
            return
        self._waiting.append(Interval(step, seconds, evidence))
        if len(self._waiting) < self._merge:
            return
        first = self._waiting[0]
        self._intervals.append(
            Interval(first.step, statistics.median(item.seconds for item in self._waiting), first.evidence)
        )
        self._waiting.clear()
        if len(self._intervals) > KEPT:
            pairs = zip(self._intervals[::2], self._intervals[1::2], strict=False)
            self._intervals = [
                Interval(one.step, (one.seconds + other.seconds) / 2, one.evidence) for one, other in pairs
            ]
            self._merge *= 2

    def restart(self) -> None:
        """A new attempt: nothing before it counts."""
        self._intervals.clear()
        self._waiting.clear()
        self._sizes.clear()
        self._merge = 1

    def _grown(self, step: int) -> float:
        """By how much, as a logarithm, a step became more work from this one on; never less than nothing."""
        if len(self._sizes) > MOST_SIZES:
            return 0.0
        before = [work for first, work in self._sizes if first < step]
        return max(0.0, math.log(self._sizes[-1][1] / before[-1])) if before else 0.0

    def __len__(self) -> int:
        return len(self._intervals) * self._merge + len(self._waiting)

    @property
    def usual(self) -> float | None:
        """Median seconds a step of the newest fifty."""
        newest = [item.seconds for item in self._intervals[-50:]]
        return statistics.median(newest) if len(newest) >= 3 else None

    @property
    def longest(self) -> float | None:
        """The 99th percentile of the newest fifty."""
        newest = sorted(item.seconds for item in self._intervals[-50:])
        return newest[min(len(newest) - 1, int(0.99 * len(newest)))] if len(newest) >= 3 else None

    def shift(self) -> Shift | None:
        """Where steps became slower for good, if they did: one split in two levels, the scatter small beside it."""
        items = self._intervals
        if len(items) < 2 * MIN_SIDE:
            return None
        values = _calm([math.log(item.seconds) for item in items])
        place = _best_split(values)
        left, right = values[:place], values[place:]
        change = statistics.median(right) - statistics.median(left)
        scatter = statistics.median([abs(v - statistics.median(left)) for v in left] or [0.0])
        scatter += statistics.median([abs(v - statistics.median(right)) for v in right] or [0.0])
        is_clear = change > MIN_SIGMA * 1.4826 * scatter / 2
        is_now = statistics.median(right[-MIN_SIDE:]) > statistics.median(left) + change / 2
        if change - self._grown(items[place].step) < math.log(MIN_RATIO) or not is_clear or not is_now:
            return None
        sudden = statistics.median(right[:MIN_SIDE]) - statistics.median(left[-MIN_SIDE:])
        if change < math.log(DRIFT_RATIO) and sudden < change / 2:
            return None  # it drifted, as a machine that warms up does
        before = statistics.median(item.seconds for item in items[:place])
        return Shift(items[place], before, statistics.median(item.seconds for item in items[place:]))


def work_of(batch_size: float | None, sequence_length: float | None) -> float | None:
    """How much work a step may be: attention grows with the square of what it looks at. None: neither is told."""
    told = [size for size in (batch_size, sequence_length, sequence_length) if size is not None]
    work = math.prod(told)
    return work if told and 0.0 < work < math.inf else None


def _calm(values: list[float]) -> list[float]:
    """Without the pauses: a checkpoint or an evaluation between two steps is no pace."""
    low, high = sorted(values)[len(values) // 20], sorted(values)[-1 - len(values) // 20]
    return [min(max(value, low), high) for value in values]


def _best_split(values: list[float]) -> int:
    """The split that leaves the least scatter in its two halves."""
    total, count = sum(values), len(values)
    best, place, left = -math.inf, MIN_SIDE, sum(values[: MIN_SIDE - 1])
    for split in range(MIN_SIDE, count - MIN_SIDE + 1):
        left += values[split - 1]
        right = total - left
        gain = left * left / split + right * right / (count - split)
        if gain > best:
            best, place = gain, split
    return place
