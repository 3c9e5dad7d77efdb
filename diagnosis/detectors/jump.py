"""The plain rule people ask for: the loss moved by more than 1 between neighbouring points.

It only marks. A healthy start falls by more than 1, so a jump never opens a thread.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from diagnosis.detectors.detector import QUIET, Scope, Seen
from diagnosis.findings import Jump, Verdict
from diagnosis.formats.stretch import Stretch
from diagnosis.observations import StepSample
from diagnosis.thresholds import Thresholds


class PlainJump:
    """|Δ loss| > `jump_delta` between a finite point and the finite one before it."""

    kind: ClassVar[str] = "jump"
    watches: ClassVar[tuple[type, ...]] = (StepSample,)
    scope: ClassVar[Scope] = "series"
    __slots__ = ("_last", "_thresholds")

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._last: float | None = None

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Mark the later point of a jump."""
        if not isinstance(seen, StepSample):
            return QUIET
        loss = seen.loss
        if loss is None or loss - loss != 0.0:
            return QUIET
        last, self._last = self._last, loss
        if last is None or abs(loss - last) <= self._thresholds.jump_delta:
            return QUIET
        return (Jump(seen.step, last, loss, "jump", seen.evidence),)

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """Up to the first jump."""
        losses = (stretch.losses or [])[at:stop]
        course = losses if self._last is None else [self._last, *losses]
        delta = self._thresholds.jump_delta
        if max(course) - min(course) <= delta:
            return stop
        jumps = (place for place, (one, other) in enumerate(pairwise(course)) if not abs(other - one) <= delta)
        return min(stop, at + next(jumps, stop) + (self._last is None))

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """The newest one is what the next is compared with."""
        del at
        self._last = (stretch.losses or [])[stop - 1]
