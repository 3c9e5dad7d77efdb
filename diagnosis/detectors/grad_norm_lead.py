"""The grad norm rises while the loss is still calm: an early warning, quiet and often right.

BLOOM's grad norm led its spike by four steps. One reply in a thread, never a page.
"""

from collections import deque
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import ClassVar

from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.detectors.robust import middle
from diagnosis.findings import Jump, Severity, Verdict
from diagnosis.formats.stretch import Point, Stretch, below
from diagnosis.observations import StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, factor, number, precise, short, trail

REFRESH = 128
GROWING_POINTS = 3
CALM_POINTS = 10
"""Points near the median after which it is over."""
CALM_RATIO = 2.0


class GradNormLead:
    """`grad_norm_lead`."""

    kind: ClassVar[str] = "grad_norm_lead"
    watches: ClassVar[tuple[type, ...]] = (StepSample,)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_age",
        "_calm",
        "_gate",
        "_high",
        "_hits",
        "_is_open",
        "_median",
        "_points",
        "_recent",
        "_thresholds",
        "_window",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._window: deque[StepSample | Point] = deque(maxlen=thresholds.spike_window)
        self._median: float | None = None
        self._gate = -1.0
        self._age = REFRESH
        self._is_open = False
        self._calm = 0
        self._high = 0

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Take a grad norm; nearly all are below the gate and only join the window."""
        if not isinstance(seen, StepSample):
            return QUIET
        norm = seen.grad_norm
        if norm is None or norm - norm != 0.0:
            return QUIET
        if norm > self._gate or self._is_open:
            return self._look(seen, norm)
        self._window.append(seen)
        self._age -= 1
        if not self._age:
            self._refresh()
        return QUIET

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """Points below the gate, where it is set anew on the way too."""
        norms = stretch.grad_norms
        if norms is None:
            return stop
        if self._is_open:
            return at
        gate, place, until = self._gate, at, at + self._age
        while until < stop:
            place = below(norms, gate, place, until)
            if place < until:
                return place
            made = self._gate_over([*self._newest(len(self._window)), *norms[at:until]])
            if made is None:
                return until
            gate, until = made[1], until + REFRESH
        return below(norms, gate, place, stop)

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Points that join the window."""
        while stretch.grad_norms is not None and at < stop:
            until = min(stop, at + self._age)
            self._window.extend(stretch.points(self._window.maxlen, at, until))
            self._age -= until - at
            at = until
            if not self._age:
                self._refresh()

    def _look(self, seen: StepSample, norm: float) -> Sequence[Verdict]:
        if self._is_open:
            return self._follow(seen, norm)
        said: Sequence[Verdict] = QUIET
        if norm > 0.0 and not self._is_warmup(seen):
            rule = self._growth(norm) or self._height(norm)
            if rule and self._is_loss_calm(seen):
                said = self._open(seen, norm, rule)
        self._add(seen)
        return said

    def _height(self, norm: float) -> str:
        """So many of the newest points far above the median."""
        limits, median = self._thresholds, self._median
        if median is None or norm <= limits.lead_ratio * median:
            return ""
        newest = [*self._newest(limits.lead_of - 1), norm]
        if sum(value > limits.lead_ratio * median for value in newest) < limits.lead_hits:
            return ""
        return f"{limits.lead_hits} of {limits.lead_of} points above {limits.lead_ratio:g} medians of {short(median)}"

    def _growth(self, norm: float) -> str:
        """Doubling from point to point needs no long history."""
        limits, median = self._thresholds, self._median
        course = [*self._newest(GROWING_POINTS), norm]
        if len(course) <= GROWING_POINTS or (median is not None and norm <= limits.lead_ratio * median):
            return ""
        if not all(0.0 < before * limits.lead_growth <= after for before, after in pairwise(course)):
            return ""
        return f"grew {limits.lead_growth:g}-fold or more at each of {GROWING_POINTS} points"

    def _is_loss_calm(self, seen: StepSample) -> bool:
        known = [point.loss for point in self._window if point.loss is not None]
        losses = sorted(loss for loss in known if loss - loss == 0.0)
        if seen.loss is None or not losses:
            return True
        usual = middle(losses)
        return seen.loss - usual <= max(self._thresholds.lead_calm * abs(usual), self._thresholds.spike_floor)

    def _is_warmup(self, seen: StepSample) -> bool:
        if seen.step is None or seen.step_kind == "samples":
            return len(self._window) < self._thresholds.spike_window
        return seen.step < self._thresholds.warmup_steps

    def _open(self, seen: StepSample, norm: float, rule: str) -> Sequence[Verdict]:
        self._is_open = True
        self._calm = self._high = 0
        course = [*self._newest(4), norm]
        base = self._median if self._median is not None else course[0]
        loss = "" if seen.loss is None else f" while the loss is still calm at {precise(seen.loss)}"
        text = (
            f"grad norm rose {factor(norm / base) if base else 'many'}-fold to {number(norm)} {at_step(seen.step)}"
            f"{loss}: a spike often follows within a few steps"
        )
        details = {"grad_norms": trail(course), "usual": short(base), "loss": number(seen.loss)}
        mark = Jump(seen.step, base, norm, "grad_norm_lead", seen.evidence, metric="grad_norm")
        return (mark, found("grad_norm_lead", Severity.INFO, seen, text, rule=rule, details=details))

    def _follow(self, seen: StepSample, norm: float) -> Sequence[Verdict]:
        usual = self._median
        if usual is None:
            usual = middle(sorted(self._newest(len(self._window)))) if self._window else norm
        if norm > CALM_RATIO * usual:
            self._calm = 0
            self._high += 1
            if self._high > self._thresholds.spike_window:
                # This is its level now.
                self._is_open, self._median, self._gate = False, None, -1.0
                self._window.clear()
            return QUIET
        self._calm += 1
        self._add(seen)
        if self._calm < CALM_POINTS:
            return QUIET
        self._is_open = False
        return (over("grad_norm_lead", seen, f"grad norm is back at {number(norm)} {at_step(seen.step)}"),)

    def _newest(self, count: int) -> list[float]:
        """The newest grad norms in the window, oldest first."""
        return [point.grad_norm or 0.0 for point in islice(self._window, max(0, len(self._window) - count), None)]

    def _add(self, seen: StepSample) -> None:
        self._window.append(seen)
        self._age -= 1
        if self._age <= 0:
            self._refresh()

    def _refresh(self) -> None:
        made = self._gate_over(self._newest(len(self._window)))
        self._age = 1 if made is None else REFRESH
        if made is not None:
            self._median, self._gate = made

    def _gate_over(self, norms: Sequence[float]) -> tuple[float, float] | None:
        """Median and gate of the newest of these points; None when they are too few."""
        newest = sorted(norms[-(self._window.maxlen or 0) :])
        if len(newest) < self._thresholds.spike_min_points:
            return None
        median = middle(newest)
        # A constant 0.000 means that nobody measured.
        return median, self._thresholds.lead_ratio * median if median > 0.0 else float("inf")
