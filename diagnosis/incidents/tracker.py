"""Findings in, announcements out: one trouble of one run is one incident, whoever cries and however often."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.incidents import people
from diagnosis.incidents.announcements import (
    REPLIES,
    Announcement,
    Noted,
    Opened,
    Reason,
    Reminded,
    Resolved,
    Updated,
)
from diagnosis.incidents.explaining import ABOUT, EXPLANATION, asks_for_a_cause, take_beside, take_explanation
from diagnosis.incidents.gathering import clear, explain, join, new_incident, note, rehead, stand_beside
from diagnosis.incidents.habits import Habits
from diagnosis.incidents.incident import Entry, Incident, State, incident_id
from diagnosis.incidents.mutes import Mute
from diagnosis.incidents.people import Act
from diagnosis.incidents.troubles import (
    AFTERMATH,
    TROUBLES,
    UNWATCHED,
    are_of_one_night,
    explains,
    is_aftermath,
    trouble_of,
)

Said = list[Announcement | Noted]


class Tracker:
    """Holds the incidents of all runs; every method takes the time and returns what is to be said."""

    def __init__(self, habits: Habits = Habits()) -> None:  # noqa: B008 - a frozen value
        self._habits = habits
        self._incidents: dict[str, Incident] = {}
        self._mutes: tuple[Mute, ...] = ()
        self._owed: dict[str, str] = {}
        """Finding id → the reason for a message that an earlier process may not have posted."""

    def restore(self, incidents: Iterable[Incident]) -> None:
        """Take over what an earlier process had shown."""
        for incident in incidents:
            self._incidents[incident.id] = incident
            self._owed |= incident.calls

    def get(self, incident: str) -> Incident | None:
        """The incident of that id, as it stands now."""
        return self._incidents.get(incident)

    def open_of(self, run: str) -> list[Incident]:
        """The incidents of a run that are not over, the oldest first."""
        found = [incident for incident in self._incidents.values() if incident.run == run and incident.is_open]
        return sorted(found, key=lambda incident: incident.opened_at)

    @property
    def troubled_runs(self) -> tuple[str, ...]:
        """The runs of which something is open."""
        return tuple(sorted({incident.run for incident in self._incidents.values() if incident.is_open}))

    def receive(self, event: str, verdict: Finding | Cleared, now: float) -> Said:
        """One finding, or the word that one is over. The same event twice changes nothing."""
        known = self._knower_of(event, verdict.origin.run)
        if known is not None:
            return self._receive_known(known, event, verdict, now)
        if isinstance(verdict, Finding) and verdict.kind == EXPLANATION:
            return self._receive_explanation(event, verdict, now)
        if isinstance(verdict, Cleared):
            return self._receive_cleared(event, verdict, now)
        if verdict.severity is Severity.INFO:
            return self._receive_note(event, verdict, now)
        return self._receive_trouble(event, verdict, now)

    def would_tell(self, finding: Finding, now: float) -> bool:
        """Whether a finding gets words of its own: no mute covers it, and no open cause explains it."""
        incident = new_incident("", trouble_of(finding), "", finding, now)
        return not self._mute_of(incident, now) and not self._cause_of(incident.run, incident.trouble, now)

    def tick(self, now: float, unsaid: Collection[str] = ()) -> Said:
        """Time passed: what waited long enough is opened, what nobody took is said again.

        What is over is forgotten after a while, but not while something of it is `unsaid`.
        """
        said: Said = []
        for incident in list(self._incidents.values()):
            if incident.is_open and not incident.is_announced:
                said += self._open_when_due(incident, now)
            elif incident.is_open:
                said += self._end_mute(incident, now) or self._lapse(incident, now) or self._remind(incident, now)
            elif now - incident.changed_at > self._forget_after and incident.id not in unsaid:
                del self._incidents[incident.id]
        return said

    def set_mutes(self, mutes: Sequence[Mute], now: float) -> Said:
        """The mutes that hold now; open threads show that they are quiet, or that they are no longer."""
        self._mutes = tuple(mutes)
        said: Said = []
        for incident in list(self._incidents.values()):
            mute = self._mute_of(incident, now)
            if incident.is_open and mute and incident.muted_until != mute.until:
                said += self._say_muted(incident, mute, now)
            elif incident.is_open and mute is None and incident.is_muted(now):
                said += self._keep(people.unmute(incident, now), Reason.UNMUTED, now)
        return said

    def acknowledge(self, incident: str, by: str, now: float) -> Said:
        """A person has it: reminders stop, news still comes."""
        return self.act(incident, Act("acknowledge", by), now)

    def act(self, incident: str, act: Act, now: float) -> Said:
        """A person does something; nothing to say: it changes nothing, or nobody knows that incident."""
        found, act = self._incidents.get(incident), people.cleaned(act)
        changed = people.apply(found, act, now) if found is not None else None
        if changed is None:
            return []
        after, reason = changed
        if after.state is State.OPEN and reason is not Reason.NOTED:
            after = replace(after, reminders=self._reminders_until(after, now))
        self._incidents[after.id] = after
        if reason is Reason.NOTED and act.is_read:
            reason = Reason.JOINED
        kind = Resolved if reason is Reason.CLOSED_BY else Updated
        return [kind(after, reason, now, text=act.text, by=act.by)] if after.is_announced else []

    def restarted(self, run: str, attempt: int, text: str, now: float) -> Said:
        """The run trains again in a later attempt: what ended the earlier ones is over; who is silent is so still."""
        older = [found for found in self.open_of(run) if found.attempt < attempt or found.attempt == 0]
        over = [found for found in older if found.trouble != UNWATCHED]
        return [said for found in over for said in self._resolve(found, Reason.RESTARTED, text, now)]

    def ended(self, run: str, text: str, now: float) -> Said:
        """The run is over: so is its trouble."""
        return [said for found in self.open_of(run) for said in self._resolve(found, Reason.ENDED, text, now)]

    def _receive_known(self, known: Incident, event: str, verdict: Finding | Cleared, now: float) -> Said:
        """A record may know more than its thread tells: the root goes first, and what it goes before is still owed."""
        owed = self._owed.pop(event, None)
        if owed is None:
            return [Noted((event,), Reason.KNOWN, known)]
        if isinstance(verdict, Cleared):
            kind = Updated if owed == Reason.PARTLY_OVER else Resolved
            return [kind(known, Reason(owed), now, (event,), text=verdict.text)]
        return [Updated(known, Reason(owed), now, (event,), verdict)]

    def _receive_trouble(self, event: str, finding: Finding, now: float) -> Said:
        trouble = trouble_of(finding)
        same = self._newest(finding.origin.run, trouble)
        if same and same.is_open and (same.trouble == trouble or trouble in same.firing_troubles):
            return self._join(same, trouble, event, finding, now)
        cause = self._cause_of(finding.origin.run, trouble, now)
        if cause:
            after, reason = explain(cause, trouble, event, finding, now)
            return self._store(after, reason, now, event, finding) if after.is_announced else self._open(after, now)
        consequences = [found for found in self.open_of(finding.origin.run) if explains(trouble, found.trouble)]
        if consequences:
            return self._rehead(consequences, trouble, event, finding, now)
        story = self._story_of(finding, trouble, now)
        if story:
            after, reason = stand_beside(story, trouble, event, finding, now)
            return self._store(after, reason, now, event, finding) if after.is_announced else self._open(after, now)
        within = self._habits.reopen_within_seconds
        # Clocks of two machines: the trouble may seem to come back before it was over.
        is_back = same is not None and same.resolved_at is not None and now - same.resolved_at <= within
        if same and is_back and within > 0 and same.trouble == trouble:
            return self._reopen(same, event, finding, now)
        return self._open(new_incident(incident_id(finding.origin.run, event), trouble, event, finding, now), now)

    def _receive_explanation(self, event: str, said: Finding, now: float) -> Said:
        """What the search for a cause found; a search that found nothing ends the wait for it."""
        incident = self._incidents.get(said.details.get("incident", ""))
        if incident is None or not incident.is_open:
            return [Noted((event,), Reason.KNOWN)]
        if said.details.get(ABOUT) in incident.beside:
            after, reason, news = take_beside(incident, event, said, now)
        else:
            after, reason = take_explanation(incident, event, said, now)
            news = after.head
        if not after.is_announced:
            return self._open(after, now)
        if reason is Reason.KNOWN:
            self._incidents[after.id] = after
            return [Noted((event,), Reason.KNOWN, after)]
        return self._store(after, reason, now, event, news)

    def _receive_note(self, event: str, finding: Finding, now: float) -> Said:
        trouble = trouble_of(finding)
        for incident in reversed(self.open_of(finding.origin.run)):
            related = trouble in incident.troubles or any(explains(one, trouble) for one in incident.troubles)
            if related and is_aftermath(finding):
                after, reason = explain(incident, AFTERMATH, event, finding, now)
                return self._store(after, reason, now, event) if after.is_announced else self._open(after, now)
            if related and incident.is_announced:
                is_first = all(entry.kind != finding.kind for entry in incident.entries)
                reason = Reason.NOTE if is_first else Reason.JOINED
                return self._store(note(incident, event, finding, now), reason, now, event, finding)
        return [Noted((event,), Reason.NOTE)]

    def _receive_cleared(self, event: str, cleared: Cleared, now: float) -> Said:
        trouble = TROUBLES.get(cleared.kind, cleared.kind)
        incident = self._cleared_by(cleared, trouble)
        if incident is None:
            return [Noted((event,), Reason.KNOWN)]
        after = clear(incident, event, cleared, now)
        if not after.firing:
            return self._resolve(after, Reason.RECOVERED, cleared.text, now, event)
        is_part = after.firing_troubles != incident.firing_troubles
        reason = Reason.PARTLY_OVER if is_part else Reason.JOINED
        return self._store(after, reason, now, event, text=cleared.text)

    def _cleared_by(self, cleared: Cleared, trouble: str) -> Incident | None:
        """The open incident that a word that something is over concerns; one in which it still fires goes first."""
        about = [
            found
            for found in self.open_of(cleared.origin.run)
            if found.trouble == trouble or cleared.kind in found.kinds
        ]
        firing = (found for found in about if any(one.kind == cleared.kind for one in found.firing))
        return next(firing, about[0] if about else None)

    def _join(self, incident: Incident, trouble: str, event: str, finding: Finding, now: float) -> Said:
        settle = self._habits.settle_seconds
        after, reason = join(incident, trouble, event, finding, now, settle_seconds=settle)
        if not after.is_announced:
            return self._open(after, now)
        if reason is Reason.KNOWN:
            self._incidents[after.id] = after
            return [Noted((event,), Reason.KNOWN, after)]
        return self._store(after, reason, now, event, finding)

    def _rehead(self, consequences: list[Incident], trouble: str, event: str, finding: Finding, now: float) -> Said:
        """The cause came after its consequence: it takes over the oldest thread, the others are explained by it."""
        oldest, *younger = consequences
        others = [found for found in younger if all(explains(trouble, one) for one in found.firing_troubles)]
        after = rehead(oldest, trouble, event, finding, now)
        said: Said = []
        for other in others:
            after = replace(after, consequences={**after.consequences, other.trouble: max(1, len(other.subjects))})
            said += self._resolve(other, Reason.EXPLAINED, finding.text, now)
        if not after.is_announced:
            return [*self._open(after, now), *said]
        return [*self._store(after, Reason.CAUSE_FOUND, now, event, finding), *said]

    def _open(self, incident: Incident, now: float) -> Said:
        mute = self._mute_of(incident, now)
        if mute:
            incident = replace(incident, muted_until=mute.until, muted_by=mute.by, muted_scope=mute.scope)
            self._incidents[incident.id] = incident
            return [Noted(incident.events, Reason.MUTED, incident)]
        age = now - incident.opened_at
        gathers = incident.severity is not Severity.CRITICAL and age < self._habits.group_wait_seconds
        is_searched = asks_for_a_cause(incident) and age < self._habits.cause_wait_seconds
        if is_searched or (gathers and not incident.is_explained):
            self._incidents[incident.id] = incident
            return []
        opened = replace(incident, is_announced=True, muted_until=None)
        self._incidents[opened.id] = opened
        return [Opened(opened, Reason.NEW, now, opened.events, opened.head)]

    def _open_when_due(self, incident: Incident, now: float) -> Said:
        if incident.is_muted(now) and self._mute_of(incident, now):
            return []
        return self._open(incident, now)

    def _reopen(self, incident: Incident, event: str, finding: Finding, now: float) -> Said:
        after, _ = join(incident, incident.trouble, event, finding, now, settle_seconds=self._habits.settle_seconds)
        entry = Entry(event, now, "reopened", finding.text, finding.kind)
        after = after.with_entry(entry, state=State.OPEN, resolved_at=None, resolved_because="", acknowledged_by="")
        after = replace(after, resolved_by="", reminders=self._reminders_until(after, now))
        if not after.is_announced:
            return self._open(after, now)
        return self._store(after, Reason.REOPENED, now, event, finding)

    def _resolve(self, incident: Incident, reason: Reason, text: str, now: float, event: str = "") -> Said:
        entry = Entry(event or f"{incident.id}/{reason}", now, "resolved", text)
        after = incident.with_entry(entry, state=State.RESOLVED, resolved_at=now, resolved_because=text)
        events = (event,) if event else ()
        if event and not incident.is_muted(now):
            after = after.calling(event, reason)
        if incident.is_announced:
            self._incidents[after.id] = after
            if incident.is_muted(now):
                return [Updated(after, Reason.CLOSED, now, events)]
            return [Resolved(after, reason, now, events, text=text)]
        if incident.muted_until is not None:
            self._incidents[after.id] = after
            return [Noted(events, Reason.MUTED, after)]
        # It was over before its wait was: say both, so that a short trouble is still known.
        opened = replace(incident, is_announced=True)
        after = replace(after, is_announced=True)
        self._incidents[after.id] = after
        first = tuple(known for known in incident.events if known != event)
        return [Opened(opened, Reason.NEW, now, first, opened.head), Resolved(after, reason, now, events, text=text)]

    def _remind(self, incident: Incident, now: float) -> Said:
        is_quiet = incident.state is not State.OPEN or self._mute_of(incident, now) is not None
        if is_quiet or now - incident.opened_at < self._habits.reminder_due(incident.reminders):
            return []
        reminders = self._reminders_until(incident, now)
        entry = Entry(f"{incident.id}/reminder/{reminders}", now, "reminded", "")
        after = incident.with_entry(entry, reminders=reminders)
        self._incidents[after.id] = after
        return [Reminded(after, Reason.STILL_OPEN, now)]

    def _reminders_until(self, incident: Incident, now: float) -> int:
        """How many reminders are behind us: missed ones are not made up for."""
        reminders = incident.reminders
        while now - incident.opened_at >= self._habits.reminder_due(reminders):
            reminders += 1
        return reminders

    def _lapse(self, incident: Incident, now: float) -> Said:
        """Its owner has not been heard of for so long that somebody else should look."""
        heard, patience = incident.owner_heard_at or incident.acknowledged_at, self._habits.claim_for_seconds
        is_held = incident.state is State.ACKNOWLEDGED and heard is not None
        if not is_held or not patience or now - (heard or now) < patience or self._mute_of(incident, now):
            return []
        after = people.lapse(incident, now)
        after = replace(after, reminders=self._reminders_until(after, now))
        self._incidents[after.id] = after
        return [Updated(after, Reason.LAPSED, now, by=incident.acknowledged_by)]

    def _end_mute(self, incident: Incident, now: float) -> Said:
        if incident.muted_until is None or incident.is_muted(now):
            return []
        return self._keep(people.unmute(incident, now), Reason.UNMUTED, now)

    def _say_muted(self, incident: Incident, mute: Mute, now: float) -> Said:
        after = people.mute(incident, mute, now)
        self._incidents[after.id] = after
        return [Updated(after, Reason.MUTED, now)] if after.is_announced else []

    def _keep(self, incident: Incident, reason: Reason, now: float) -> Said:
        self._incidents[incident.id] = incident
        return [Updated(incident, reason, now)] if incident.is_announced else []

    def _store(
        self,
        incident: Incident,
        reason: Reason,
        now: float,
        event: str,
        finding: Finding | None = None,
        *,
        text: str = "",
    ) -> Said:
        self._incidents[incident.id] = incident
        if not incident.is_announced:
            is_muted = incident.muted_until is not None
            return [Noted((event,), Reason.MUTED, incident)] if is_muted else []
        if incident.is_muted(now) and reason is not Reason.WORSE:
            reason = Reason.JOINED
        if reason in REPLIES:
            incident = incident.calling(event, reason)
            self._incidents[incident.id] = incident
        return [Updated(incident, reason, now, (event,), finding, text)]

    def _knower_of(self, event: str, run: str) -> Incident | None:
        mine = (incident for incident in self._incidents.values() if incident.run == run)
        return next((incident for incident in mine if incident.knows(event)), None)

    def _newest(self, run: str, trouble: str) -> Incident | None:
        found = [item for item in self._incidents.values() if item.run == run and trouble in item.troubles]
        return max(found, key=lambda item: (item.is_open, item.opened_at), default=None)

    def _cause_of(self, run: str, trouble: str, now: float) -> Incident | None:
        for incident in self.open_of(run):
            is_fresh = now - incident.last_finding_at <= self._habits.inhibit_for_seconds
            if is_fresh and any(explains(one, trouble) for one in incident.troubles):
                return incident
        return None

    def _story_of(self, finding: Finding, trouble: str, now: float) -> Incident | None:
        """The open incident that a further trouble belongs to: so soon after it, or because the one comes of the other.

        Nobody is called a second time there, so what a person has muted, or what called nobody yet, is no such story.
        """
        for incident in self.open_of(finding.origin.run):
            if incident.is_muted(now) or finding.attempt > incident.attempt:
                continue
            if now - incident.opened_at <= self._habits.settle_seconds:
                return incident
            is_fresh = now - incident.last_finding_at <= self._habits.inhibit_for_seconds
            belongs = any(are_of_one_night(one, trouble) or explains(trouble, one) for one in incident.troubles)
            if is_fresh and belongs and incident.severity is Severity.CRITICAL:
                return incident
        return None

    def _mute_of(self, incident: Incident, now: float) -> Mute | None:
        return next((mute for mute in self._mutes if mute.covers(incident, now)), None)

    @property
    def _forget_after(self) -> float:
        return max(self._habits.reopen_within_seconds, 60.0)
