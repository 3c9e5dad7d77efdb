"""How one incident changes when a finding joins it; each function returns the incident after."""

from collections.abc import Mapping
from dataclasses import replace

from diagnosis.findings import Cleared, Finding
from diagnosis.incidents.announcements import Reason
from diagnosis.incidents.incident import Entry, Incident, Subject, is_worse, subject_key
from diagnosis.observations import Category

DOWN = "run_down"
TOLD = ("more", "next", "unseen", "cause")
"""Details of a finding that tell why, what to do, and what could not be looked at."""


def new_incident(name: str, trouble: str, event: str, finding: Finding, now: float) -> Incident:
    """The incident that one finding opens."""
    incident = Incident(
        id=name,
        run=finding.origin.run,
        trouble=trouble,
        severity=finding.severity,
        head=finding,
        opened_at=now,
        changed_at=now,
        last_finding_at=now,
        attempt=finding.attempt,
    )
    return _with_finding(incident, event, finding, now, trouble)


def join(
    incident: Incident, trouble: str, event: str, finding: Finding, now: float, *, settle_seconds: float
) -> tuple[Incident, Reason]:
    """One more finding of the same trouble, and what kind of news it is."""
    key = subject_key(finding.kind, finding.origin)
    before = incident.subjects.get(key)
    is_again = finding.attempt > incident.attempt
    is_new_kind = finding.kind not in incident.kinds
    after = _with_finding(incident, event, finding, now, trouble)
    if is_worse(finding.severity, incident.severity):
        after = head_with(after, trouble, finding)
        return replace(after, severity=finding.severity, attempt=finding.attempt), Reason.WORSE
    if is_again:
        return replace(after, attempt=finding.attempt), Reason.AGAIN
    if _is_next_stage(finding, incident.head):
        return head_with(after, trouble, finding), Reason.NEWS
    if before is not None and before.is_firing:
        return replace(after, repeats=incident.repeats + 1, changed_at=incident.changed_at), Reason.KNOWN
    if is_earlier(finding, incident.head):
        after = replace(after, head=finding)
    is_late_news = is_new_kind and now - incident.opened_at > settle_seconds
    return after, Reason.NEWS if is_late_news else Reason.JOINED


def stand_beside(incident: Incident, trouble: str, event: str, finding: Finding, now: float) -> tuple[Incident, Reason]:
    """A further trouble of the run is told in this thread; the louder one heads it."""
    after = _with_finding(incident, event, finding, now, trouble)
    after = replace(after, beside={**incident.beside, trouble: finding})
    if is_worse(finding.severity, incident.severity):
        after = head_with(after, trouble, finding)
        return replace(after, severity=finding.severity, attempt=finding.attempt), Reason.WORSE
    return after, Reason.FOLLOWED


def head_with(incident: Incident, trouble: str, finding: Finding) -> Incident:
    """This finding heads the thread; another trouble that did stands beside it from now on."""
    others = {**incident.beside, incident.trouble: incident.head}
    others.pop(trouble, None)
    named = {key: replace(one, trouble=one.trouble or incident.trouble) for key, one in incident.subjects.items()}
    return replace(incident, trouble=trouble, head=finding, beside=others, subjects=named)


def rehead(incident: Incident, trouble: str, event: str, finding: Finding, now: float) -> Incident:
    """The cause of an incident was found: it heads the thread, what was said first is its consequence.

    A stalled run that went down is the same trouble later: why it stood is what was found while it stood.
    """
    consequences = {**incident.consequences, incident.trouble: max(1, len(incident.own))}
    emptied = replace(
        incident,
        trouble=trouble,
        head=_with_cause_of(incident, finding),
        subjects=told_beside(incident),
        beside={name: found for name, found in incident.beside.items() if name != trouble},
        consequences=consequences,
        severity=finding.severity if is_worse(finding.severity, incident.severity) else incident.severity,
        attempt=max(incident.attempt, finding.attempt),
    )
    return _with_finding(emptied, event, finding, now, trouble)


def told_beside(incident: Incident) -> Mapping[str, Subject]:
    """Whom the troubles beside its own concern."""
    return {key: subject for key, subject in incident.subjects.items() if subject.trouble in incident.beside}


