"""The fp16 loss scale: skipped steps in a row, and a scale that has nowhere left to fall.

Skipping is how the scale is found at the start, and one skip now and then is how it is kept. Only a streak,
or a skip at the smallest scale, is trouble.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.findings import Severity, Verdict
from diagnosis.formats.stretch import Stretch
from diagnosis.observations import OptimizerSkip, StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, factor, whole

START_STEPS = 100
"""Good optimizer steps after which the scale is found."""
GOOD_BETWEEN = 2
"""Good steps between two skips that end a streak."""
REMEMBERED = 64
MOST = 1e30


class LossScale:
    """`overflow_streak`, `loss_scale_floor` and, as information, `loss_scale_drop`."""

    kind: ClassVar[str] = "loss_scale_floor"
    watches: ClassVar[tuple[type, ...]] = (StepSample, OptimizerSkip)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_first",
        "_good_steps",
        "_highest",
        "_is_counted",
        "_last",
        "_last_good",
        "_open",
        "_scale",
        "_scales",
        "_since",
        "_streak",
        "_thresholds",
        "_total",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._scale: float | None = None
        self._highest = 0.0
        self._scales: deque[float] = deque(maxlen=REMEMBERED)
        self._last: StepSample | None = None
        self._last_good: int | None = None
        self._good_steps = 0
        self._streak = 0
        self._since = 0
        self._first: OptimizerSkip | StepSample | None = None
        self._is_counted = False
        self._total: float | None = None
        self._open: dict[str, Severity] = {}

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Take a skip event, or a step line with its counter and scale."""
        if isinstance(seen, StepSample):
            return self._take_step(seen)
        if isinstance(seen, OptimizerSkip):
            return self._take_skip(seen)
        return QUIET

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """All of it where the scale stays, nothing is skipped and the search at the start is over."""
        if self._streak or self._good_steps < START_STEPS or not stretch.never_tells("skipped_steps"):
            return at
        scales = stretch.fields.get("loss_scale")
        if scales is None:
            scale = stretch.constants.get("loss_scale")
            return stop if scale is None or scale == self._scale else at
        return next((place for place in range(at, stop) if scales[place] != self._scale), stop)

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Steps that were done."""
        del at
        self._last = stretch.sample(stop - 1)

    def pass_between(self, stretch: Stretch, at: int, stop: int) -> None:
        """What stands between points that another rank has told."""
        course, first, last = stretch.course(at, stop, has_points=False)
        if last > first:
            self._last = course.sample(last - 1)

    def _take_step(self, seen: StepSample) -> Sequence[Verdict]:
        fields = seen.fields
        skipped, scale = 0.0, None
        if fields:
            scale = fields.get("loss_scale")
            if fields.get("skipped_steps") or "skipped_total" in fields:
                skipped = self._counted(fields)
        if not self._streak and not skipped and (scale is None or scale == self._scale):
            if self._good_steps < START_STEPS:
                self._good_steps += self._done(seen.step)
            self._last = seen
            return QUIET
        done = self._done(seen.step)
        self._last = seen
        said: Sequence[Verdict] = QUIET
        if skipped and not self._since:
            # A counter instead of events.
            self._is_counted = True
            said = self._count_skips(seen, int(skipped), done)
        elif self._streak:
            said = self._count_good(seen, done - self._since)
        else:
            self._good_steps += done
            self._last_good = seen.step
        self._since = 0
        if scale is None or scale == self._scale or not 0.0 < scale < MOST:
            return said
        return [*said, *self._follow(seen, scale)]

    def _counted(self, fields: Mapping[str, float]) -> float:
        """Steps skipped within the interval, from either kind of counter."""
        total = fields.get("skipped_total")
        if total is None:
            skipped = fields.get("skipped_steps", 0.0)
        else:
            before, self._total = self._total, total
            skipped = 0.0 if before is None else max(0.0, total - before)
        return skipped if skipped - skipped == 0.0 else 0.0

    def _done(self, step: int | None) -> int:
        """Optimizer steps since the line before."""
        last = self._last.step if self._last is not None else None
        return 1 if step is None or last is None else max(0, step - last)

    def _take_skip(self, seen: OptimizerSkip) -> Sequence[Verdict]:
        if seen.loss_scale is not None and 0.0 <= seen.loss_scale < MOST:
            self._scale = seen.loss_scale
            self._scales.append(seen.loss_scale)
        if self._is_counted:
            return QUIET
        self._since += seen.count
        self._extend(seen, seen.count)
        return self._judge(seen)

    def _count_skips(self, seen: StepSample, skipped: int, done: int) -> Sequence[Verdict]:
        if done - skipped >= GOOD_BETWEEN:
            said = self._count_good(seen, done - skipped)
            self._extend(seen, 1)
            return said
        self._extend(seen, skipped)
        return self._judge(seen)

    def _extend(self, seen: OptimizerSkip | StepSample, count: int) -> None:
        if not self._streak:
            self._first = seen
            self._last_good = self._last.step if self._last is not None else None
        self._streak += count

    def _count_good(self, seen: StepSample, good: int) -> Sequence[Verdict]:
        """Steps that were not skipped end a streak, and in the end what it said."""
        if good < 1 or (good < GOOD_BETWEEN and seen.loss is None):
            return QUIET
        self._good_steps += good
        self._last_good = seen.step
        self._streak = 0
        self._first = None
        if not self._open or self._good_steps < GOOD_BETWEEN:
            return QUIET
        ended, self._open = tuple(self._open), {}
        return tuple(over(kind, seen, f"the optimizer steps again {at_step(seen.step)}") for kind in ended)

    def _judge(self, seen: OptimizerSkip | StepSample) -> Sequence[Verdict]:
        limits = self._thresholds
        scale = seen.loss_scale if isinstance(seen, OptimizerSkip) else seen.fields.get("loss_scale")
        is_start = self._good_steps < START_STEPS and not self._knows_steps()
        # A scale that was never higher is no scale: bf16 prints 1.0.
        had_room = any(value > limits.scale_minimum for value in self._scales)
        if scale is not None and scale <= limits.scale_minimum and self._streak > 1 and had_room:
            return self._say(
                "loss_scale_floor",
                Severity.CRITICAL,
                f"the loss scale is at its minimum ({scale:g}) and steps are still skipped,"
                f" {self._streak} in a row{self._since_when()}: nothing is learned any more",
                f"a skip at scale {scale:g}, minimum {limits.scale_minimum:g}",
            )
        allowed = limits.overflow_start if is_start else limits.overflow_streak
        if self._streak < allowed:
            return QUIET
        severity = Severity.CRITICAL if self._streak >= 2 * allowed else Severity.WARNING
        return self._say(
            "overflow_streak",
            severity,
            f"{self._streak} optimizer steps in a row were skipped for overflow{self._since_when()}",
            f"{self._streak} skips in a row, {allowed} allowed",
        )

    def _knows_steps(self) -> bool:
        """A log that begins late in a run is past its scale search."""
        return self._last_good is not None and self._last_good >= self._thresholds.warmup_steps

    def _since_when(self) -> str:
        step = self._first_bad()
        return "" if step is None else f" since step {whole(step)}"

    def _first_bad(self) -> int | None:
        if self._first is None:
            return None
        if self._first.step is not None:
            return self._first.step
        return None if self._last_good is None else self._last_good + 1

    def _follow(self, seen: StepSample, scale: float) -> Sequence[Verdict]:
        """A printed scale that fell by far and stays down, outside the search at the start."""
        self._scale = scale
        self._scales.append(scale)
        is_search = self._good_steps < START_STEPS and not self._knows_steps()
        self._highest = scale if is_search else max(scale, self._highest)
        limit = self._highest / self._thresholds.scale_drop
        if is_search or scale > limit or self._highest <= self._thresholds.scale_drop:
            return QUIET
        ratio = factor(self._highest / scale)
        text = f"the loss scale fell {ratio}-fold, from {self._highest:,.0f} to {scale:g}, {at_step(seen.step)}"
        self._highest = scale
        rule = f"fell by more than {self._thresholds.scale_drop:g}"
        details = {"loss_scale": self._course()}
        return (found("loss_scale_drop", Severity.INFO, seen, text, rule=rule, details=details),)

    def _course(self) -> str:
        return " → ".join(f"{scale:g}" for scale in list(self._scales)[-8:])

    def _say(self, kind: str, severity: Severity, text: str, rule: str) -> Sequence[Verdict]:
        known = self._open.get(kind)
        first = self._first
        if first is None or known is Severity.CRITICAL or known is severity:
            return QUIET
        self._open[kind] = severity
        details = {"skipped": str(self._streak)}
        if self._scales:
            details["loss_scale"] = self._course()
        finding = found(kind, severity, first, text, rule=rule, details=details, last_good_step=self._last_good)
        step = self._first_bad()
        return (finding if finding.step == step else replace(finding, step=step),)
