"""The same failure before: which earlier incident is most like this one, and what helped then."""

from collections.abc import Iterable, Mapping
from typing import Any

from diagnosis.incidents import Incident
from diagnosis.incidents.explaining import STALL
from diagnosis.observations import Category
from handlers.kept import Kept, kept_of
from handlers.messages.earlier import earlier_phrase
from handlers.messages.phrase import NOTHING, Phrase
from registry import Registry

OF_THIS_RUN, OF_ALL = 50, 300
DIVERGENCE = "divergence"
_OF_SEVERAL_KINDS = frozenset({Category.LOSS_SPIKE, Category.NAN_INF, STALL})
_SAID_OTHERWISE: Mapping[str, str] = {
    "loss_spike_reported": "spike",
    "nonfinite_reported": "nonfinite_loss",
    "nonfinite_grad_norm": "nonfinite_loss",
    "nonfinite_eval": "nonfinite_loss",
    "nan_counter": "nonfinite_loss",
}
"""Kinds of one failure: seen in its numbers, or said by the training itself."""


async def earlier_of(registry: Registry, incident: Incident, workspace_url: str) -> Phrase:
    """One line about it; nothing when this never happened before."""
    found = None
    async for candidates in registry.incidents.newest(incident.run, OF_THIS_RUN, OF_ALL):
        found = most_like(incident, [*_read(candidates), *([found] if found is not None else [])])
    return earlier_phrase(found, incident.run, workspace_url) if found is not None else NOTHING


def most_like(incident: Incident, candidates: Iterable[Kept]) -> Kept | None:
    """The closed incident of the same trouble that tells most about this one; the newest of equals."""
    closed = [kept for kept in candidates if _is_same_trouble(kept.incident, incident)]
    return max(closed, key=lambda kept: (*_likeness(kept.incident, incident), kept.incident.opened_at), default=None)


def _is_same_trouble(other: Incident, incident: Incident) -> bool:
    is_over = not other.is_open and other.is_announced
    return is_over and other.id != incident.id and failure_of(other) == failure_of(incident)


def failure_of(incident: Incident) -> tuple[str, str]:
    """Its trouble, and the kind where one trouble holds different failures: a spike ends, a divergence stays."""
    if incident.trouble not in _OF_SEVERAL_KINDS:
        return incident.trouble, ""
    kind = DIVERGENCE if DIVERGENCE in incident.kinds else incident.head.kind
    return incident.trouble, _SAID_OTHERWISE.get(kind, kind)


def _likeness(other: Incident, incident: Incident) -> tuple[bool, bool, bool, bool]:
    """The same line, what helped is known, the same kind on the same node, the same run."""
    signature = incident.head.details.get("signature")
    return (
        bool(signature) and other.head.details.get("signature") == signature,
        bool(what_people_said(other)),
        bool(set(other.nodes) & set(incident.nodes)) and other.head.kind == incident.head.kind,
        other.run == incident.run,
    )


def what_people_said(incident: Incident) -> list[tuple[str, str]]:
    """Who wrote what: how it was closed first, then the notes."""
    closed = [(incident.resolved_by, incident.resolved_because)] if incident.resolved_by else []
    notes = [(entry.by, entry.text) for entry in incident.entries if entry.what == "noted"]
    return [(who, text) for who, text in (*closed, *reversed(notes)) if text]


def _read(candidates: Mapping[str, Mapping[str, Any]]) -> list[Kept]:
    return [kept for fields in candidates.values() if (kept := kept_of(fields)) is not None]
