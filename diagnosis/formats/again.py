"""Telling lines that stand in a log again and again, byte for byte: told once, with how often."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from diagnosis.observations import Evidence, Symptom


@dataclass(frozen=True, slots=True)
class Again:
    """What one line told is told by each of the lines right below it, which are the same line."""

    symptoms: tuple[Symptom, ...]
    """As the line before the first of them told it."""
    times: int
    size: int
    """Bytes of one of the lines, its end included."""

    def each(self, newest: int | None = None) -> Iterator[Symptom]:
        """What every one of them tells, or what the newest lines of them tell."""
        for place in range(1 if newest is None else max(1, self.times - newest + 1), self.times + 1):
            for symptom in self.symptoms:
                yield replace(symptom, evidence=self._below(symptom.evidence, place))

    def _below(self, evidence: Evidence, lines: int) -> Evidence:
        line = None if evidence.line is None else evidence.line + lines
        offset = None if evidence.offset is None else evidence.offset + lines * self.size
        return replace(evidence, line=line, offset=offset)
