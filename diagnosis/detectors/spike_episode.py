"""One spike from its first point to its end: peak, recovery, and what kind of recovery it was."""

from collections.abc import Sequence
from typing import NamedTuple

from diagnosis.detectors.detector import QUIET, found, over
from diagnosis.detectors.divergence import Level, diverged, divergence_margin
from diagnosis.findings import Finding, Severity, Verdict
from diagnosis.observations import Evidence, StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, number, precise, whole

BACK_POINTS = 2


class Height(NamedTuple):
    """What the loss was before the spike."""

    base: float
    sigma: float
    highest: float
    is_signed: bool
    is_restart: bool
    is_short: bool


class Episode:
    """One spike from its first point to its end."""

    held: tuple[float, ...] = ()
    """Points that were no spike after all."""

    def __init__(self, first: StepSample, loss: float, level: Height, rule: str) -> None:
        self.is_over = False
        self._first = first
        self._level = level
        self._base, self._sigma = level.base, level.sigma
        self._rule = rule
        self._lowest = loss
        self._has_diverged = False
        self._peak = loss
        self._peak_step = first.step
        self._peak_line: Evidence | None = None
        self._points = 0
        self._back: list[StepSample] = []
        self._high = 1
        self._severity: Severity | None = None

    def height_of(self, loss: float) -> float:
        """How far a point stands above the level before the spike."""
        return loss - self._base

    def is_group(self, loss: float) -> bool:
        """A point that belongs to the spike stays out of the window, but not for ever."""
        return not self.is_over and self._points <= 64 and loss > self._base + 3.0 * max(self._sigma, 0.01)

    def follow(self, seen: StepSample, loss: float, limits: Thresholds) -> Sequence[Verdict]:
        """The next point: higher, on the way back, back, or still up after too long."""
        self._points += 1
        self._lowest = min(self._lowest, loss)
        if loss > self._peak:
            self._peak, self._peak_step, self._peak_line = loss, seen.step, seen.evidence
        near = self._base + max(limits.spike_recovered_share * abs(self._base), 3.0 * self._sigma)
        if loss <= near:
            self._back.append(seen)
            return self._close(seen, limits) if len(self._back) >= BACK_POINTS else QUIET
        self._back.clear()
        if loss >= self._base + (self._peak - self._base) / 4.0:
            self._high += 1
        if self._lasts(seen) > limits.spike_slow_steps:
            return self._give_up(seen, loss, limits)
        said: list[Verdict] = []
        severity = self._severity_now(limits)
        if self._high >= limits.spike_lasting and severity is not self._severity:
            said.append(self._finding(seen, severity, self._rule))
        return [*said, *self._judge_level(limits)]

    def _judge_level(self, limits: Thresholds) -> Sequence[Verdict]:
        """Out of few points a jump that stays up is a divergence; with more, `divergence` itself sees it."""
        level = self._level
        if self._has_diverged or not level.is_short or level.is_signed or self._high < limits.divergence_jump_points:
            return QUIET
        margin = divergence_margin(limits, level.base, 0.0)
        if self._high <= self._points or self._lowest <= level.highest + margin:
            return QUIET
        self._has_diverged = True
        rule = f"{self._high} points {number(self._lowest - level.highest)} above all before, limit {number(margin)}"
        before = self._first.step - 1 if self._first.step is not None else None
        return (diverged(self._first, Level(level.base, before), self._lowest, rule),)

    def _close(self, seen: StepSample, limits: Thresholds) -> Sequence[Verdict]:
        self.is_over = True
        if self._severity is None:
            return QUIET
        back = self._back[0]
        steps = self._lasts(back)
        if self._level.is_restart:
            recovery = "related to the restart"
        else:
            recovery = "fast spike" if steps < limits.spike_fast_steps else "slow spike"
        text = (
            f"the loss is back at {precise(back.loss or 0.0)} {at_step(back.step)}: it peaked at {number(self._peak)}"
            f" {at_step(self._peak_step)} and was up for {steps:,} steps ({recovery})"
        )
        kinds = ("loss_spike", "divergence") if self._has_diverged else ("loss_spike",)
        return [over(kind, seen, text) for kind in kinds]

    def _give_up(self, seen: StepSample, loss: float, limits: Thresholds) -> Sequence[Verdict]:
        """Not back for so long: this is the level now."""
        self.is_over = True
        rule = f"{number(loss - self._base)} above the level before it after {limits.spike_slow_steps} steps"
        is_high = loss - self._base >= limits.spike_warning_delta and not self._level.is_signed
        severity = Severity.WARNING if is_high else Severity.INFO
        return (self._finding(seen, severity, rule, recovery="not fully recovered"),)

    def _lasts(self, seen: StepSample) -> int:
        """Steps since the first point; points where the log has no steps."""
        if seen.step is None or self._first.step is None or seen.step_kind == "samples":
            return self._points
        return max(seen.step - self._first.step, 0)

    def _severity_now(self, limits: Thresholds) -> Severity:
        # A policy loss has no level to leave, so its spikes are information.
        is_high = self._peak - self._base >= limits.spike_warning_delta and not self._level.is_signed
        return Severity.WARNING if is_high else Severity.INFO

    def _finding(self, seen: StepSample, severity: Severity, rule: str, recovery: str = "still up") -> Finding:
        """About the first point, with the highest and the newest line as further evidence."""
        self._severity = severity
        base, peak = number(self._base), number(self._peak)
        first = self._first.step
        if recovery == "still up" and first is not None and self._peak_step not in (None, first):
            text = f"loss spikes at step {whole(first)}: {base} before, peak {peak} {at_step(self._peak_step)}"
        elif recovery == "still up":
            text = f"loss spikes from {base} to {peak} {at_step(self._peak_step)}"
        else:
            text = f"loss has not come back since its spike at step {whole(first)}: {base} before, peak {peak}, now "
            text += number(seen.loss)
        details = {
            "from": precise(self._base),
            "to": precise(seen.loss or 0.0),
            "peak": precise(self._peak),
            "peak_step": whole(self._peak_step),
            "recovery": recovery,
        }
        lines = [line for line in (self._peak_line, seen.evidence) if line is not None]
        also = tuple(line for place, line in enumerate(lines) if line not in lines[:place])
        return found("loss_spike", severity, self._first, text, rule=rule, details=details, also=also)
