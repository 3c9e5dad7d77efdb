"""Which attempt of a run this is, counted on where a restart of this watcher reads an earlier part of the log again."""

from dataclasses import replace

from diagnosis.live_judge import LiveJudge
from diagnosis.series import AttemptSpan


class AttemptCount:
    """The judge counts attempts from where its reading began; the run's own count goes on from the bookmark."""

    def __init__(self, judge: LiveJudge, resumed: int | None) -> None:
        self._judge = judge
        self._base = 0
        self._warm = resumed
        """The attempt of the bookmark, until the first news behind it is read."""
        self._resumed = -1 if resumed is None else resumed

    @property
    def newest(self) -> int:
        """The newest attempt's number."""
        return self._warm if self._warm is not None else self.of(self._judge.attempt)

    def of(self, attempt: int) -> int:
        """The run's number of an attempt that the judge names."""
        return self._base + attempt

    def hear_news(self) -> None:
        """What comes now was never read: everything before the bookmark was heard again, so count on from there."""
        if self._warm is not None:
            self._base = max(0, self._warm - self._judge.attempt)
            self._warm = None

    def spans(self, *, is_live: bool) -> list[AttemptSpan]:
        """All attempts that were seen here, the newest last; none until there is news."""
        if self._warm is not None:
            return []
        spans = []
        for span in self._judge.attempts.spans(is_live=is_live):
            told = replace(span, number=self.of(span.number))
            if told.number == self._resumed:
                # Only its end was read again after a restart; its beginning is known better where it was told before.
                told = replace(told, first_step=None, started=None)
            if told.number >= self._resumed:
                spans.append(told)
        return spans
