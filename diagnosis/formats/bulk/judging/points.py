"""Detectors that look at single points: non-finite numbers and their disguises, loss scale, plain jumps."""
# ruff: noqa: SLF001 - a twin moves what its detector remembers

from typing import ClassVar

import numpy as np

from diagnosis.detectors import loss_scale
from diagnosis.detectors.hidden_nan import HiddenNan
from diagnosis.detectors.jump import PlainJump
from diagnosis.detectors.loss_scale import LossScale
from diagnosis.detectors.nonfinite import NonFinite
from diagnosis.findings import Severity
from diagnosis.formats.bulk.judging.run import Run, first_of


class NonFiniteTwin:
    """Moves `NonFinite` past finite points, and past non-finite losses once the first one was said."""

    def __init__(self, detector: NonFinite) -> None:
        self._of = detector

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        of = self._of
        if run.loss is not None and not run.is_finite:
            return len(run) if of._open.get("nonfinite_loss") is Severity.CRITICAL else 0
        is_bad = run.norm is not None and not run.has_finite_norm
        return 0 if is_bad or of._streak or of._open.keys() - {"nonfinite_eval"} else len(run)

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of = self._of
        if run.loss is None and run.norm is None:
            return
        of._points += count
        of._skips = 0
        if run.loss is not None and not run.is_finite:
            of._fine = 0
            of._bad["nonfinite_loss"] += count
            of._bad["nonfinite_grad_norm"] += count if run.norm is not None and not run.has_finite_norm else 0
        else:
            of._good.extend(run.newest(count, of._good.maxlen))


class HiddenNanTwin:
    """Moves `HiddenNan` past points with a loss that is not 0.0 and no counted NaN."""

    _COUNTERS: ClassVar = ("nan_iterations", "nan_total")

    def __init__(self, detector: HiddenNan) -> None:
        self._of = detector

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        of = self._of
        if of._nans or of._vanished or of._zeros or of._open or of._skips:
            return 0
        bad = np.zeros(len(run), np.bool_)
        for name in self._COUNTERS:
            counted = run.field(name)
            if counted is not None:
                bad |= counted != 0.0
        if run.loss is None:
            is_usual = of._in_row < of._thresholds.vanish_history or (run.lr is None and run.norm is None)
            return first_of(bad) if is_usual else 0
        return first_of(bad | (run.loss == 0.0))

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        if run.loss is not None:
            self._of._in_row += count
            self._of._good.extend(run.newest(count, self._of._good.maxlen))


class LossScaleTwin:
    """Moves `LossScale` past points without a skip at the scale it knows."""

    def __init__(self, detector: LossScale) -> None:
        self._of = detector

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        if self._of._streak:
            return 0
        bad = np.zeros(len(run), np.bool_)
        skipped, scale = run.field("skipped_steps"), run.field("loss_scale")
        if skipped is not None:
            bad |= skipped != 0.0
        if scale is not None:
            if self._of._scale is None:
                return 0
            bad |= scale != self._of._scale
        return first_of(bad)

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of = self._of
        last = of._last.step if of._last is not None else None
        for step in run.told_steps(count).tolist() if of._good_steps < loss_scale.START_STEPS else ():
            if of._good_steps >= loss_scale.START_STEPS:
                break
            of._good_steps += 1 if last is None else max(0, step - last)
            last = step
        of._last = run.sample(count - 1)


class JumpTwin:
    """Moves `PlainJump` past neighbours that are near each other."""

    def __init__(self, detector: PlainJump) -> None:
        self._of = detector

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        if run.loss is None or not run.is_finite:
            return len(run)
        before = self._of._last
        moves = np.diff(run.loss, prepend=run.loss[0] if before is None else before)
        return first_of(~((moves >= -self._of._thresholds.jump_delta) & (moves <= self._of._thresholds.jump_delta)))

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        if run.loss is not None and run.is_finite:
            self._of._last = float(run.loss[count - 1])
