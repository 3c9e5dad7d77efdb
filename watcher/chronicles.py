"""What a watcher keeps of one run so that its end can be explained: every log's chronicle, and what the judge said."""

from collections import deque

from diagnosis.chronicle import Chronicle
from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.formats.stretch import Stretch
from diagnosis.observations import GpuSample, Heartbeat, HostSample, Observation

MOST_FILES = 512
MOST_FINDINGS = 32


class Chronicles:
    """Takes what is seen in the logs of one run, in the order in which it is read."""

    def __init__(self) -> None:
        self._logs: dict[str, Chronicle] = {}
        self._findings: deque[Finding] = deque(maxlen=MOST_FINDINGS)
        self._cleared: dict[str, None] = {}
        self._attempt = 0

    def observe(self, seen: Observation) -> None:
        """Take the next observation of any log."""
        if isinstance(seen, GpuSample | HostSample | Heartbeat):
            return
        self._of_log(seen.evidence.file).observe(seen)

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Take some points of a stretch."""
        self._of_log(stretch.file).pass_by(stretch, at, stop)

    def conclude(self, said: Finding | Cleared) -> None:
        """Take what the judge says of the numbers, under the attempt's number; a new attempt starts afresh."""
        if said.attempt > self._attempt:
            self._attempt = said.attempt
            self._findings.clear()
            self._cleared.clear()
        if isinstance(said, Cleared):
            self._cleared[said.kind] = None
        elif said.severity is not Severity.INFO:
            self._cleared.pop(said.kind, None)
            self._findings.append(said)

    def of(self, file: str) -> Chronicle:
        """The chronicle of one log; an empty one where nothing was seen."""
        return self._logs.get(file) or Chronicle()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the judge said of the newest attempt, oldest first."""
        return tuple(self._findings)

    @property
    def cleared(self) -> tuple[str, ...]:
        """Kinds of findings that are over."""
        return tuple(self._cleared)

    def _of_log(self, file: str) -> Chronicle:
        log = self._logs.get(file)
        if log is None:
            if len(self._logs) >= MOST_FILES:
                del self._logs[next(iter(self._logs))]
            log = self._logs[file] = Chronicle()
        return log
