"""Everyone who follows a log offline: the judge, the facts of its numbers, what changed, the curve of its chart."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bot.curve import Curve
from diagnosis.changes import Changes
from diagnosis.detectors.nonfinite import came_back
from diagnosis.findings import Cleared, Finding, Verdict
from diagnosis.formats.again import Again
from diagnosis.judge import Judge
from diagnosis.observations import Observation, StepSample
from diagnosis.summary import LossSummary
from diagnosis.thresholds import Thresholds

if TYPE_CHECKING:
    from diagnosis.formats.bulk.judging.absorbing import Twin

KEPT_FINDINGS = 500

Hear = Callable[[Observation, Sequence[Verdict]], None]


class Following:
    """Takes what readers see, in order; `hear` gets each verdict with the observation that led to it."""

    def __init__(self, thresholds: Thresholds | None = None, *, hear: Hear | None = None) -> None:
        self.judge = Judge(thresholds)
        self.summary = LossSummary()
        self.changes = Changes(self.judge.attempts)
        self.curve = Curve()
        self.findings: list[Finding] = []
        self.cleared: set[str] = set()
        self._hear = hear

    def take(self, seen: Observation) -> None:
        """The next observation of any file."""
        points = self.summary.points
        self.summary.observe(seen)
        verdicts = self.judge.observe(seen)
        self.changes.observe(seen)
        if isinstance(seen, StepSample):
            self.curve.take(seen, is_news=self.summary.points > points)
        if verdicts:
            self._note(seen, verdicts)

    def hear_again(self, again: Again) -> None:
        """`take` for lines that come again: only what counts how often something happened wants them."""
        self.changes.hear_again(again)

    def twins(self) -> "list[Twin]":
        """Those who move all of this past many calm points of a big log."""
        from bot.bulk_reading import twins_of  # noqa: PLC0415 - numpy only where a log is big

        return twins_of(self)

    def _tell_end(self, cleared: Cleared) -> None:
        """Somebody who reads a whole log is not told `since` of what ended in it."""
        for place in reversed(range(len(self.findings))):
            found = self.findings[place]
            if (found.kind, found.origin) == (cleared.kind, cleared.origin):
                self.findings[place] = came_back(found, cleared)
                return

    def _note(self, seen: Observation, verdicts: Sequence[Verdict]) -> None:
        self.summary.note(verdicts)
        self.changes.note(verdicts)
        for verdict in verdicts:
            if isinstance(verdict, Finding):
                self.cleared.discard(verdict.kind)
                if len(self.findings) < KEPT_FINDINGS:
                    self.findings.append(verdict)
            elif isinstance(verdict, Cleared):
                self.cleared.add(verdict.kind)
                self._tell_end(verdict)
        if self._hear is not None:
            self._hear(seen, verdicts)
