"""One thing that changed around a step, and what the points just before it tell: grad norm and speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis.observations import Evidence, StepSample
from diagnosis.wording import factor, number, place_of, trail, whole

NORM_LEAD = 3.0
SLOWER = 0.7
_SPEEDS = ("tokens_per_second", "tokens_per_second_per_gpu", "samples_per_second")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that changed, with the line that shows it."""

    step: int | None
    what: str
    before: str | None
    after: str
    evidence: Evidence
    attempt: int = 0

    @property
    def text(self) -> str:
        """`learning rate: 1.0e-3 → 1.0e18 at step 40`."""
        course = f"{self.before} → {self.after}" if self.before else self.after
        is_told = self.step is None or self.what in ("checkpoint", "new attempt")
        where = "" if is_told else f" at step {whole(self.step)}"
        return f"{self.what}: {course}{where}"

    @property
    def line(self) -> str:
        """The text with the line that shows it: `learning rate: 1.0e-3 → 1.0e18 at step 40 (train.log:41)`."""
        place = place_of(self.evidence)
        return f"{self.text} ({place})" if place else self.text

    def as_dict(self) -> dict[str, Any]:
        """As `inspect --json` gives it."""
        line = {"file": self.evidence.file, "line": self.evidence.line, "text": self.evidence.text}
        return {"step": self.step, "what": self.what, "from": self.before, "to": self.after, "evidence": line}


def norm_lead(points: Sequence[StepSample]) -> Change | None:
    """A grad norm that rose by far within the newest points."""
    known = [seen for seen in points if seen.grad_norm is not None and seen.grad_norm - seen.grad_norm == 0.0]
    if len(known) < 3:
        return None
    newest = known[-5:]
    usual = min(seen.grad_norm or 0.0 for seen in newest[:2])
    high = next((seen for seen in newest[1:] if (seen.grad_norm or 0.0) >= NORM_LEAD * usual > 0.0), None)
    if high is None:
        return None
    course = [seen.grad_norm or 0.0 for seen in newest]
    times = factor(max(course) / usual)
    return Change(high.step, "grad norm", trail(course[:1]), f"{trail(course[1:])} ({times}-fold)", high.evidence)


def slowing(points: Sequence[StepSample]) -> Change | None:
    """Steps that became slower within the newest points."""
    name = next((key for key in _SPEEDS if points and key in points[-1].fields), None)
    if name is None or len(points) < 20:
        return None
    speeds = [seen.fields.get(name, 0.0) for seen in points]
    usual, now = sorted(speeds[:-5])[len(speeds[:-5]) // 2], sorted(speeds[-5:])[2]
    if now >= SLOWER * usual:
        return None
    return Change(points[-5].step, "speed", number(usual), number(now), points[-5].evidence)
