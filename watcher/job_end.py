"""How a launched command ended, as a state of its run and as a finding."""

from dataclasses import dataclass

from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of the training command, as its launcher saw it."""

    code: int | None
    """Its exit code; negative: the number of the signal that ended it; None: not known."""
    text: str
    at: float
    """Unix seconds on this node's clock."""

    @property
    def state(self) -> str:
        """The state of the run after it."""
        if self.code is None:
            return "unknown"
        if self.code == 0:
            return "finished"
        return "killed" if self.code < 0 or self.code > 128 else "crashed"

    def finding(self, origin: Origin, last_step: int | None) -> Finding | None:
        """What is told of it; None: a good end is no trouble."""
        if self.code == 0:
            return None
        return Finding(
            "run_down",
            Severity.CRITICAL,
            origin,
            self.text,
            (Evidence("exit status", None, self.text),),
            time=self.at,
            seen_at=self.at,
            rule="the launched command ended with a status that is not 0",
            details={} if last_step is None else {"last_step": f"{last_step:,}"},
        )
