"""What the tracker wants said. Each carries the findings that are settled once it is said."""

from dataclasses import dataclass
from enum import StrEnum

from diagnosis.findings import Finding
from diagnosis.incidents.incident import Incident


class Reason(StrEnum):
    """Why something is said, or why it is not."""

    NEW = "new"
    JOINED = "joined"
    """More ranks, nodes or counts: the root is edited."""
    NEWS = "news"
    """A further kind of finding, well after the opening."""
    FOLLOWED = "followed"
    """A further trouble of the run, told in the thread of the one that came before it."""
    PARTLY_OVER = "partly_over"
    """One of several troubles is over."""
    WORSE = "worse"
    CAUSE_FOUND = "cause_found"
    LOOKED_INTO = "looked_into"
    """The nodes were asked why a trouble came that is told beside another: how a run died that had gone NaN."""
    AGAIN = "again"
    """The same trouble in a later attempt of the run."""
    REOPENED = "reopened"
    NOTE = "note"
    """Worth a line in an open thread, never a thread of its own."""
    CONSEQUENCE = "consequence"
    """Explained by this incident: counted in its root."""
    ACKNOWLEDGED = "acknowledged"
    RELEASED = "released"
    """Its owner gave it back."""
    LAPSED = "lapsed"
    """Nothing was heard of its owner for long."""
    NOTED = "noted"
    """A person wrote something down."""
    CLOSED_BY = "closed_by"
    """A person says that it is over."""
    REOPENED_BY = "reopened_by"
    """A person says that it is not."""
    MUTED = "muted"
    UNMUTED = "unmuted"
    STILL_OPEN = "still_open"
    RECOVERED = "recovered"
    RESTARTED = "restarted"
    ENDED = "ended"
    CLOSED = "closed"
    """It is over, and was muted: only the root says so."""
    EXPLAINED = "explained"
    """Another incident is its cause."""
    KNOWN = "known"
    """Nothing new: settled without a word."""


REPLIES = frozenset(
    {
        Reason.NEWS,
        Reason.FOLLOWED,
        Reason.PARTLY_OVER,
        Reason.WORSE,
        Reason.CAUSE_FOUND,
        Reason.LOOKED_INTO,
        Reason.AGAIN,
        Reason.REOPENED,
        Reason.NOTE,
        Reason.UNMUTED,
        Reason.STILL_OPEN,
        Reason.RELEASED,
        Reason.LAPSED,
        Reason.NOTED,
        Reason.CLOSED_BY,
        Reason.REOPENED_BY,
        Reason.RECOVERED,
        Reason.RESTARTED,
        Reason.ENDED,
        Reason.EXPLAINED,
    }
)
"""Reasons that get a line of their own in the thread; every other one only edits the root."""


BY_PEOPLE = frozenset({Reason.RELEASED, Reason.LAPSED, Reason.NOTED, Reason.CLOSED_BY, Reason.REOPENED_BY})
"""Reasons that may come again and again in one life of an incident."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """Something to say about one incident."""

    incident: Incident
    reason: Reason
    at: float
    events: tuple[str, ...] = ()
    """Ids of the findings that are settled once this was said."""
    finding: Finding | None = None
    """The news itself, where there is one."""
    text: str = ""
    """One plain sentence, where there is no finding."""
    by: str = ""
    """Slack id of the person who did it; empty: nobody."""

    @property
    def speaks(self) -> bool:
        """Whether it gets a message of its own."""
        return self.reason in REPLIES

    @property
    def key(self) -> str:
        """What a message about it is known by, in every process: the finding, or the incident's own moment."""
        if self.events:
            return self.events[0]
        if self.reason in BY_PEOPLE:
            return f"{self.incident.id}/{self.reason}/{self.at:.3f}"
        lives = sum(entry.what == "reopened" for entry in self.incident.entries)
        return f"{self.incident.id}/{self.reason}/{self.incident.reminders}/{lives}"


class Opened(Announcement):
    """A new incident: its root message."""

    __slots__ = ()

    @property
    def speaks(self) -> bool:
        """A root message is one."""
        return True


class Updated(Announcement):
    """The picture changed."""

    __slots__ = ()


class Reminded(Announcement):
    """Nobody has it yet."""

    __slots__ = ()


class Resolved(Announcement):
    """It is over."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Noted:
    """Recorded, and nothing is said: known already, explained by nothing open, or muted."""

    events: tuple[str, ...]
    reason: Reason
    incident: Incident | None = None
