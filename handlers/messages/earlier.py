"""The line about the same failure before."""

from diagnosis import wording
from handlers.kept import Kept
from handlers.messages.phrase import NOTHING, Clause, Link, Moment, Person, Phrase, join, say

MOST_WORDS = 2
LONGEST_WORDS = 200


def earlier_phrase(kept: Kept, run: str, workspace_url: str) -> Phrase:
    """When and where it was, a link to its thread, and what helped."""
    incident = kept.incident
    link = thread_link(kept, workspace_url)
    took = wording.duration(max(0.0, (incident.resolved_at or incident.changed_at) - incident.opened_at))
    where = say("in this run") if incident.run == run else say("in *{run}*", run=incident.run)
    when = Moment(incident.opened_at, shows_date=True)
    head = say("Same failure before, {where}, {when}", where=where, when=when)
    if link is not None:
        head = join([head, say("({link})", link=link)], " ")
    helped = _what_helped(kept)
    return say("{head}: {helped}.", head=head, helped=helped or say("over after {took}", took=took))


def thread_link(kept: Kept, workspace_url: str) -> Link | None:
    """Where its thread is; None: nobody knows."""
    if not workspace_url or not kept.channel or not kept.ts:
        return None
    return Link(f"{workspace_url.rstrip('/')}/archives/{kept.channel}/p{kept.ts.replace('.', '')}", "its thread")


def _what_helped(kept: Kept) -> Phrase:
    incident = kept.incident
    notes = [(entry.by, entry.text) for entry in incident.entries if entry.what == "noted" and entry.text]
    said = [say("{who} noted: {text}", who=Person(who), text=_short(text)) for who, text in reversed(notes)]
    if incident.resolved_by and incident.resolved_because:
        by, text = Person(incident.resolved_by), _short(incident.resolved_because)
        said.insert(0, say("{by} closed it: {text}", by=by, text=text))
    elif incident.resolved_because and said:
        said.insert(0, say("{text}", text=Clause(_short(incident.resolved_because))))
    elif incident.resolved_because:
        return say("it ended by itself: {text}", text=Clause(_short(incident.resolved_because)))
    return join(said[:MOST_WORDS], "; ") if said else NOTHING


def _short(text: str) -> str:
    plain = " ".join(text.split()).rstrip(".")
    return plain if len(plain) <= LONGEST_WORDS else f"{plain[:LONGEST_WORDS]}…"