def _with_cause_of(incident: Incident, finding: Finding) -> Finding:
    told = {name: incident.head.details[name] for name in TOLD if incident.head.details.get(name)}
    if finding.kind != DOWN or told.get("cause", Category.NONE) == Category.NONE:
        return finding
    earlier = incident.head
    origin = earlier.origin if earlier.origin.rank is not None else finding.origin
    evidence = earlier.evidence or finding.evidence
    return replace(finding, origin=origin, evidence=evidence, details={**finding.details, **told})


def explain(incident: Incident, trouble: str, event: str, finding: Finding, now: float) -> tuple[Incident, Reason]:
    """Count a consequence that stays unsaid; one that is louder than its cause raises the incident."""
    consequences = {**incident.consequences, trouble: incident.consequences.get(trouble, 0) + 1}
    after = replace(incident.with_event(event), consequences=consequences, changed_at=now)
    if is_worse(finding.severity, incident.severity):
        return replace(after, severity=finding.severity), Reason.WORSE
    return after, Reason.CONSEQUENCE


def note(incident: Incident, event: str, finding: Finding, now: float) -> Incident:
    """Write a line into the timeline."""
    entry = Entry(event, now, "finding", finding.text, finding.kind)
    return incident.with_event(event).with_entry(entry)


def clear(incident: Incident, event: str, cleared: Cleared, now: float) -> Incident:
    """Whom the word concerns is no longer in trouble; without node and rank it concerns everyone."""
    concerned = {key for key, subject in incident.subjects.items() if _concerns(cleared, subject)}
    same_kind = {
        key for key, subject in incident.subjects.items() if subject.is_firing and subject.kind == cleared.kind
    }
    if not concerned & same_kind and len(same_kind) == 1:
        # Ranks that print the same numbers share a detector: another one may be heard when it is over.
        concerned = same_kind
    subjects = {
        key: replace(subject, is_firing=False) if key in concerned else subject
        for key, subject in incident.subjects.items()
    }
    entry = Entry(event, now, "cleared", cleared.text, cleared.kind)
    return _headed_by_what_fires(replace(incident.with_event(event).with_entry(entry), subjects=subjects))


def _headed_by_what_fires(incident: Incident) -> Incident:
    """Once its own trouble is over, the first of the others that is not heads the thread."""
    firing = incident.firing_troubles
    if not firing or incident.trouble in firing:
        return incident
    trouble = next((name for name in incident.beside if name in firing), incident.trouble)
    return head_with(incident, trouble, incident.beside.get(trouble, incident.head))


def is_earlier(finding: Finding, than: Finding) -> bool:
    """Whether a finding is where the trouble began, as far as steps and clocks tell."""
    if finding.kind != than.kind:
        return False
    if finding.step is not None and than.step is not None and finding.step != than.step:
        return finding.step < than.step
    return (
        finding.step == than.step
        and finding.seen_at is not None
        and than.seen_at is not None
        and finding.seen_at < than.seen_at
    )


def _is_next_stage(finding: Finding, of: Finding) -> bool:
    """Whether the trouble went on to something worse: a NaN grad norm, and then the loss is NaN too."""
    if (of.kind, finding.kind) != ("nonfinite_grad_norm", "nonfinite_loss"):
        return False
    return of.step is None or finding.step is None or finding.step > of.step


def _with_finding(incident: Incident, event: str, finding: Finding, now: float, trouble: str) -> Incident:
    key = subject_key(finding.kind, finding.origin)
    before = incident.subjects.get(key)
    if before is not None and before.is_firing:
        subject = replace(before, count=before.count + 1)
    else:
        subject = Subject(
            kind=finding.kind,
            node=finding.origin.node,
            rank=finding.origin.rank,
            local_rank=finding.origin.local_rank,
            since=now,
            count=1 if before is None else before.count + 1,
            trouble=trouble,
            step=finding.step,
            seen_at=finding.seen_at,
        )
    after = replace(
        incident.with_event(event), subjects={**incident.subjects, key: subject}, last_finding_at=now, changed_at=now
    )
    if before is not None:
        return after
    return after.with_entry(Entry(event, now, "finding", finding.text, finding.kind))


def _concerns(cleared: Cleared, subject: Subject) -> bool:
    return (
        subject.kind == cleared.kind
        and cleared.origin.rank in (None, subject.rank)
        and cleared.origin.node in (None, subject.node)
    )
