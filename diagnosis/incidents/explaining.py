"""What the search for a cause changes in an incident: who was first and why, in the same thread and under one head."""

from dataclasses import replace
from types import MappingProxyType

from diagnosis.findings import Finding
from diagnosis.incidents.announcements import Reason
from diagnosis.incidents.gathering import TOLD, told_beside
from diagnosis.incidents.incident import FOUND_FIRST, Entry, Incident, Subject
from diagnosis.incidents.troubles import BROKEN, explains, trouble_of

EXPLANATION = "root_cause"
"""The kind of the finding that the search for a cause ends with. `details["incident"]` names whose it is."""
STALL = "stall"
ABOUT = "about"
"""The detail that names the trouble beside an incident's own of which the search was."""
_LOOKED_INTO = "looked_into"
"""The detail of a trouble beside that says that the nodes were asked about it."""


def asks_for_a_cause(incident: Incident) -> bool:
    """Whether the nodes can tell more of it than the line that opened it, and were not asked yet."""
    return not incident.is_explained and incident.trouble in BROKEN


def asked_beside(incident: Incident) -> tuple[str, ...]:
    """Troubles that are told beside its own, of which the nodes can tell more and were not asked yet."""
    return tuple(
        trouble
        for trouble, finding in incident.beside.items()
        if incident.is_announced and trouble in BROKEN and not finding.details.get(_LOOKED_INTO)
    )


def take_beside(incident: Incident, event: str, said: Finding, now: float) -> tuple[Incident, Reason, Finding]:
    """The incident after a search for the cause of a trouble beside its own, what news that is, and the news."""
    trouble = said.details[ABOUT]
    before = incident.beside[trouble]
    told = {name: said.details[name] for name in TOLD if said.details.get(name)}
    names = said.origin.rank is not None
    known = replace(
        before,
        origin=said.origin if names else before.origin,
        details={**before.details, **told, _LOOKED_INTO: "yes"},
    )
    after = replace(incident.with_event(event), beside={**incident.beside, trouble: known}, changed_at=now)
    if not told:
        return after, Reason.KNOWN, known
    # The line that opened it stands in the thread already.
    news = replace(known, evidence=said.evidence if said.evidence != before.evidence else ())
    # What it was stands in the timeline already; whose it was, or that nobody can tell, is the news.
    text = told.get("more", said.text).splitlines()[0].rstrip(".")
    return after.with_entry(Entry(event, now, "finding", text, EXPLANATION)), Reason.LOOKED_INTO, news


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
    if said.origin.rank is not None:
        told[FOUND_FIRST] = "yes"
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
