"""A loss that stands above its usual band for a while: even its lowest recent points do.

Comparing the recent minimum is silent on a single outlier and fires on a shift of the level. A shift larger
than `divergence_delta` is left to `divergence`.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from diagnosis.detectors.block import POINTS, Block
from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.findings import Severity, Verdict
from diagnosis.formats.fields import ADVERSARIAL
from diagnosis.formats.stretch import Point
from diagnosis.observations import Evidence, StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, number, precise, since_step

RISING = 1.001
MOST_POINTS = 10_000
BACK_SIGMA = 2.0


class _Bucket(NamedTuple):
    first: StepSample
    points: int
    total: float
    squares: float
    lowest: float


class Reached(NamedTuple):
    """One bucket, for a later attempt to be compared with."""

    step: float
    """Its middle."""
    loss: float
    spread: float
    points: int
    line: Evidence


class Sustained:
    """`sustained_spike`: the floor rule."""

    kind: ClassVar[str] = "sustained_spike"
    watches: ClassVar[tuple[type, ...]] = (Block,)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_buckets",
        "_count",
        "_first",
        "_is_signed",
        "_last_lr",
        "_lowest",
        "_points",
        "_recent",
        "_squares",
        "_thresholds",
        "_total",
        "_usual",
        "_width",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._recent = max(1, thresholds.sustained_recent // POINTS)
        baseline = max(1, thresholds.sustained_baseline // POINTS)
        self._buckets: deque[_Bucket] = deque(maxlen=self._recent + baseline)
        self._width = thresholds.sustained_seconds / self._recent
        self._first: StepSample | None = None
        self._count = 0
        self._total = self._squares = self._lowest = 0.0
        self._points = 0
        self._last_lr: float | None = None
        self._is_signed = False
        self._usual: tuple[float, float] | None = None

    def course(self) -> list[Reached] | None:
        """The newest part of the attempt; None: a loss may be negative."""
        if self._is_signed:
            return None
        buckets = list(self._buckets)
        if self._first is not None and self._count:
            buckets.append(_Bucket(self._first, self._count, self._total, self._squares, self._lowest))
        begins = [bucket.first.step for bucket in buckets if bucket.first.step is not None]
        if len(begins) < len(buckets) or len(begins) < 2:
            return []
        ends = [*begins[1:], 2 * begins[-1] - begins[-2]]
        return [
            Reached((begin + end) / 2.0, *_band([bucket]), bucket.points, bucket.first.evidence)
            for begin, end, bucket in zip(begins, ends, buckets, strict=True)
        ]

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Add a block to the running bucket, and judge when it is long enough."""
        if not isinstance(seen, Block) or self._is_signed:
            return QUIET
        if seen.lowest < 0.0 or ADVERSARIAL in seen.first.fields:
            self._is_signed = True
            return QUIET
        if not self._count:
            self._first, self._lowest = seen.first, seen.lowest
        self._count += POINTS
        self._total += seen.total
        self._squares += seen.squares
        if seen.lowest < self._lowest:  # noqa: PLR1730 - several times as fast as min()
            self._lowest = seen.lowest
        newest, first = seen.last, self._first
        if first is None or self._is_short(first, newest):
            return QUIET
        self._buckets.append(_Bucket(first, self._count, self._total, self._squares, self._lowest))
        self._points += self._count
        self._count, self._total, self._squares = 0, 0.0, 0.0
        lr, self._last_lr = self._last_lr, newest.lr
        is_warming = lr is not None and newest.lr is not None and newest.lr > lr * RISING
        if is_warming or self._points < self._thresholds.warmup_points:
            return QUIET
        return self._judge(newest)

    def _is_short(self, first: StepSample, newest: StepSample | Point) -> bool:
        """Fast steps make longer buckets, so that the recent ones last `sustained_seconds` together."""
        begin = first.time if first.time is not None else first.seen_at
        end = newest.time if newest.time is not None else newest.seen_at
        if begin is None or end is None:
            return False
        return 0.0 <= end - begin < self._width and self._count < MOST_POINTS

    def _judge(self, seen: StepSample | Point) -> Sequence[Verdict]:
        limits = self._thresholds
        buckets = list(self._buckets)
        recent, before = buckets[-self._recent :], buckets[: -self._recent]
        floor = min(bucket.lowest for bucket in recent)
        if self._usual is not None:
            mean, sigma = self._usual
            if floor <= mean + max(limits.sustained_floor, BACK_SIGMA * sigma):
                self._usual = None
                return (over("sustained_spike", seen, f"the loss is in its usual band again {at_step(seen.step)}"),)
            return QUIET
        if len(before) < len(buckets) // 2 or len(buckets) < (self._buckets.maxlen or 0) // 2:
            return QUIET
        mean, sigma = _band(before)
        margin = max(limits.sustained_floor, limits.spike_floor_share * abs(mean), limits.sustained_sigma * sigma)
        large = max(limits.divergence_delta, limits.divergence_share * abs(mean))
        if not margin < floor - mean < large:
            return QUIET
        self._usual = (mean, sigma)
        first = recent[0].first
        levels = f"at least {precise(floor)}, usually {precise(mean)}"
        text = f"loss stays above its usual band {since_step(first.step)}: {levels}"
        rule = f"recent minimum {number(floor - mean)} above the mean, limit {number(margin)}"
        details = {"from": precise(mean), "to": precise(floor), "spread": number(sigma)}
        good = before[-1].first.step
        return (
            found("sustained_spike", Severity.WARNING, first, text, rule=rule, details=details, last_good_step=good),
        )


def _band(buckets: Sequence[_Bucket]) -> tuple[float, float]:
    """Mean and standard deviation over buckets."""
    count = sum(bucket.points for bucket in buckets)
    mean = sum(bucket.total for bucket in buckets) / count
    # Sums of squares of near values cancel, and rounding must not make the root imaginary.
    return mean, math.sqrt(max(0.0, sum(bucket.squares for bucket in buckets) / count - mean * mean))
