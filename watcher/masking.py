"""Findings without secrets: what leaves the node has passed here."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from diagnosis.findings import Cleared, Finding
from diagnosis.observations import Evidence
from diagnosis.redaction import mask

LONGEST_LINE = 2000
"""Characters of a line that travel as evidence."""
LONGEST_CHANGE = 300


def masked(said: Finding | Cleared) -> Finding | Cleared:
    """The same finding with every secret masked."""
    if isinstance(said, Cleared):
        return replace(said, text=mask(said.text).text)
    return replace(
        said,
        text=mask(said.text).text,
        evidence=tuple(masked_evidence(evidence) for evidence in said.evidence),
        details={name: mask(value).text for name, value in said.details.items()},
        changes=masked_lines(said.changes),
    )


def masked_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines of ours that quote a log: masked, and short."""
    return tuple(mask(line).text[:LONGEST_CHANGE] for line in lines)


def masked_facts(facts: Mapping[str, str]) -> dict[str, str]:
    """What a banner told: masked, and short."""
    return {name: mask(value).text[:LONGEST_CHANGE] for name, value in facts.items()}


def masked_evidence(evidence: Evidence) -> Evidence:
    """A line of a log as it may travel: masked, and not endless."""
    text = mask(evidence.text).text
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]} … ({len(text) - LONGEST_LINE:,} more characters)"
    return replace(evidence, text=text)
