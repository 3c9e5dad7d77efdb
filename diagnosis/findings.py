"""What detectors conclude: a finding about one subject, that it is over, or a mark for the chart."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from diagnosis.observations import NO_TEXT, Evidence, Origin


class Severity(StrEnum):
    """How loud: info never opens a thread, warning waits for company, critical is said at once."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a detector says about one subject, with the lines that show it."""

    kind: str
    """The detector's or rule's documented name, such as `nonfinite_loss`."""
    severity: Severity
    origin: Origin
    text: str
    """One sentence, plain text, already masked: what happened."""
    evidence: tuple[Evidence, ...] = ()
    step: int | None = None
    """The first step that came out wrong or did not complete."""
    last_good_step: int | None = None
    time: float | None = None
    """Unix seconds as the log prints them."""
    seen_at: float | None = None
    """Unix seconds on the node's clock."""
    rule: str = ""
    """Which rule fired and by what margin, for people who tune it."""
    details: Mapping[str, str] = field(default_factory=lambda: NO_TEXT)
    """Numbers for the message, already as people say them: `loss`, `grad_norms`, `loss_before` …"""
    attempt: int = 0
    changes: tuple[str, ...] = ()
    """What changed around it, at most five lines, each with its file and line; already masked."""

    @property
    def key(self) -> str:
        """The same for the same line of the same file: a repeat after a crash is recognised by it."""
        first = self.evidence[0] if self.evidence else None
        place = (first.file, first.offset if first.offset is not None else first.line) if first else (self.seen_at,)
        parts = (self.kind, self.origin.run, self.origin.node, self.origin.rank, self.step, self.attempt, *place)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What a finding of this kind said is over."""

    kind: str
    origin: Origin
    text: str
    step: int | None = None
    time: float | None = None
    seen_at: float | None = None
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Jump:
    """A mark for the chart and for `jumps` in the answer; never a thread by itself."""

    step: int | None
    from_loss: float
    to_loss: float
    rule: str
    evidence: Evidence
    metric: str = "loss"
    attempt: int = 0


Verdict = Finding | Cleared | Jump
