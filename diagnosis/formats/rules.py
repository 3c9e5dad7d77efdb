"""Rules for lines that are no step: what they mean, and the pieces of text by which they are found quickly."""

import re
from dataclasses import dataclass

from diagnosis.formats.numbers import NUMBER
from diagnosis.observations import Phase


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of line. One of the needles stands in every line that the pattern matches."""

    needles: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class PhaseRule(Rule):
    """A line that says a phase begins or is over; named groups `step` and `eval_loss`."""

    phase: Phase
    begins: bool


@dataclass(frozen=True, slots=True)
class BannerRule(Rule):
    """A line that opens a new attempt."""

    why: str


@dataclass(frozen=True, slots=True)
class FactRule(Rule):
    """A line that tells something of the environment: group 1 is the fact."""

    name: str


@dataclass(frozen=True, slots=True)
class SkipRule(Rule):
    """A line that stands for one skipped optimizer step."""


@dataclass(frozen=True, slots=True)
class KnownRule(Rule):
    """A line with a number that looks like a metric and is understood as none: a sum, a mean over an epoch."""


@dataclass(frozen=True, slots=True)
class HintRule(Rule):
    """A line that tells how steps are counted: group 1 is the number."""

    name: str


def pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern in which `#` stands for the evaluation's loss."""
    return re.compile(text.replace("#", f"(?P<eval_loss>{NUMBER})"))
