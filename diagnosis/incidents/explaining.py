"""What the search for a cause changes in an incident: who was first and why, in the same thread and under one head."""

from dataclasses import replace
from types import MappingProxyType

from diagnosis.findings import Finding
from diagnosis.incidents.announcements import Reason
from diagnosis.incidents.gathering import TOLD, told_beside
from diagnosis.incidents.incident import Entry, Incident, Subject
from diagnosis.incidents.troubles import BROKEN, explains, trouble_of

EXPLANATION = "root_cause"
"""The kind of the finding that the search for a cause ends with. `details["incident"]` names whose it is."""
STALL = "stall"


def asks_for_a_cause(incident: Incident) -> bool:
    """Whether the nodes can tell more of it than the line that opened it, and were not asked yet."""
    return not incident.is_explained and incident.trouble in BROKEN


def take_explanation(incident: Incident, event: str, said: Finding, now: float) -> tuple[Incident, Reason]:
    """The incident after the search, and what kind of news it is.

    A cause that explains the incident's trouble becomes its head, and what was said first a consequence. One of the
    same trouble says whose it is. Anything else only adds what speaks for it: the head keeps its own line.
    """
    head, trouble = incident.head, trouble_of(said)
    told = {name: said.details[name] for name in TOLD if said.details.get(name)}
    after = replace(incident.with_event(event), is_explained=True, changed_at=now)
    if not told:
        return after, Reason.KNOWN
    # A stall keeps its name: it is over when the run goes on, whatever held it up.
    is_cause = incident.trouble not in {trouble, STALL} and explains(trouble, incident.trouble)
    names = said.origin.rank is not None and said.origin.rank != head.origin.rank
    details = {**head.details, **told}
    if is_cause:
        count = max(1, len(incident.own))
        after = replace(
            after,
            trouble=trouble,
            consequences={**incident.consequences, incident.trouble: count},
            subjects=told_beside(incident),
            beside={name: found for name, found in incident.beside.items() if name != trouble},
            head=replace(
                said,
                severity=head.severity,
                seen_at=head.seen_at,
                step=said.step or head.step,
                details={**said.details, **told},
            ),
        )
    elif incident.trouble in {trouble, STALL}:
        origin = said.origin if said.origin.rank is not None or head.origin.node is None else head.origin
        evidence = said.evidence or head.evidence
        after = replace(after, head=replace(head, origin=origin, evidence=evidence, details=details))
    else:
        return replace(after, head=replace(head, details=details)), Reason.JOINED
    after = _with_subject(after, now)
    entry = Entry(event, now, "finding", said.text, EXPLANATION)
    return after.with_entry(entry), Reason.CAUSE_FOUND if is_cause or names else Reason.JOINED


def _with_subject(incident: Incident, now: float) -> Incident:
    """Whom the head names is concerned; a node that stood for an unknown rank of it gives way to the rank."""
    head = incident.head
    subjects = {
        key: subject
        for key, subject in incident.subjects.items()
        if not (subject.kind == head.kind and subject.rank is None and subject.node in {None, head.origin.node})
        or head.origin.rank is None
    }
    origin, trouble = head.origin, incident.trouble
    subject = Subject(head.kind, origin.node, origin.rank, origin.local_rank, since=now, trouble=trouble)
    return replace(incident, subjects=MappingProxyType({**subjects, subject.key: subjects.get(subject.key, subject)}))
