"""A NaN or infinite loss or grad norm, said at the first one.

A scale search may show non-finite grad norms that mean nothing: the optimizer skips those steps. So a
grad norm with a skip beside it, or at the very start while the loss is finite, waits for a streak. Any other beside a
finite loss is a warning, and critical once it goes on: the optimizer may have skipped that one step without a word.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from diagnosis.detectors.before import Before
from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.findings import Cleared, Finding, Severity, Verdict
from diagnosis.formats.stretch import Stretch
from diagnosis.observations import OptimizerSkip, PhaseMark, StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, first_clause, number, precise, since_step, whole

CLEAR_POINTS = 3
"""Finite points in a row after which it is over: NaN weights never come back, a skipped step does."""

AGAIN = "finite again"


class NonFinite:
    """Non-finite train loss or grad norm; `nonfinite_eval` for a loss that only an evaluation printed."""

    kind: ClassVar[str] = "nonfinite_loss"
    watches: ClassVar[tuple[type, ...]] = (StepSample, OptimizerSkip, PhaseMark)
    scope: ClassVar[Scope] = "rank"
    __slots__ = (
        "_back",
        "_bad",
        "_before",
        "_fine",
        "_good",
        "_open",
        "_points",
        "_skips",
        "_streak",
        "_streak_from",
        "_thresholds",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._before = Before()
        self._good = self._before.good
        self._points = 0
        self._open: dict[str, Severity] = {}
        self._fine = 0
        self._back: StepSample | None = None
        self._bad: Counter[str] = Counter()
        self._skips = 0
        self._streak = 0
        self._streak_from: StepSample | None = None

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Say the first non-finite number of an episode, and when it is over."""
        if isinstance(seen, StepSample):
            loss, norm = seen.loss, seen.grad_norm
            # x - x is 0.0 for every finite x; any ordered comparison with NaN would be false.
            if (loss is None or loss - loss == 0.0) and (norm is None or norm - norm == 0.0):
                if loss is not None or norm is not None:
                    self._points += 1
                    self._skips = 0
                    self._good.append(seen)
                    return self._recover(seen) if self._open or self._streak else QUIET
                return self._judge_eval(seen) if "eval_loss" in seen.fields else QUIET
            self._points += 1
            self._fine = 0
            return self._judge(seen)
        if isinstance(seen, OptimizerSkip):
            self._skips += seen.count
        elif isinstance(seen, PhaseMark):
            self._before.note(seen)
        return QUIET

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """All of it, unless an episode or a streak goes on."""
        del stretch
        return at if self._open or self._streak else stop

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Good points."""
        self._points += stop - at
        self._skips = 0
        self._good.extend(stretch.newest(self._good.maxlen, at, stop))

    def _judge(self, seen: StepSample) -> Sequence[Verdict]:
        is_loss = seen.loss is not None and not math.isfinite(seen.loss)
        self._bad["nonfinite_loss"] += is_loss
        self._bad["nonfinite_grad_norm"] += seen.grad_norm is not None and not math.isfinite(seen.grad_norm)
        said = QUIET if is_loss else self._judge_norm(seen)
        self._skips = 0
        if is_loss and self._opens("nonfinite_loss", Severity.CRITICAL):
            said = (self._finding("nonfinite_loss", Severity.CRITICAL, seen, "first non-finite train loss"),)
        return said

    def _judge_norm(self, seen: StepSample) -> Sequence[Verdict]:
        """The loss is finite or missing, so it is the grad norm that is not."""
        self._streak += 1
        self._streak_from = self._streak_from or seen
        allowed = self._lawful_streak(seen)
        if self._streak < allowed:
            return QUIET
        is_certain = allowed > 1 or self._streak >= self._thresholds.nonfinite_streak
        is_hidden = seen.loss is None or seen.loss == 0.0
        was_lost = "nonfinite_loss" in self._open
        severity = Severity.CRITICAL if is_hidden or is_certain or was_lost else Severity.WARNING
        if not self._opens("nonfinite_grad_norm", severity):
            return QUIET
        rule = f"grad norm not finite at {self._streak} of {allowed} points in a row"
        return (self._finding("nonfinite_grad_norm", severity, self._streak_from, rule, seen.loss),)

    def _lawful_streak(self, seen: StepSample) -> int:
        """How many in a row mean nothing yet: 1 says that already the first one is news."""
        has_skipped = self._skips > 0 or seen.fields.get("skipped_steps", 0.0) > 0 or seen.lr == 0.0
        is_start = self._points <= self._thresholds.nonfinite_start
        if has_skipped:
            return self._thresholds.overflow_start if is_start else self._thresholds.nonfinite_streak
        if is_start and seen.loss is not None and seen.loss != 0.0:
            # From PyTorch's 65,536 a search takes up to ten halvings, and not every trainer says that it skipped.
            return 2 * self._thresholds.nonfinite_streak
        return 1

    def _judge_eval(self, seen: StepSample) -> Sequence[Verdict]:
        value = seen.fields["eval_loss"]
        if math.isfinite(value):
            if self._open.pop("nonfinite_eval", None) is None:
                return QUIET
            return (over("nonfinite_eval", seen, f"evaluation loss is finite again: {precise(value)}"),)
        if not self._opens("nonfinite_eval", Severity.WARNING):
            return QUIET
        beside = ", while the training loss is finite" if self._good else ""
        text = f"evaluation loss is {number(value)} {at_step(seen.step)}{beside}"
        details = {"value": number(value)} | self._before.details(seen)
        rule = "evaluation loss is not finite"
        return (found("nonfinite_eval", Severity.WARNING, seen, text, rule=rule, details=details),)

    def _recover(self, seen: StepSample) -> Sequence[Verdict]:
        """A finite point: a streak ends at once, an episode after a few."""
        if seen.grad_norm is not None or not self._streak:
            self._streak, self._streak_from = 0, None
            if not self._open:
                self._bad.clear()
        ended = [kind for kind in self._open if kind != "nonfinite_eval"]
        if not ended or seen.loss == 0.0:
            return QUIET
        if not self._fine:
            self._back = seen
        self._fine += 1
        if self._fine < CLEAR_POINTS:
            return QUIET
        self._fine = 0
        for kind in ended:
            del self._open[kind]
        said = [over(kind, seen, self._over(kind, self._back or seen)) for kind in ended]
        self._bad.clear()
        return said

    def _over(self, kind: str, back: StepSample) -> str:
        """What is told about the first point that was right again."""
        what = "grad norm" if kind == "nonfinite_grad_norm" else "loss"
        now = f" (loss {precise(back.loss)})" if back.loss is not None else ""
        bad = self._bad[kind]
        after = f", after {'one bad point' if bad == 1 else f'{bad:,} bad points'}" if bad else ""
        return f"{what} is {AGAIN} {at_step(back.step)}{now}{after}; the bad steps were probably skipped"

    def _opens(self, kind: str, severity: Severity) -> bool:
        """True when this is news: nothing open of this kind, or only something less severe."""
        if self._open.get(kind) in (severity, Severity.CRITICAL):
            return False
        self._open[kind] = severity
        return True

    def _finding(
        self, kind: str, severity: Severity, seen: StepSample, rule: str, loss: float | None = None
    ) -> Finding:
        """About its first point; `loss` is what is printed now."""
        value = seen.loss if kind == "nonfinite_loss" else seen.grad_norm
        what = "loss" if kind == "nonfinite_loss" else "grad norm"
        details = {"value": number(value)} | self._before.details(seen)
        where = at_step(seen.step) if severity is Severity.WARNING else since_step(seen.step)
        text = f"{what} is {number(value)} {where}"
        if kind == "nonfinite_grad_norm":
            text += _beside(loss)
        elif self._streak_from is not None and self._streak_from.step is not None:
            text += f", the grad norm not finite {since_step(self._streak_from.step)}"
        text = f"{text}; {_good(details)}"
        good = self._before.last_good_step
        return found(kind, severity, seen, text, rule=rule, details=details, last_good_step=good)


def came_back(finding: Finding, cleared: Cleared) -> Finding:
    """What is said of it once the log shows that it ended: from where, and where it was finite again."""
    _, again, rest = cleared.text.partition(AGAIN)
    if not again:
        return finding
    what, *more = finding.text.split("; ")
    told = [what.replace(" since step ", " from step "), first_clause(again + rest), *more]
    return replace(finding, text="; ".join(told))


def _beside(loss: float | None) -> str:
    """What a finite-looking loss beside a bad grad norm means."""
    if loss is None:
        return " and the loss field is gone, as this trainer does for a NaN loss"
    if loss == 0.0:
        return " and the loss prints as 0.0, which hides a NaN"
    return f" while the loss still prints as {precise(loss)}"


def _good(details: dict[str, str]) -> str:
    """The newest point that was right."""
    if "last_good_step" not in details:
        return "no point before it was finite"
    loss = details.get("last_good_loss")
    step = details["last_good_step"]
    where = "the point before it" if step == whole(None) else f"step {step}"
    return f"last good: {where}" + (f" with loss {loss}" if loss else "")
