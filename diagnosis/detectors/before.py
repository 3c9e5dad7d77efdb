"""What was still good before it went wrong: the details that every bad-number finding carries."""

from collections import deque

from diagnosis.observations import Phase, PhaseMark, StepSample
from diagnosis.wording import number, place_of, precise, small, trail, whole

KEPT = 6
LR_LEAP = 1.5
"""Between two lines a schedule moves it by less than this factor."""
SAME_LR = 0.02
"""A schedule moves the learning rate a little all the time; less than this share is `unchanged`."""


class Before:
    """The last good points and the newest checkpoint of an attempt."""

    __slots__ = ("_checkpoints", "good")

    def __init__(self, kept: int = KEPT) -> None:
        self.good: deque[StepSample] = deque(maxlen=max(kept, KEPT))
        self._checkpoints: deque[int] = deque(maxlen=8)

    def note(self, mark: PhaseMark) -> None:
        """Remember a checkpoint; where its line has no step, the newest good one is its step."""
        step = mark.step if mark.step is not None else self.last_good_step
        if mark.phase is Phase.SAVING and step is not None and step not in self._checkpoints:
            self._checkpoints.append(step)

    @property
    def last_good_step(self) -> int | None:
        """The step of the newest good point."""
        return self.good[-1].step if self.good else None

    def checkpoint_before(self, step: int | None) -> int | None:
        """The newest checkpoint that cannot hold the bad step."""
        older = [saved for saved in self._checkpoints if step is None or saved < step]
        return max(older, default=None)

    def details(self, bad: StepSample) -> dict[str, str]:
        """Last good step and loss, `grad_norms`, `lr`, `lr_change`, `lr_line`, `loss_scale`, `checkpoint`."""
        told: dict[str, str] = {}
        course = [*list(self.good)[-KEPT:], bad]
        if self.good:
            told["last_good_step"] = whole(self.last_good_step)
            losses = [seen.loss for seen in self.good if seen.loss is not None]
            if losses:
                told["last_good_loss"] = number(losses[-1])
        norms = [seen.grad_norm for seen in course if seen.grad_norm is not None]
        if norms:
            told["grad_norms"] = trail(norms[-5:])
        self._tell_lr(course, told)
        scales = [scale for seen in course if (scale := seen.fields.get("loss_scale")) is not None]
        if scales and scales[-1] != 1.0:
            told["loss_scale"] = " → ".join(f"{scale:,.0f}" for scale in _distinct(scales))
        checkpoint = self.checkpoint_before(bad.step)
        if checkpoint is not None:
            told["checkpoint"] = whole(checkpoint)
        return told

    @staticmethod
    def _tell_lr(course: list[StepSample], told: dict[str, str]) -> None:
        rates = [seen.lr for seen in course if seen.lr is not None]
        if not rates:
            return
        told["lr"] = small(rates[-1])
        if len(rates) > 1:
            low, high = min(rates), max(rates)
            is_same = high - low <= SAME_LR * abs(high)
            told["lr_change"] = "unchanged" if is_same else " → ".join(small(rate) for rate in _distinct(rates))
            if not is_same and (line := _leap_of(course)):
                told["lr_line"] = line


def _leap_of(course: list[StepSample]) -> str:
    """Where the rate moved by more than a schedule moves it, with its line; the newest such place."""
    known = [seen for seen in course if seen.lr is not None]
    for before, seen in zip(known[-2::-1], known[:0:-1], strict=True):
        old, new = before.lr or 0.0, seen.lr or 0.0
        if old > 0.0 and new > 0.0 and not 1.0 / LR_LEAP < new / old < LR_LEAP:
            where = f" at step {whole(seen.step)}" if seen.step is not None else ""
            return f"learning rate: {small(old)} → {small(new)}{where} ({place_of(seen.evidence)})"
    return ""


def _distinct(values: list[float]) -> list[float]:
    """The course without repeats."""
    return [value for place, value in enumerate(values) if place == 0 or value != values[place - 1]]


def said_loss(sample: StepSample | None) -> str:
    """`loss 2.31`, or nothing when the point has none."""
    return "" if sample is None or sample.loss is None else f"loss {precise(sample.loss)}"
