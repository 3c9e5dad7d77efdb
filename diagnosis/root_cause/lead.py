"""One possible explanation, and one hint at a rank: what the rules hand to each other."""

from dataclasses import dataclass, field
from typing import Final

from diagnosis.observations import Category, Evidence

HIGH: Final = 3
MEDIUM: Final = 2
LOW: Final = 1
WORDS: Final = {HIGH: "high", MEDIUM: "medium", LOW: "low"}


@dataclass(slots=True)
class Lead:
    """An explanation with the line that shows it."""

    category: Category
    evidence: Evidence
    signature: str
    confidence: int = MEDIUM
    rank: int | None = None
    local_rank: int | None = None
    node: str | None = None
    suspects: tuple[int, ...] = ()
    step: int | None = None
    time: float | None = None
    because: list[str] = field(default_factory=list)
    next: list[str] = field(default_factory=list)
    details: dict[str, str] = field(default_factory=dict)
    runner_up: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """Something that points at one or a few ranks of a run that waits."""

    ranks: tuple[int, ...]
    weight: int
    """9: says it outright; 8: a measurement of each rank; 6: a reading that needs a mapping; 3: only silence."""
    because: str
    evidence: Evidence
    node: str | None = None
    category: Category | None = None
    """What the rank is doing there, where the hint tells."""
    step: int | None = None
    looks: int = 0
    """So many looks at a living run all showed it; 0: one moment did."""


def quote(evidence: Evidence) -> str:
    """`file:line`, to stand behind a sentence."""
    return evidence.file if evidence.line is None else f"{evidence.file}:{evidence.line}"


def said(evidence: Evidence, text: str) -> str:
    """A sentence with the place that shows it."""
    return f"{text} ({quote(evidence)})"


def short(text: str, size: int = 140) -> str:
    """A line as it may stand inside a sentence."""
    flat = " ".join(text.split())
    return flat if len(flat) <= size else flat[: size - 1] + "…"


def few(ranks: tuple[int, ...]) -> str:
    """`rank 3`, `ranks 0 and 4`, `ranks 1, 2, 3 and 9 more`."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) <= 4:
        return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
    return f"ranks {', '.join(map(str, ranks[:3]))} and {len(ranks) - 3} more"
