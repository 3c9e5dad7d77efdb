"""What a person does to an incident; each function returns the incident after."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from diagnosis.incidents.announcements import Reason
from diagnosis.incidents.incident import Entry, Incident, State
from diagnosis.incidents.mutes import Mute

LONGEST_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Act:
    """One thing a person does."""

    kind: str
    """acknowledge, release, note, resolve, reopen."""
    by: str
    """Slack id of the person."""
    text: str = ""
    """Their own words; a note needs some."""
    is_read: bool = False
    """Whether the thread shows these words already, because they were written there."""


Change = tuple[Incident, Reason]


def apply(incident: Incident, act: Act, now: float) -> Change | None:
    """The incident after the act, and how that is said; None: it changes nothing."""
    do = ACTS.get(act.kind)
    return do(incident, act, now) if do is not None else None


def cleaned(act: Act) -> Act:
    """The same act, its words without blanks around them and no longer than we keep."""
    return replace(act, text=act.text.strip()[:LONGEST_TEXT])


def acknowledge(incident: Incident, act: Act, now: float) -> Change | None:
    """Someone has it."""
    if incident.state is not State.OPEN:
        return None
    taken = _with(incident, act, now, "acknowledged", state=State.ACKNOWLEDGED)
    return replace(taken, acknowledged_by=act.by, acknowledged_at=now, owner_heard_at=now), Reason.ACKNOWLEDGED


def release(incident: Incident, act: Act, now: float) -> Change | None:
    """Whoever has it gives it back; somebody else may say it for them."""
    if incident.state is not State.ACKNOWLEDGED:
        return None
    return _freed(_with(incident, act, now, "released")), Reason.RELEASED


def write_note(incident: Incident, act: Act, now: float) -> Change | None:
    """A line in the timeline, in somebody's own words; the owner is heard by it."""
    if not act.text:
        return None
    noted = _with(incident, act, now, "noted")
    if act.by == incident.acknowledged_by:
        noted = replace(noted, owner_heard_at=now)
    return noted, Reason.NOTED


def resolve(incident: Incident, act: Act, now: float) -> Change | None:
    """A person says that it is over."""
    if not incident.is_open:
        return None
    closed = _with(incident, act, now, "resolved", state=State.RESOLVED)
    return replace(closed, resolved_at=now, resolved_because=act.text, resolved_by=act.by), Reason.CLOSED_BY


def reopen(incident: Incident, act: Act, now: float) -> Change | None:
    """A person says that it is not over after all."""
    if incident.is_open:
        return None
    opened = _freed(_with(incident, act, now, "reopened"))
    return replace(opened, resolved_at=None, resolved_because="", resolved_by=""), Reason.REOPENED_BY


ACTS: Mapping[str, Callable[[Incident, Act, float], Change | None]] = MappingProxyType(
    {"acknowledge": acknowledge, "release": release, "note": write_note, "resolve": resolve, "reopen": reopen}
)


def lapse(incident: Incident, now: float) -> Incident:
    """Nothing was heard of the owner for long: it is free again."""
    entry = Entry(f"{incident.id}/lapsed/{now:.3f}", now, "lapsed", "", by=incident.acknowledged_by)
    return _freed(incident.with_entry(entry))


def mute(incident: Incident, wanted: Mute, now: float) -> Incident:
    """Quiet until a time."""
    changed = replace(incident, muted_until=wanted.until, muted_by=wanted.by, muted_scope=wanted.scope)
    return changed.with_entry(
        Entry(f"{incident.id}/muted/{wanted.until:.0f}", now, "muted", wanted.reason, by=wanted.by)
    )


def unmute(incident: Incident, now: float) -> Incident:
    """The quiet is over."""
    entry = Entry(f"{incident.id}/unmuted/{now:.3f}", now, "unmuted", "")
    return incident.with_entry(entry, muted_until=None, muted_by="", muted_scope="")


def _with(incident: Incident, act: Act, now: float, what: str, **changes: object) -> Incident:
    entry = Entry(f"{incident.id}/{what}/{now:.3f}/{act.by}", now, what, act.text, by=act.by)
    return incident.with_entry(entry, **changes)


def _freed(incident: Incident) -> Incident:
    return replace(
        incident, state=State.OPEN, acknowledged_by="", acknowledged_at=None, owner_heard_at=None, reminders=0
    )
