"""What was marked in a run's loss before now: a run that looks well again went wrong there all the same."""

from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis import wording
from diagnosis.series import Mark, RunSeries
from handlers.health import LOUD, Health, Look

MOST_NAMED = 2
JUMP = "jump"
NEAR_SHARE, NEAR_STEPS = 0.01, 10.0
"""Marks so near each other, as a share of the run or in steps, are those of one trouble."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The newest troubles that the chart marks, the newest first."""

    told: tuple[str, ...]
    more: int = 0
    """So many others are marked."""


def marked_before(series: RunSeries, look: Look) -> Marked | None:
    """What is marked in the part that is shown, but for what the first sentence tells; None: nothing is."""
    if look.health not in {Health.NORMAL, Health.WATCH} or not len(series.loss):
        return None
    near = max(NEAR_STEPS, NEAR_SHARE * (series.loss.steps[-1] - series.loss.steps[0]))
    troubles = [one for one in _troubles(series.marks, near) if not _holds(one, look.since_step, near)]
    if not troubles:
        return None
    newest = tuple(_told(one) for one in reversed(troubles[-MOST_NAMED:]))
    return Marked(newest, len(troubles) - len(newest))


def _troubles(marks: Iterable[Mark], near: float) -> list[list[Mark]]:
    """The loud marks and jumps of the loss, those of one trouble together."""
    found: list[list[Mark]] = []
    wanted = [mark for mark in marks if mark.metric == "loss" and mark.kind in (*LOUD, JUMP)]
    for mark in sorted((mark for mark in wanted if mark.step is not None), key=_step):
        if found and _step(mark) - _step(found[-1][-1]) <= near:
            found[-1].append(mark)
        else:
            found.append([mark])
    return found


def _holds(trouble: list[Mark], step: float | None, near: float) -> bool:
    return step is not None and _step(trouble[0]) - near <= step <= _step(trouble[-1]) + near


def _told(trouble: list[Mark]) -> str:
    """`loss spikes at step 31,216: 2.21 before, peak 5.10 at step 31,219`; without a finding the widest jump."""
    loud = next((mark for mark in trouble if mark.kind in LOUD and mark.text), None)
    clause = wording.first_clause(loud.text) if loud is not None else ""
    if loud is not None and " step " in clause:
        return clause
    lost = next((mark for mark in trouble if mark.kind == "nonfinite"), None)
    mark = lost or max(trouble, key=_width)
    if lost is not None or mark.value is None or mark.before is None:
        what = "was not finite" if lost is not None else mark.kind.replace("_", " ").removeprefix("loss ")
        return f"loss {what} at step {wording.whole(_step(mark))}"
    return f"loss {wording.number(mark.before)} → {wording.number(mark.value)} at step {wording.whole(_step(mark))}"


def _width(mark: Mark) -> float:
    return abs(mark.value - mark.before) if mark.value is not None and mark.before is not None else -1.0


def _step(mark: Mark) -> float:
    return mark.step if mark.step is not None else 0.0
