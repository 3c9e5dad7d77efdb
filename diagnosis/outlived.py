"""Findings of a process that went on: what it raised, it had caught and only logged.

Nobody can tell when the line comes, so people are told at once. Once the same process has told steps for a while,
it is over. By the clock of whoever reads: a full buffer is printed all at once when a process ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis.findings import Cleared, Finding, Severity, Verdict
from diagnosis.observations import StepSample
from diagnosis.wording import at_step

STEPS = 5
SECONDS = 30.0
MOST_LOOKS = 5_000
"""Step lines after which nobody waits any more: the process it was is not the one that tells them."""
_MAY_BE_CAUGHT = frozenset({"python_exception", "uncaught_exception", "shell_killed"})
"""Rows that tell of a process, and not which: `Killed` may be any command of a script."""
_Key = tuple[str, str | None, int | None]


@dataclass(slots=True)
class _Waiting:
    finding: Finding
    newest: int
    steps: int = 0
    looks: int = 0


class Outlived:
    """Waits for steps of processes that raised something."""

    def __init__(self) -> None:
        self._waiting: dict[_Key, _Waiting] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether steps matter to anybody here."""
        return bool(self._waiting)

    def note(self, said: Verdict) -> None:
        """Take what was said: an exception may be outlived, but not where something else of its kind is told too."""
        if not isinstance(said, Finding) or said.severity is Severity.INFO:
            return
        key = (said.kind, said.origin.node, said.origin.rank)
        if said.details.get("signature") in _MAY_BE_CAUGHT and said.seen_at is not None:
            self._waiting.setdefault(key, _Waiting(said, said.step or -1))
        else:
            self._waiting.pop(key, None)

    def take(self, seen: StepSample, attempt: int) -> Iterable[Finding]:
        """What this step of the same process shows to be over."""
        for key, waiting in list(self._waiting.items()):
            finding = waiting.finding
            waiting.looks += 1
            if finding.attempt != attempt or waiting.looks > MOST_LOOKS:
                del self._waiting[key]
            elif finding.origin.rank in {None, seen.origin.rank} and (seen.step or 0) > waiting.newest:
                waiting.newest = seen.step or 0
                waiting.steps += 1
                since = (seen.seen_at or 0.0) - (finding.seen_at or 0.0)
                if waiting.steps > STEPS and since >= SECONDS:
                    del self._waiting[key]
                    yield finding


def over(finding: Finding, seen: StepSample) -> Cleared:
    """The word for it."""
    text = f"training went on after it, {at_step(seen.step)}"
    return Cleared(finding.kind, finding.origin, text, seen.step, seen.time, seen.seen_at, finding.attempt)
