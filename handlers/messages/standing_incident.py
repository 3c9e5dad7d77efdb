"""An answer about a run that an incident concerns: it points there, and never says that all is well."""

from diagnosis import wording
from handlers.kept import Kept
from handlers.messages.blocks import Message, section
from handlers.messages.earlier import thread_link
from handlers.messages.incident import what, where
from handlers.messages.phrase import NOTHING, Clause, Person, Phrase, say


def with_incident(
    told: Message, kept: Kept, state: str, *, replaces_head: bool, workspace_url: str, now: float
) -> Message:
    """The answer, with the incident in front where the log alone would say that the run goes on."""
    if not replaces_head:
        return Message(told.text, [*told.blocks[:1], section(pointer(kept, workspace_url, now)), *told.blocks[1:]])
    form = "🔴 *{run}* is not going on ({state}): *{what}*{place}, open for {span}{thread}."
    if not kept.incident.is_open:
        form = "🔴 *{run}* is not going on ({state}): *{what}*{place}, closed by {who} {span} ago{thread}."
    head = say(form, run=kept.incident.run, state=Clause(state), **_facts(kept, workspace_url, now))
    return Message(head.mrkdwn, [section(head), *told.blocks[1:]])


def pointer(kept: Kept, workspace_url: str, now: float) -> Phrase:
    """What is open and for how long, or who closed it; and where its thread is."""
    form = "Open for {span}: *{what}*{place}{thread}."
    if not kept.incident.is_open:
        form = "{who} closed its incident {span} ago: *{what}*{place}{thread}."
    return say(form, **_facts(kept, workspace_url, now))


def _facts(kept: Kept, workspace_url: str, now: float) -> dict[str, Phrase | Clause | Person | str]:
    incident = kept.incident
    since = incident.opened_at if incident.is_open else incident.resolved_at or incident.changed_at
    link, place = thread_link(kept, workspace_url), where(incident)
    return {
        "what": Clause(what(incident.head)),
        "place": say(" on {at}", at=place) if place else NOTHING,
        "span": wording.duration(max(0.0, now - since)),
        "who": Person(incident.resolved_by),
        "thread": say(" ({link})", link=link) if link is not None else NOTHING,
    }
