"""One trouble of one run: who is concerned, since when, what happened to it.

An `Incident` is a frozen value. The announcer saves exactly the value it has shown, so that a record in the
registry never claims more than people have read.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from diagnosis.findings import Finding, Severity
from diagnosis.observations import Origin

MOST_ENTRIES = 200
"""Timeline entries kept; later ones are only counted."""
MOST_EVENTS = 512
"""Newest finding ids kept, to know a finding that is delivered again."""
MOST_CALLS = 64
"""Newest findings kept of those that call for a message of their own."""

RANKS: Mapping[Severity, int] = MappingProxyType({Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2})


class State(StrEnum):
    """Where an incident stands in its life."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


FOUND_FIRST = "found_first"
"""The detail of a finding whose rank the search for a cause named."""
NEIGHBOURS_SECONDS = 1.0
"""Lines of one node that lie closer may have been read in any order: its logs are polled."""
CLOCKS_SECONDS = 5.0
"""So far the clocks of two nodes may be apart without anybody's noticing."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom one kind of finding concerns: a rank, a node, or the run (both None)."""

    kind: str
    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    since: float = 0.0
    """Unix seconds when it was first received."""
    is_firing: bool = True
    count: int = 1
    trouble: str = ""
    """Whose it is; empty in records of earlier versions: the incident's own."""
    step: int | None = None
    """Where it was first found."""
    seen_at: float | None = None
    """When (Unix seconds on its node's clock)."""

    @property
    def key(self) -> str:
        """The same for the same kind, node and rank."""
        return subject_key(self.kind, Origin(node=self.node, rank=self.rank))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the timeline, known by the id of the finding or of the act."""

    event: str
    at: float
    what: str
    """finding, cleared, acknowledged, released, lapsed, noted, muted, unmuted, reminded, resolved, reopened."""
    text: str
    kind: str = ""
    by: str = ""
    """Slack id of the person; empty: nobody."""


@dataclass(frozen=True, slots=True)
class Incident:
    """Findings of one trouble in one run; one Slack thread."""

    id: str
    run: str
    trouble: str
    severity: Severity
    head: Finding
    """The finding the root message tells: the cause, else the earliest."""
    opened_at: float
    changed_at: float
    last_finding_at: float
    attempt: int = 0
    state: State = State.OPEN
    is_announced: bool = False
    """Whether its root message was asked for."""
    is_explained: bool = False
    """Whether the nodes were asked for its cause."""
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    consequences: Mapping[str, int] = field(default_factory=dict)
    """Trouble this one explains → how many findings of it stayed unsaid."""
    beside: Mapping[str, Finding] = field(default_factory=dict)
    """Other troubles of the run that are told in this thread → the first finding of each."""
    entries: tuple[Entry, ...] = ()
    events: tuple[str, ...] = ()
    calls: Mapping[str, str] = field(default_factory=dict)
    """Finding id → the reason for a message of its own in the thread: what a bot that was killed still owed."""
    repeats: int = 0
    """Findings that said again what was known."""
    reminders: int = 0
    acknowledged_by: str = ""
    acknowledged_at: float | None = None
    owner_heard_at: float | None = None
    """When its owner last said something: took it, wrote a note."""
    muted_until: float | None = None
    muted_by: str = ""
    muted_scope: str = ""
    """What the quiet covers: incident, node, trouble, run."""
    resolved_at: float | None = None
    resolved_because: str = ""
    resolved_by: str = ""
    """Slack id of the person who closed it; empty: nobody."""

    @property
    def is_open(self) -> bool:
        """Open or acknowledged: not over."""
        return self.state is not State.RESOLVED

    @property
    def firing(self) -> tuple[Subject, ...]:
        """The subjects whose trouble is not over."""
        return tuple(subject for subject in self.subjects.values() if subject.is_firing)

    @property
    def troubles(self) -> tuple[str, ...]:
        """Its own trouble, and those told beside it."""
        return (self.trouble, *self.beside)

    @property
    def firing_troubles(self) -> frozenset[str]:
        """Those of its troubles that are not over."""
        return frozenset(subject.trouble or self.trouble for subject in self.firing)

    def told_of(self, subject: Subject) -> Finding:
        """The finding that tells of the trouble a subject is in."""
        return self.beside.get(subject.trouble, self.head)

    @property
    def own(self) -> tuple[Subject, ...]:
        """Whom its own trouble concerns, without those told beside it."""
        return tuple(subject for subject in self.subjects.values() if subject.trouble in ("", self.trouble))

    @property
    def ranks(self) -> tuple[int, ...]:
        """Every rank its own trouble concerned so far, in order."""
        return tuple(sorted({subject.rank for subject in self.own if subject.rank is not None}))

    @property
    def is_head_first(self) -> bool:
        """Whether the rank that its root names is known to be the first of those that tell the same.

        A loss that all ranks share is NaN on all of them at once: whose line was read first says nothing.
        """
        head = self.head
        if head.details.get(FOUND_FIRST):
            return True
        others = [one for one in self.own if one.kind == head.kind and one.rank not in {None, head.origin.rank}]
        if head.step is not None and all(one.step is not None for one in others):
            return all(head.step < one.step for one in others if one.step is not None)
        return all(_is_surely_later(one, head) for one in others)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node its own trouble concerned so far, in order."""
        return tuple(sorted({subject.node for subject in self.own if subject.node is not None}))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every kind of finding in it, the first one first."""
        return tuple(dict.fromkeys(subject.kind for subject in self.subjects.values()))

    def knows(self, event: str) -> bool:
        """Whether this finding is already part of it."""
        return event in self.events

    def is_muted(self, now: float) -> bool:
        """Whether a person asked for quiet about it."""
        return self.muted_until is not None and now < self.muted_until

    def with_entry(self, entry: Entry, **changes: object) -> "Incident":
        """The same incident with one more line in its timeline."""
        # People's own words find room when findings no longer do.
        most = 2 * MOST_ENTRIES if entry.by else MOST_ENTRIES
        entries = (*self.entries, entry) if len(self.entries) < most else self.entries
        return replace(self, entries=entries, changed_at=entry.at, **changes)  # type: ignore[arg-type]

    def calling(self, event: str, reason: str) -> "Incident":
        """The same incident, with a finding that calls for a message of its own."""
        newest = [*self.calls.items(), (event, reason)][-MOST_CALLS:]
        return replace(self, calls=dict(newest))

    def with_event(self, event: str) -> "Incident":
        """The same incident, knowing one more finding."""
        return replace(self, events=(*self.events, event)[-MOST_EVENTS:])


def _is_surely_later(subject: Subject, than: Finding) -> bool:
    if subject.seen_at is None or than.seen_at is None:
        return False
    is_neighbour = subject.node == than.origin.node
    return subject.seen_at - than.seen_at > (NEIGHBOURS_SECONDS if is_neighbour else CLOCKS_SECONDS)


def subject_key(kind: str, origin: Origin) -> str:
    """How a subject is found again in an incident."""
    return f"{kind}/{origin.node or ''}/{'' if origin.rank is None else origin.rank}"


def incident_id(run: str, event: str) -> str:
    """A name that the same opening finding always gives, in every process."""
    return hashlib.sha256(f"{run}\0{event}".encode()).hexdigest()[:12]


def is_worse(severity: Severity, than: Severity) -> bool:
    """Whether one severity is louder than another."""
    return RANKS[severity] > RANKS[than]
