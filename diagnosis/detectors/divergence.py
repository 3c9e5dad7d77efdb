"""A loss that climbs and stays: its recent minimum stands far above the best level of the attempt.

It sees a slow climb that a moving band hides, and a jump that does not come back. A policy loss (one that
may be negative) and a generator's have no level to keep, so they are never judged. Where a log begins late in a
run, `spike` sees the same out of fewer points.
"""

from collections import deque
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from diagnosis.detectors.block import POINTS, Block
from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.findings import Finding, Severity, Verdict
from diagnosis.formats.fields import ADVERSARIAL
from diagnosis.observations import StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, number, precise, since_step, whole

EARLY_BLOCKS = 6
"""Before these many blocks of a run from its beginning there is no level to leave."""
SPREADS = 3.0
SMOOTHING = 0.1


class Level(NamedTuple):
    """A loss that was reached, and where."""

    value: float
    step: int | None


class Divergence:
    """`divergence`: slow climbs, and jumps that stay."""

    kind: ClassVar[str] = "divergence"
    watches: ClassVar[tuple[type, ...]] = (Block,)
    scope: ClassVar[Scope] = "series"
    __slots__ = ("_best", "_blocks", "_floors", "_is_signed", "_open", "_spread", "_thresholds", "_usual")

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._floors: deque[tuple[float, StepSample]] = deque(maxlen=max(1, thresholds.divergence_points // POINTS))
        self._best: Level | None = None
        self._usual = 0.0
        self._spread = 0.0
        self._blocks = 0
        self._is_signed = False
        self._open: Level | None = None

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Compare the newest points with the best level so far."""
        if not isinstance(seen, Block) or self._is_signed:
            return QUIET
        lowest, level, first = seen.lowest, seen.middle, seen.first
        if lowest < 0.0 or ADVERSARIAL in first.fields:
            self._is_signed = True
            return QUIET
        best = self._best
        said = QUIET if best is None or self._blocks < EARLY_BLOCKS else self._judge(seen, best)
        self._blocks += 1
        self._floors.append((lowest, first))
        if best is None or level < best.value:
            self._best = Level(level, seen.middle_step)
        self._usual += (level - self._usual) * (SMOOTHING if self._blocks > 1 else 1.0)
        self._spread += SMOOTHING * (seen.noise - self._spread)
        return said

    def _judge(self, seen: Block, best: Level) -> Sequence[Verdict]:
        limits = self._thresholds
        margin = divergence_margin(limits, best.value, self._spread)
        if self._open is not None:
            return self._judge_return(seen, self._open, margin)
        if seen.lowest <= best.value + margin:
            return QUIET
        if seen.lowest > limits.divergence_ratio * self._usual:
            rule = f"five points above {limits.divergence_ratio:g} times the usual {number(self._usual)}"
            return self._say(seen.first, best, seen.lowest, rule)
        if len(self._floors) < (self._floors.maxlen or 0):
            return QUIET
        recent = list(self._floors)[1:]
        floor = min(seen.lowest, *(value for value, _ in recent))
        if floor <= best.value + margin:
            return QUIET
        rule = (
            f"minimum of {limits.divergence_points} points {number(floor - best.value)} above, limit {number(margin)}"
        )
        return self._say(recent[0][1] if recent else seen.first, best, floor, rule)

    def _judge_return(self, seen: Block, left: Level, margin: float) -> Sequence[Verdict]:
        if seen.middle > left.value + margin / 2.0:
            return QUIET
        self._open = None
        newest = seen.last
        return (over("divergence", newest, f"the loss is back at {precise(seen.middle)} {at_step(newest.step)}"),)

    def _say(self, first: StepSample, best: Level, floor: float, rule: str) -> Sequence[Verdict]:
        self._open = best
        return (diverged(first, best, floor, rule),)


def divergence_margin(limits: Thresholds, level: float, spread: float) -> float:
    """How far above a level is no noise and no small matter."""
    return max(limits.divergence_delta, limits.divergence_share * abs(level), SPREADS * spread)


def diverged(first: StepSample, best: Level, floor: float, rule: str) -> Finding:
    """The finding, from the first point of the new level."""
    text = (
        f"loss climbs and stays: at least {number(floor)} {since_step(first.step)},"
        f" after {number(best.value)} {at_step(best.step)}"
    )
    details = {
        "from": precise(best.value),
        "to": precise(floor),
        "best_step": whole(best.step),
        "recovery": "not recovered",
    }
    return found("divergence", Severity.CRITICAL, first, text, rule=rule, details=details, last_good_step=best.step)
