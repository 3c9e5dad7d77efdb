"""A NaN that prints as something else: the loss field vanishes, a counter counts, the loss is exactly 0.0.

Each disguise has its own kind. Where the grad norm itself is not finite, `nonfinite` has already spoken.
"""

from collections.abc import Sequence
from typing import ClassVar

from diagnosis.detectors.before import Before
from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.detectors.robust import middle
from diagnosis.findings import Severity, Verdict
from diagnosis.formats.stretch import Stretch
from diagnosis.observations import OptimizerSkip, PhaseMark, StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import number, whole

NAN_STREAK = 3
"""Lines in a row that count NaN iterations: no single bad batch any more."""


class HiddenNan:
    """`loss_vanished`, `nan_counter` and `loss_zero`."""

    kind: ClassVar[str] = "loss_vanished"
    watches: ClassVar[tuple[type, ...]] = (StepSample, OptimizerSkip, PhaseMark)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_before",
        "_good",
        "_in_row",
        "_nans",
        "_nans_in_row",
        "_open",
        "_skips",
        "_thresholds",
        "_vanished",
        "_zeros",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._before = Before(thresholds.vanish_history)
        self._good = self._before.good
        self._in_row = 0
        self._open: set[str] = set()
        self._skips = 0
        self._vanished: list[StepSample] = []
        self._zeros: list[StepSample] = []
        self._nans = 0.0
        self._nans_in_row = 0

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Take a step line, a skip or a checkpoint."""
        if isinstance(seen, StepSample):
            loss = seen.loss
            fields = seen.fields
            counted = fields.get("nan_iterations") or fields.get("nan_total") or 0.0 if fields else 0.0
            said = self._judge_counter(seen, counted) if counted or self._nans else QUIET
            if loss:
                self._in_row += 1
                self._good.append(seen)
                if self._vanished or self._zeros or self._open or self._skips:
                    return [*said, *self._recover(seen)]
                return said
            if said:
                return said
            return self._judge_missing(seen) if loss is None else self._judge_zero(seen)
        if isinstance(seen, OptimizerSkip):
            self._skips += seen.count
        elif isinstance(seen, PhaseMark):
            self._before.note(seen)
        return QUIET

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """All of it where no counter counts, no loss is 0.0 and nothing goes on."""
        is_busy = self._nans or self._vanished or self._zeros or self._open or self._skips
        counts = not (stretch.never_tells("nan_iterations") and stretch.never_tells("nan_total"))
        return at if is_busy or counts or stretch.losses is None or 0.0 in stretch.losses else stop

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Good points."""
        self._in_row += stop - at
        self._good.extend(stretch.newest(self._good.maxlen, at, stop))

    def _judge_missing(self, seen: StepSample) -> Sequence[Verdict]:
        """The field stood on every line so far; a line whose steps were all skipped may lack it."""
        if self._in_row < self._thresholds.vanish_history or "loss_vanished" in self._open:
            return QUIET
        if seen.lr is None and seen.grad_norm is None:
            # A bar, or an evaluation.
            return QUIET
        if self._skips > 0 or seen.fields.get("skipped_steps", 0.0) > 0:
            self._vanished.clear()
            return QUIET
        newest = self._vanished[-1] if self._vanished else (self._good[-1] if self._good else None)
        if newest is None or seen.origin.rank != newest.origin.rank:
            return QUIET
        if seen.step is None or newest.step is None or seen.step <= newest.step:
            return QUIET
        self._vanished.append(seen)
        if len(self._vanished) < self._thresholds.vanish_lines:
            return QUIET
        first = self._vanished[0]
        return self._say(
            "loss_vanished",
            Severity.CRITICAL,
            first,
            f"the loss is no longer printed since step {whole(first.step)}, although {self._in_row} lines before had"
            " it: this trainer drops a NaN loss from its line",
            f"no loss on {len(self._vanished)} lines after {self._in_row} lines with one",
        )

    def _judge_zero(self, seen: StepSample) -> Sequence[Verdict]:
        """Exactly 0.0 is lawful where losses are that small, and where a gradient still flows."""
        norm = seen.grad_norm
        # A grad norm that flows makes the zero lawful; one that is not finite is another detector's news.
        is_told = norm is not None and norm != 0.0
        if is_told or "loss_zero" in self._open or len(self._good) < self._thresholds.short_history:
            self._zeros.clear()
            return QUIET
        self._zeros.append(seen)
        usual = middle(sorted(abs(point.loss or 0.0) for point in self._good))
        if len(self._zeros) < self._thresholds.zero_lines or usual < self._thresholds.zero_history:
            return QUIET
        first = self._zeros[0]
        return self._say(
            "loss_zero",
            Severity.CRITICAL,
            first,
            f"the loss prints as exactly 0.0 since step {whole(first.step)}, after {number(self._good[-1].loss)}:"
            " a NaN that the trainer's filter hides, or a batch without labels",
            f"0.0 at {len(self._zeros)} points in a row after a median of {number(usual)}",
        )

    def _judge_counter(self, seen: StepSample, count: float) -> Sequence[Verdict]:
        """Megatron counts iterations whose loss was NaN and which it skipped; elsewhere the count is a total."""
        before, self._nans = self._nans, count
        if count <= 0:
            self._nans_in_row = 0
            self._open.discard("nan_counter")
            return (over("nan_counter", seen, f"no NaN iteration is counted any more at step {whole(seen.step)}"),)
        if count == before and seen.loss is not None:
            # A total that stands still.
            self._nans_in_row = 0
            return QUIET
        self._nans_in_row += 1
        is_lasting = self._nans_in_row >= NAN_STREAK
        if "nan_counter" in self._open and self._nans_in_row != NAN_STREAK:
            return QUIET
        severity = Severity.CRITICAL if is_lasting else Severity.WARNING
        text = f"the trainer counts {count:.0f} NaN iterations at step {whole(seen.step)} and skipped them"
        rule = f"number of nan iterations {before:.0f} → {count:.0f}, {self._nans_in_row} lines in a row"
        return self._say("nan_counter", severity, seen, text, rule)

    def _recover(self, seen: StepSample) -> Sequence[Verdict]:
        self._skips = 0
        if self._vanished and "loss_vanished" not in self._open:
            # In this log some lines lawfully have no loss.
            self._in_row = 0
        self._vanished.clear()
        self._zeros.clear()
        ended = [kind for kind in ("loss_vanished", "loss_zero") if kind in self._open]
        self._open.difference_update(ended)
        return [over(kind, seen, f"the loss prints again: {number(seen.loss)}") for kind in ended]

    def _say(self, kind: str, severity: Severity, first: StepSample, text: str, rule: str) -> Sequence[Verdict]:
        self._open.add(kind)
        details = self._before.details(first)
        good = self._before.last_good_step
        return (found(kind, severity, first, text, rule=rule, details=details, last_good_step=good),)
