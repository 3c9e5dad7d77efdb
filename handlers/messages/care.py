"""How an incident is cared for, as its root shows it: since when, who has it, what it costs, what people wrote."""

from diagnosis import wording
from diagnosis.costs import Costs
from diagnosis.incidents import Incident, State
from handlers.messages.blocks import Block, actions, button, more_menu
from handlers.messages.phrase import NOTHING, Clause, Moment, Person, Phrase, join, say

ACKNOWLEDGE, MUTE, SNAPSHOT, MORE = "acknowledge", "mute_1h", "snapshot", "more"
REPORT = MORE
LONGEST_NOTE = 200
_QUIET = {
    "incident": "quiet until it is over, asked by {who}",
    "node": "its node is quiet until {until}, asked by {who}",
    "run": "the whole run is quiet until {until}, asked by {who}",
}


def state_line(incident: Incident, now: float | None = None) -> Phrase:
    """`Open since 03:12 (2 h) · nobody has it yet`."""
    if not incident.is_open:
        return _over(incident)
    said = [say("Open since {since}{span}", since=Moment(incident.opened_at), span=_span(incident, now))]
    if incident.acknowledged_by:
        moment = Moment(incident.acknowledged_at or incident.changed_at)
        said.append(say("{who} has it since {moment}", who=Person(incident.acknowledged_by), moment=moment))
    else:
        said.append(say("nobody has it yet"))
    if incident.muted_until is not None:
        form = _QUIET.get(incident.muted_scope, "quiet until {until}, asked by {who}")
        said.append(say(form, until=Moment(incident.muted_until), who=Person(incident.muted_by)))
    return join(said, " · ")


def costs_line(costs: Costs | None) -> Phrase:
    """`About 12 GPU-hours lost so far, 8 more each hour.`; nothing where it is not known or is not much."""
    if costs is None or costs.gpu_hours < 0.1:
        return NOTHING
    hours = f"{costs.gpu_hours:.1f}" if costs.gpu_hours < 10 else f"{costs.gpu_hours:,.0f}"
    if not costs.is_growing:
        return say("It cost about {hours} GPU-hours.", hours=hours)
    return say("About {hours} GPU-hours lost so far, {rate} more each hour.", hours=hours, rate=f"{costs.gpus:,}")


def last_note(incident: Incident) -> Phrase:
    """What a person wrote last, and how many notes there are."""
    notes = [entry for entry in incident.entries if entry.what == "noted"]
    if not notes:
        return NOTHING
    text = notes[-1].text if len(notes[-1].text) <= LONGEST_NOTE else f"{notes[-1].text[:LONGEST_NOTE]}…"
    more = say(" ({n} notes)", n=len(notes)) if len(notes) > 1 else NOTHING
    return say("Note by {who}: {text}{more}", who=Person(notes[-1].by), text=text, more=more)


def buttons(incident: Incident) -> Block | None:
    """Few buttons, the rest behind one; on what is over only the report."""
    name = incident.id
    if not incident.is_open:
        return actions(f"incident/{name}", [button("Export the report", REPORT, f"report/{name}")])
    row = [button("Snapshot", SNAPSHOT, name, style="primary")]
    if incident.state is State.OPEN:
        row.append(button("I have it", ACKNOWLEDGE, name))
    if incident.muted_until is None:
        row.append(button("Mute 1 h", MUTE, name))
    rest = [("Write a note…", f"note/{name}"), ("Mute…", f"mute/{name}"), ("Close…", f"close/{name}")]
    if incident.state is State.ACKNOWLEDGED:
        rest.append(("Give it back", f"release/{name}"))
    rest.append(("Export the report", f"report/{name}"))
    return actions(f"incident/{name}", [*row, more_menu(MORE, rest)])


def _over(incident: Incident) -> Phrase:
    why = incident.resolved_because.rstrip(".")
    over = say("Over since {ended}", ended=Moment(incident.resolved_at or incident.changed_at))
    if incident.resolved_by:
        over = join([over, say("closed by {who}", who=Person(incident.resolved_by))], ", ")
    told = why if incident.resolved_by else Clause(why)
    return say("{over}: {why}", over=over, why=told) if why else over


def _span(incident: Incident, now: float | None) -> Phrase:
    age = 0.0 if now is None else now - incident.opened_at
    return say(" ({span})", span=wording.duration(age)) if age >= 60.0 else NOTHING
