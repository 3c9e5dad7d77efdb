"""The summary of a day or a week, for a channel that asked for it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from diagnosis import wording
from diagnosis.costs import costs_of
from diagnosis.incidents import Incident
from handlers.digests import Digest
from handlers.kept import Kept
from handlers.messages.blocks import Message, context, lines, message
from handlers.messages.earlier import thread_link
from handlers.messages.incident import headline
from handlers.messages.phrase import NOTHING, Clause, Moment, Person, Phrase, join, listed, number_of, say
from handlers.messages.troubles import counted
from registry import Run

MOST_OPEN, MOST_NAMED = 8, 6


@dataclass(frozen=True, slots=True)
class Period:
    """What happened in it."""

    digest: Digest
    since: float
    until: float
    runs: Sequence[Run]
    """Runs that were heard of in it."""
    incidents: Sequence[Kept]
    """Incidents that opened in it, and those still open."""
    muted: int = 0
    workspace_url: str = ""


def digest_message(period: Period) -> Message:
    """One paragraph, then what is still open."""
    opened = [kept.incident for kept in period.incidents if kept.incident.opened_at >= period.since]
    still = [kept for kept in period.incidents if kept.incident.is_open]
    word = say("Yesterday" if period.digest.every == "daily" else "The last week")
    quiet = NOTHING if opened else say(", nothing went wrong")
    head = say("*{word}* · {runs}{quiet}", word=word, runs=_runs(period.runs), quiet=quiet)
    facts = [_what(opened), _how(opened, period)]
    rows = [_still(kept, period) for kept in still[:MOST_OPEN]]
    more = say("… and {n} more", n=len(still) - MOST_OPEN) if len(still) > MOST_OPEN else NOTHING
    muted = say("{n} muted: `/runwatch mutes`", n=period.muted) if period.muted else NOTHING
    span = say("{a} to {b}", a=Moment(period.since, shows_date=True), b=Moment(period.until, shows_date=True))
    return message(
        head,
        lines(fact for fact in facts if fact),
        lines([say("*Still open*"), *rows, more]) if rows else None,
        context(join([span, muted, say("`/runwatch digest off` ends these")], " · ")),
    )


def digest_set(digest: Digest) -> Message:
    """It comes from now on."""
    return message(say("This channel gets a summary {when}; `/runwatch digest off` ends it.", when=_when(digest)))


def digest_off() -> Message:
    """It comes no more."""
    return message(say("This channel gets no summary any more."))


def digest_state(digest: Digest | None) -> Message:
    """What holds now."""
    if digest is None:
        return message(say("This channel gets no summary. `/runwatch digest daily 09:00 Europe/Paris` changes that."))
    who = say(", asked by {who}", who=Person(digest.by)) if digest.by else NOTHING
    return message(say("This channel gets a summary {when}{who}.", when=_when(digest), who=who))


def _when(digest: Digest) -> Phrase:
    form = "each day at {time} ({zone})" if digest.every == "daily" else "each Monday at {time} ({zone})"
    return say(form, time=f"{digest.hour:02}:{digest.minute:02}", zone=digest.zone)


def _runs(runs: Sequence[Run]) -> Phrase:
    if not runs:
        return say("no run was heard of")
    states = Counter(run.state for run in runs)
    shown = [state for state in ("running", "finished", "crashed", "stalled") if states[state]]
    counts = join((say("{n} {state}", n=states[state], state=Clause(state)) for state in shown), ", ")
    of = say(" ({counts})", counts=counts) if counts else NOTHING
    return join([number_of(len(runs), "{n} run", "{n} runs"), of], "")


def _what(opened: Sequence[Incident]) -> Phrase:
    if not opened:
        return NOTHING
    kinds = Counter(incident.trouble for incident in opened)
    named = listed(counted(trouble, count) for trouble, count in kinds.most_common(MOST_NAMED))
    more = say(" and {n} other kinds", n=len(kinds) - MOST_NAMED) if len(kinds) > MOST_NAMED else NOTHING
    runs = len({incident.run for incident in opened})
    of = say(", in {n} runs", n=runs) if runs > 1 else NOTHING
    return say("{named}{more}{of}.", named=named, more=more, of=of)


def _how(opened: Sequence[Incident], period: Period) -> Phrase:
    """How long, how soon somebody had it, and what it cost."""
    over = [incident.resolved_at - incident.opened_at for incident in opened if incident.resolved_at is not None]
    taken = [_taken_after(incident) for incident in opened]
    waits = [wait for wait in taken if wait is not None]
    sizes = {run.name: run.world_size for run in period.runs}
    hours = 0.0
    for incident in opened:
        costs = costs_of(incident, sizes.get(incident.run), period.until)
        hours += costs.gpu_hours if costs is not None else 0.0
    facts = [
        say("half were over within {span}", span=wording.duration(median(over))) if over else NOTHING,
        say("somebody had one after {span}, usually", span=wording.duration(median(waits))) if waits else NOTHING,
        say("about {hours} GPU-hours lost", hours=f"{hours:,.0f}") if hours >= 1 else NOTHING,
    ]
    said = join(facts, "; ")
    return say("{said}.", said=said) if said else NOTHING


def _taken_after(incident: Incident) -> float | None:
    moments = [entry.at for entry in incident.entries if entry.what == "acknowledged"]
    return min(moments) - incident.opened_at if moments else None


def _still(kept: Kept, period: Period) -> Phrase:
    incident, link = kept.incident, thread_link(kept, period.workspace_url)
    owner = (
        say("{who} has it", who=Person(incident.acknowledged_by)) if incident.acknowledged_by else say("nobody has it")
    )
    return join([headline(incident), owner, say("{link}", link=link) if link else NOTHING], " · ")
