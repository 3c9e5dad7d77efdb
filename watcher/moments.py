"""When something went wrong, and how far each log was read by then: so a snapshot finds the lines around it."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from diagnosis.findings import Finding, Severity
from watcher.identity import FileId

Places = Mapping[str, tuple[FileId, int]]
"""Log → which file that was, and how many bytes of it were read."""
MOST = 8
APART_SECONDS = 30.0
"""Findings closer together than this are one moment."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One finding, and the place in every log."""

    kind: str
    text: str
    """What was found; masked."""
    file: str
    line: int | None
    quote: str
    """The line that told it; masked."""
    step: int | None
    at: float
    places: Places


class Moments:
    """The first and the newest critical findings of a run."""

    def __init__(self) -> None:
        self._all: list[Moment] = []
        self._noted_at = float("-inf")

    def note(self, finding: Finding, places: Iterable[tuple[str, FileId, int]]) -> None:
        """Keep a critical finding that has already been masked."""
        now = time.monotonic()
        if finding.severity is not Severity.CRITICAL or now - self._noted_at < APART_SECONDS:
            return
        self._noted_at = now
        quoted = finding.evidence[0] if finding.evidence else None
        self._all.append(
            Moment(
                finding.kind,
                finding.text,
                quoted.file if quoted else "",
                quoted.line if quoted else None,
                quoted.text if quoted else "",
                finding.step,
                time.time(),
                {path: (file, offset) for path, file, offset in places},
            )
        )
        # The first one tells how it began; of the others the newest matter.
        if len(self._all) > MOST:
            del self._all[1]

    def all(self) -> tuple[Moment, ...]:
        """The oldest first."""
        return tuple(self._all)
