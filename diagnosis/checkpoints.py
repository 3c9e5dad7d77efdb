"""Checkpoints a log tells of: the newest before a bad step, and when keep-last-N will delete it."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from diagnosis.observations import Evidence, PhaseMark
from diagnosis.wording import duration, whole

KEPT = 64
KEEP_NAMES = ("save_total_limit", "keep_last_n", "keep_last", "keep_latest_n", "max_checkpoints", "max_to_keep")
"""Settings that say how many checkpoints are kept, as trainers call them."""


@dataclass(frozen=True, slots=True)
class Saved:
    """One checkpoint the log tells of."""

    step: int
    time: float | None
    evidence: Evidence
    is_whole: bool = True
    """False: its save began, and nothing was heard of the run since."""


class Checkpoints:
    """The newest checkpoints of a run."""

    def __init__(self) -> None:
        self.kept: int | None = None
        """How many the trainer keeps; None: not known."""
        self.is_saving = False
        """A save began and was not heard to end."""
        self._saved: deque[Saved] = deque(maxlen=KEPT)

    def note(self, mark: PhaseMark, step: int | None) -> None:
        """A save begins or ends; its step is the line's own, or the newest one before it."""
        if step is None:
            return
        time = mark.time if mark.time is not None else mark.seen_at
        is_whole = not mark.begins
        if self._saved and self._saved[-1].step == step:
            is_whole = self._saved.pop().is_whole or is_whole
        self._saved.append(Saved(step, time, mark.evidence, is_whole))
        self.is_saving = not is_whole

    def go_on(self) -> None:
        """The run trains on: the save that had begun is done."""
        self.is_saving = False
        self._saved[-1] = replace(self._saved[-1], is_whole=True)

    def learn(self, environment: Mapping[str, str]) -> None:
        """How many are kept, where a banner tells it."""
        for name in KEEP_NAMES:
            text = environment.get(name, "")
            if text.isdecimal() and int(text) > 0:
                self.kept = int(text)

    def newest_before(self, step: int | None) -> Saved | None:
        """The newest whole checkpoint that cannot hold the bad step."""
        older = [saved for saved in self._saved if saved.is_whole and (step is None or saved.step < step)]
        return max(older, key=lambda saved: saved.step, default=None)

    def deleted_in(self, saved: Saved, now: float | None, *, kept: int | None = None) -> float | None:
        """Seconds until keep-last-N deletes it at the run's pace of saving; None: not known."""
        keep = kept if kept is not None else self.kept
        later = [other for other in self._saved if other.step > saved.step]
        times = [other.time for other in self._saved if other.time is not None]
        if keep is None or now is None or len(times) < 2:
            return None
        every = (times[-1] - times[0]) / (len(times) - 1)
        if every <= 0.0:
            return None
        saves_left = keep - len(later)
        return max(0.0, times[-1] + saves_left * every - now)

    def sentence(self, step: int | None, now: float | None, *, kept: int | None = None) -> str | None:
        """`Newest checkpoint before it: step 41,000.`, and when it will be deleted, where that is known."""
        saved = self.newest_before(step)
        if saved is None:
            return None
        text = f"Newest checkpoint before it: step {whole(saved.step)}."
        left = self.deleted_in(saved, now, kept=kept)
        if left is None:
            return text
        keep = kept if kept is not None else self.kept
        if left == 0.0:
            return f"{text} keep-last-{keep} has probably deleted it."
        return f"{text} keep-last-{keep} deletes it in about {duration(left)} at this pace."
