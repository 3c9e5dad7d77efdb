"""The answer of a diagnosis, in the words of the `inspect` contract."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from diagnosis.observations import Category, Evidence

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong, where it began, how sure we are, and what to do next."""

    category: Category
    confidence: Confidence
    culprit_rank: int | None = None
    """Global; None when the evidence cannot name one."""
    culprit_node: str | None = None
    culprit_local_rank: int | None = None
    suspects: tuple[int, ...] = ()
    """More than one where the evidence cannot tell them apart."""
    first_bad_step: int | None = None
    first_bad_time: float | None = None
    """Unix seconds as the log prints them."""
    evidence: Evidence | None = None
    signature: str = ""
    """The row or rule that decided."""
    because: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    runner_up: str = ""
    """What else it could be, when that is close."""
    details: dict[str, str] = field(default_factory=dict)
    """What the deciding line names: bytes tried, exit code, Xid."""

    def as_dict(self) -> dict[str, Any]:
        """The `diagnosis` part of `inspect --json`, schema 1."""
        return {
            "category": str(self.category),
            "culprit_rank": self.culprit_rank,
            "culprit_node": self.culprit_node,
            "culprit_local_rank": self.culprit_local_rank,
            "suspects": list(self.suspects),
            "first_bad_step": self.first_bad_step,
            "first_bad_time": printed_time(self.first_bad_time),
            "confidence": self.confidence,
            "evidence": None
            if self.evidence is None
            else {"file": self.evidence.file, "line": self.evidence.line, "text": self.evidence.text},
            "because": list(self.because),
            "next": list(self.next),
            "unknown": list(self.unknown),
            "runner_up": self.runner_up or None,
            "details": dict(self.details),
        }


def printed_time(time: float | None) -> str | None:
    """As the log printed it; a time without a date is only a time of day."""
    if time is None or time != time:  # noqa: PLR0124 - NaN: no time
        return None
    try:
        moment = datetime.fromtimestamp(time, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.strftime("%H:%M:%S" if moment.year == 1970 else "%Y-%m-%d %H:%M:%S")
