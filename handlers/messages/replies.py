"""The lines below a root message: said only when something changed."""

from diagnosis import wording
from diagnosis.findings import Finding
from diagnosis.incidents import Announcement, Reason
from diagnosis.next_steps import next_steps
from diagnosis.stall import Outcome
from handlers.messages.blocks import Block, Message, actions, button, context, evidence, lines, message
from handlers.messages.care import ACKNOWLEDGE
from handlers.messages.excerpts import telling
from handlers.messages.incident import AT_ONCE, finding_place, unseen_line, what, what_the_line_says, what_to_do
from handlers.messages.phrase import NOTHING, Clause, Person, Phrase, say
from handlers.names import typed

_NEWS = {
    Reason.NEWS: "Also: *{what}*{place}.",
    Reason.FOLLOWED: "Now also: *{what}*{place}.",
    Reason.WORSE: "Now critical: *{what}*{place}.",
    Reason.CAUSE_FOUND: "Cause found: *{what}*{place}. What was said above only follows from it.",
    Reason.LOOKED_INTO: "More about *{what}*{place}:",
    Reason.AGAIN: "Again, in a later attempt of the run: *{what}*{place}.",
    Reason.REOPENED: "Back again: *{what}*{place}.",
    Reason.NOTE: "Note: {what}{place}.",
}
_DOWN_NOW = "The run is down now: its processes are gone{place}."
"""A stall that went on to its end: a later state of the same trouble, and no cause of it."""
_OVER = {
    Reason.RECOVERED: "Over after {took}: {text}.",
    Reason.RESTARTED: "Over after {took}: {text}.",
    Reason.ENDED: "Closed after {took}: {text}.",
    Reason.EXPLAINED: "Closed: this only follows from another trouble of the run, {text}.",
}


_TELLS_ALL = frozenset({Reason.FOLLOWED, Reason.LOOKED_INTO})
"""Of a trouble that has no root of its own."""
_FOUND_BY_JUDGE = frozenset({Outcome.STALLED, Outcome.RUN_DOWN, Outcome.INITIALISING_TOO_LONG})
"""Findings whose steps come with them; of a line the steps are those that a root of its own would tell."""
_CALLS_ITS_OWNER = frozenset({Reason.FOLLOWED, Reason.WORSE})
_BY_PEOPLE = {
    Reason.NOTED: "{who} notes: {text}",
    Reason.RELEASED: "{who} gave it back; nobody has it now.",
    Reason.LAPSED: "{who} had it, and was not heard of since; nobody has it now.",
    Reason.REOPENED_BY: "{who} opened it again.",
}


def reply(said: Announcement) -> Message:
    """One line in the thread."""
    incident = said.incident
    if said.reason in _NEWS and said.finding is not None:
        place = finding_place(said.finding)
        at = say(", {p}", p=place) if place else NOTHING
        is_later_state = said.reason is Reason.CAUSE_FOUND and said.finding.kind == Outcome.RUN_DOWN
        form = _DOWN_NOW if is_later_state else _NEWS[said.reason]
        head = say(form, what=Clause(what(said.finding)), place=at)
        if said.reason in _CALLS_ITS_OWNER and incident.acknowledged_by:
            head = say("{head} {who}, you have it.", head=head, who=Person(incident.acknowledged_by))
        return message(head, *_shown(said.finding, is_whole=said.reason in _TELLS_ALL))
    if said.reason is Reason.PARTLY_OVER:
        text = Clause(said.text.rstrip(".") or "it no longer shows")
        return message(say("Over: {text}. Still open: *{what}*.", text=text, what=Clause(what(incident.head))))
    if said.reason in _OVER:
        seconds = said.at - incident.opened_at
        text = Clause(said.text.rstrip(".") or "it no longer shows")
        if said.reason is Reason.RECOVERED and seconds < AT_ONCE:
            return message(say("Over at once: {text}.", text=text))
        return message(say(_OVER[said.reason], took=wording.duration(max(0.0, seconds)), text=text))
    if said.reason is Reason.CLOSED_BY:
        took = wording.duration(max(0.0, said.at - incident.opened_at))
        head = say("Closed after {took} by {who}", took=took, who=Person(said.by))
        return message(say("{head}: {text}", head=head, text=said.text) if said.text else say("{head}.", head=head))
    if said.reason in _BY_PEOPLE:
        free = said.reason in (Reason.RELEASED, Reason.LAPSED, Reason.REOPENED_BY)
        row = [button("I have it", ACKNOWLEDGE, incident.id)] if free else []
        head = say(_BY_PEOPLE[said.reason], who=Person(said.by), text=said.text)
        return message(head, actions(f"free/{incident.id}/{said.at:.3f}", row))
    if said.reason is Reason.UNMUTED:
        return message(say("The quiet is over, the trouble is not: {what}.", what=Clause(what(incident.head))))
    took = wording.duration(max(0.0, said.at - incident.opened_at))
    head = say("Still open after {took}, and nobody has it: {what}.", took=took, what=Clause(what(incident.head)))
    row = [button("I have it", ACKNOWLEDGE, incident.id)]
    return message(head, actions(f"reminder/{incident.id}/{incident.reminders}", row))


def _shown(finding: Finding, *, is_whole: bool) -> list[Block | None]:
    """Its lines; of a trouble that has no root of its own also what was found out about it, and what to do."""
    shown: list[Block | None] = [*evidence(finding.evidence, most=2, telling=telling(finding))]
    if not is_whole:
        return shown
    is_looked_into = finding.kind not in _FOUND_BY_JUDGE and bool(finding.details.get("next"))
    steps = next_steps(finding) if is_looked_into else finding.details.get("next", "").splitlines()
    return [lines(what_the_line_says(finding)), *shown, lines(what_to_do(steps)), context(unseen_line(finding))]


def chart_missing(run: str, why: str, command: str) -> Message:
    """Said once, when the chart could not be brought into the thread."""
    run = typed(run)
    head: Phrase = say(
        "The chart could not be added: {why}. `{command} {run}` draws it on request.",
        why=Clause(why),
        command=command,
        run=run,
    )
    return message(head)
