"""Everything a line can say that is no step, found with one quick look."""

import re
from collections.abc import Iterator

from diagnosis.formats import banners, overflow, phases, summaries
from diagnosis.formats.rules import KnownRule, Rule
from diagnosis.signatures import ROWS
from diagnosis.signatures.prefilter import Prefilter

RULES: tuple[Rule, ...] = (
    *overflow.RULES,
    *phases.RULES,
    *summaries.RULES,
    *banners.FACTS,
    *banners.BANNERS,
    *banners.HINTS,
)

_ORDER = {id(rule): place for place, rule in enumerate(RULES)}
_PREFILTER: Prefilter[Rule] = Prefilter([(rule.needles, rule) for rule in RULES])
# One look decides for our rules and for the signatures' rows; only a line with a needle is looked at again.
_EITHER: Prefilter[object] = Prefilter(
    [*((rule.needles, rule) for rule in RULES), *((row.needles, row) for row in ROWS.values())]
)


def may_tell(text: str) -> bool:
    """False for nearly every healthy line; never false for one that a rule or a signature matches."""
    return _EITHER.may_match(text)


def may_say(text: str) -> bool:
    """False for every line that none of our own rules matches."""
    return _PREFILTER.may_match(text)


def is_no_step(text: str) -> bool:
    """True for a line whose loss is an evaluation's, a sum or a mean."""
    return _PREFILTER.may_match(text) and any(
        isinstance(rule, KnownRule) or "eval_loss" in rule.pattern.groupindex for rule, _ in told_by(text)
    )


def is_known(text: str) -> bool:
    """True for a line whose loss is a sum or a mean, whatever else the log tells."""
    return _PREFILTER.may_match(text) and any(isinstance(rule, KnownRule) for rule, _ in told_by(text))


def told_by(text: str) -> Iterator[tuple[Rule, re.Match[str]]]:
    """The rules that a line fits, the first in the tables first."""
    for rule in sorted(_PREFILTER.candidates(text), key=lambda candidate: _ORDER[id(candidate)]):
        match = rule.pattern.search(text)
        if match is not None:
            yield rule, match
