"""Loss lines that a live rotation lost: the steps go on behind a hole right after a file was cut or replaced."""

import time
from collections import deque
from dataclasses import dataclass, field
from operator import sub

from diagnosis.findings import Finding, Severity
from diagnosis.formats.stretch import Stretch
from diagnosis.observations import Evidence, StepSample

WATCH_SECONDS = 60.0
"""So long after a rotation a hole in the steps is put down to it."""
MOST_STRIDES = 10_000
"""A larger jump is another attempt, not a rotation."""
_KEPT = 32


@dataclass(slots=True)
class _Series:
    """Steps of one rank in one log."""

    last: float | None = None
    attempt: int = 0
    strides: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    @property
    def stride(self) -> float | None:
        """How far apart neighbouring steps usually are."""
        return sorted(self.strides)[len(self.strides) // 2] if len(self.strides) >= 4 else None


class LostLines:
    """Watches the steps of one run around rotations."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, int | None], _Series] = {}
        self._rotated_at: dict[str, float] = {}

    def rotated(self, source: str) -> None:
        """The file of a log was cut, renamed or replaced."""
        self._rotated_at[source] = time.monotonic()

    def pass_by(self, stretch: Stretch, at: int, stop: int, attempt: int) -> bool:
        """Take points of a stretch with losses all at once; False: they are to be observed one by one."""
        series = self._series.get((stretch.file, stretch.origin.rank))
        steps = stretch.steps[at:stop]
        if series is None or series.last is None or series.attempt != attempt or steps[0] <= series.last:
            return False
        if stretch.file in self._rotated_at:
            return False
        series.strides.extend(map(sub, steps, [series.last, *steps[:-1]]))
        series.last = float(steps[-1])
        return True

    def observe(self, seen: StepSample, attempt: int) -> Finding | None:
        """A hole that a rotation made, said once for each rotation."""
        if seen.step is None or seen.loss is None:
            return None
        key = (seen.evidence.file, seen.origin.rank)
        series = self._series.setdefault(key, _Series())
        before = series.last
        is_same_attempt = series.attempt == attempt
        series.last, series.attempt = float(seen.step), attempt
        if before is None or seen.step <= before or not is_same_attempt:
            return None
        rotated_at = self._rotated_at.get(key[0])
        stride = None if rotated_at is None else series.stride
        series.strides.append(seen.step - before)
        if rotated_at is None or stride is None or time.monotonic() - rotated_at > WATCH_SECONDS:
            return None
        lost = round((seen.step - before) / stride) - 1
        if not 0 < lost < MOST_STRIDES:
            return None
        del self._rotated_at[key[0]]
        return _finding(seen, before, lost)


def _finding(seen: StepSample, before: float, lost: int) -> Finding:
    many = f"{lost:,} loss lines are" if lost > 1 else "a loss line is"
    steps = f"it goes on at step {seen.step:,.0f} after step {before:,.0f}"
    text = f"about {many} missing after a rotation of the log: {steps}"
    return Finding(
        "lines_lost",
        Severity.WARNING,
        seen.origin,
        text,
        (Evidence(seen.evidence.file, seen.evidence.line, seen.evidence.text, seen.evidence.line),),
        int(seen.step) if seen.step is not None else None,
        time=seen.time,
        seen_at=seen.seen_at,
        rule="steps go on behind a hole within a minute after the file was cut or replaced",
    )
