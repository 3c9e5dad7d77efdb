"""A loss that no longer improves although the learning rate could still move it: information only."""

import math
from collections.abc import Sequence
from typing import ClassVar

from diagnosis.detectors.block import POINTS, Block
from diagnosis.detectors.detector import QUIET, Scope, Seen, found
from diagnosis.detectors.robust import middle
from diagnosis.findings import Severity, Verdict
from diagnosis.formats.fields import ADVERSARIAL
from diagnosis.thresholds import Thresholds
from diagnosis.wording import precise, whole

BUCKETS = 512
GROWTH = 1.1
"""The next look comes when the attempt is this much longer."""
NEAR_MINIMUM = 1.05
DECAYED = 0.5
FEWEST = 8


class Plateau:
    """`plateau`: Theil–Sen slope of log loss over the newest part of the attempt."""

    kind: ClassVar[str] = "plateau"
    watches: ClassVar[tuple[type, ...]] = (Block,)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_buckets",
        "_count",
        "_is_said",
        "_lr_high",
        "_lr_low",
        "_next",
        "_points",
        "_thresholds",
        "_total",
        "_width",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._buckets: list[tuple[float, float]] = []
        self._width = 1
        self._count = 0
        self._total = 0.0
        self._points = 0
        self._next = float(thresholds.plateau_min_points) / thresholds.plateau_share
        self._is_said = False
        self._lr_low, self._lr_high = math.inf, 0.0

    def course(self) -> list[tuple[float, float, int]]:
        """The whole attempt as far as it was followed: middle step, mean loss and points of each bucket."""
        ends = [step for step, _ in self._buckets]
        begins = [2.0 * ends[0] - ends[1], *ends[:-1]] if len(ends) > 1 else ends
        points = self._width * POINTS
        return [((begin + end) / 2.0, loss, points) for begin, (end, loss) in zip(begins, self._buckets, strict=True)]

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Add a block to the running bucket; look now and then."""
        if self._is_said or not isinstance(seen, Block):
            return QUIET
        newest = seen.last
        if ADVERSARIAL in seen.first.fields:
            self._is_said = True  # a generator's loss is not meant to fall
            return QUIET
        if newest.step is None:
            return QUIET
        self._count += 1
        self._total += seen.total / POINTS
        return self._close(seen, newest.step) if self._count >= self._width else QUIET

    def _close(self, seen: Block, step: int) -> Sequence[Verdict]:
        self._buckets.append((float(step), self._total / self._count))
        self._points += self._count * POINTS
        self._count, self._total = 0, 0.0
        if len(self._buckets) >= BUCKETS:
            pairs = zip(self._buckets[::2], self._buckets[1::2], strict=True)
            self._buckets = [(later[0], (one[1] + later[1]) / 2.0) for one, later in pairs]
            self._width *= 2
        lr = seen.last.lr
        if lr is not None:
            self._lr_low, self._lr_high = min(self._lr_low, lr), max(self._lr_high, lr)
        return self._judge(seen, step) if self._points >= self._next else QUIET

    def _judge(self, seen: Block, step: int) -> Sequence[Verdict]:
        limits = self._thresholds
        self._next = self._points * GROWTH
        start = step - (step - self._buckets[0][0]) * limits.plateau_share
        part = [(at, math.log(loss)) for at, loss in self._buckets if at >= start and loss > 0.0]
        if len(part) < FEWEST or self._has_decayed(seen.last.lr):
            return QUIET
        slope = _slope(part)
        fall = -slope * (part[-1][0] - part[0][0])
        if slope < -limits.plateau_slope or fall > limits.plateau_fall:
            return QUIET
        self._is_said = True
        first = int(part[0][0])
        level = math.exp(middle(sorted(value for _, value in part)))
        text = f"loss no longer improves: about {precise(level)} since step {whole(first)}"
        rule = f"log loss slope {slope:.1e} per step over {len(part)} buckets, limit {-limits.plateau_slope:.0e}"
        details = {"level": precise(level), "since": whole(first)}
        return (found("plateau", Severity.INFO, seen.last_line, text, rule=rule, details=details),)

    def _has_decayed(self, lr: float | None) -> bool:
        """At the end of its schedule a run is meant to stand still."""
        if lr is None or not self._lr_high:
            return False
        return lr <= self._lr_low * NEAR_MINIMUM and lr <= self._lr_high * DECAYED


def _slope(points: list[tuple[float, float]]) -> float:
    """Theil–Sen: the median slope over all pairs."""
    slopes = sorted(
        (later[1] - one[1]) / (later[0] - one[0])
        for place, one in enumerate(points)
        for later in points[place + 1 :]
        if later[0] > one[0]
    )
    return middle(slopes) if slopes else 0.0
