"""What stands beside a finding: what changed around it, the newest step, the checkpoint from before it.

A node knows this when it finds something, and the log goes on; so it is written into the finding at once.
"""

from collections.abc import Iterable
from dataclasses import replace

from diagnosis.change import Change
from diagnosis.changes import MOST, WARNING_LINE, Changes
from diagnosis.findings import Finding, Severity
from diagnosis.wording import duration, whole

CHECKPOINT = "checkpoint"
"""Told by its own sentence, not among the changes."""
_ENDED_BY_OTHERS = frozenset({"preempted"})
_ABOUT_NUMBERS = frozenset(
    {"learning rate", "learning-rate schedule", "grad norm", "loss scale", "skipped steps", "epoch", "speed"}
)
_ABOUT_SKIPS = frozenset({"overflow_streak", "loss_scale_floor"})


def with_circumstances(finding: Finding, changes: Changes, *, kept: int | None = None) -> Finding:
    """The same finding with its `changes`, and `checkpoint`, `checkpoint_end` and `last_step` in its details.

    `kept` is how many checkpoints the trainer keeps, where a person said so.
    """
    if finding.severity is Severity.INFO:
        return finding
    step = finding.step if finding.step is not None else changes.step
    around = changes.around(step, attempt=finding.attempt, is_now=True)
    details = dict(finding.details)
    if finding.step is None and changes.step is not None:
        details["last_step"] = whole(changes.step)
        # What has no step of its own ended a step that was never printed.
        step = changes.step + 1
    saved = changes.checkpoints.newest_before(step)
    details.pop(CHECKPOINT, None)
    if saved is not None:
        details[CHECKPOINT] = whole(saved.step)
        left = changes.checkpoint_lasts(saved, kept=kept)
        if left is not None:
            keep = kept if kept is not None else changes.checkpoints.kept
            details["checkpoint_end"] = (
                f"keep-last-{keep} deletes it in about {duration(left)} at this pace"
                if left > 0.0
                else f"keep-last-{keep} has probably deleted it"
            )
    news = [change for change in around if _may_explain(change, finding)]
    lines = told(news)
    # The rank that found it may have printed the new rate before the one whose numbers are followed.
    leap = details.pop("lr_line", "")
    if leap and not any(line.startswith("learning rate:") for line in lines):
        lines = (leap, *lines)[:MOST]
    return replace(finding, details=details, changes=lines)


def _may_explain(change: Change, finding: Finding) -> bool:
    """Whether it says more than the finding's own line, and has anything to do with it."""
    if finding.kind in _ENDED_BY_OTHERS:
        return False
    if "signature" not in finding.details:
        return finding.kind not in _ABOUT_SKIPS or change.what not in {"skipped steps", "loss scale"}
    if change.what == WARNING_LINE:
        # What the same log says then only follows; a kernel's log may know the cause.
        own = finding.evidence[0] if finding.evidence else None
        return change.step is not None and own is not None and change.evidence.file != own.file
    # What moves the loss crashes no process.
    return change.what not in _ABOUT_NUMBERS


def told(around: Iterable[Change]) -> tuple[str, ...]:
    """Changes as lines that can be checked, without the checkpoint."""
    return tuple(change.line for change in around if change.what != CHECKPOINT)
