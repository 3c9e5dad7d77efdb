"""Tables of telling lines, by family, and the one pass that asks them.

A row says how to know a line, its role (root, cascade, confirm, context, benign), its category, what to do
and where it was seen. Adding one is one `row(…)` in a table; a new family is one file and one line in TABLES.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from diagnosis.observations import NO_TEXT, Category, Evidence, Origin, Role, Symptom
from diagnosis.signatures import (
    accelerators,
    collectives,
    coordination,
    crashes,
    cuda,
    dataloader,
    elastic,
    host_memory,
    kernel,
    launchers,
    loss,
    nccl,
    network,
    noise,
    python_errors,
    scheduler,
    storage,
    tpu,
    watchdogs,
)
from diagnosis.signatures.prefilter import Prefilter
from diagnosis.signatures.python_errors import EXCEPTION
from diagnosis.signatures.row import Signature, Tier

__all__ = ["LIMIT", "ROWS", "TABLES", "Signature", "Tier", "match", "may_match"]

TABLES = (
    kernel.TABLE,
    host_memory.TABLE,
    crashes.TABLE,
    storage.TABLE,
    cuda.TABLE,
    accelerators.TABLE,
    tpu.TABLE,
    dataloader.TABLE,
    loss.TABLE,
    collectives.TABLE,
    nccl.TABLE,
    network.TABLE,
    coordination.TABLE,
    watchdogs.TABLE,
    elastic.TABLE,
    scheduler.TABLE,
    launchers.TABLE,
    python_errors.TABLE,
    noise.TABLE,
)
"""First speaks first: what a line says of hardware stands before what it says of waiting."""

ROWS: Mapping[str, Signature] = MappingProxyType(
    {found.name: found for table in (*TABLES, (EXCEPTION,)) for found in table}
)
"""Every row by its name."""

LIMIT = 16_384
"""Characters of a line that are looked at. What a line tells stands near its beginning."""

_ORDER: Mapping[str, int] = {name: place for place, name in enumerate(ROWS)}
_PREFILTER = Prefilter([(found.needles, found) for found in ROWS.values()])


def may_match(text: str) -> bool:
    """False for nearly every healthy line, at the price of one quick search; never false for a telling one."""
    return _PREFILTER.may_match(text)


def match(
    text: str, origin: Origin, evidence: Evidence, time: float | None = None, seen_at: float | None = None
) -> list[Symptom]:
    """What the tables say of one line, in the order of TABLES; empty for a line that tells nothing.

    `text` is the line without its envelope, `evidence` the line as it was printed.
    """
    symptoms = []
    for reading in _read(text[:LIMIT]):
        place = origin
        if reading.row.names_rank and origin.rank is None and "rank" in reading.fields:
            place = replace(origin, rank=int(reading.fields["rank"]))
        symptoms.append(
            Symptom(
                origin=place,
                signature=reading.row.name,
                role=reading.role,
                category=reading.category,
                evidence=evidence,
                fields=reading.fields,
                time=time,
                seen_at=seen_at,
            )
        )
    return symptoms


class _Reading(NamedTuple):
    row: Signature
    role: Role
    category: Category
    fields: Mapping[str, str]


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[_Reading, ...]:
    """The rows a text matches. Cached, because a failing run repeats itself thousands of times."""
    candidates = sorted(_PREFILTER.candidates(text), key=lambda candidate: _ORDER[candidate.name])
    readings: list[_Reading] = []
    for candidate in candidates:
        if candidate is EXCEPTION and any(reading.role is not Role.CONTEXT for reading in readings):
            continue  # somebody knows this exception better
        if (found := candidate.pattern.search(text)) is not None:
            fields = {name: value for name, value in found.groupdict().items() if value is not None}
            readings.append(
                _Reading(candidate, *candidate.rule(fields), MappingProxyType(fields) if fields else NO_TEXT)
            )
    return tuple(readings)
