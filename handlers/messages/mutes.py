"""What is said about mutes."""

from diagnosis import wording
from diagnosis.incidents import Mute
from handlers.messages.blocks import Message, message
from handlers.messages.phrase import NOTHING, Clause, Moment, Person, Phrase, join, say
from handlers.messages.troubles import called
from handlers.names import typed


def muted(mute: Mute, now: float) -> Message:
    """Quiet from now on, until when, and how to end it."""
    span = wording.duration(mute.until - now)
    form = "{what} is quiet for {span}, until {until}."
    if mute.incident:
        form = "{what} is quiet until it is over, after a week at the latest."
    first = say(form, what=about(mute), span=span, until=Moment(mute.until, shows_date=mute.until - now > 43_200.0))
    end = say("`/runwatch unmute {name}` ends it.", name=typed(mute.run) if mute.run else f"node {mute.node}")
    return message(join([first, say("Everything is still recorded."), end], " "))


def unmuted(run: str, count: int) -> Message:
    """The quiet is over."""
    if not count:
        return message(say("*{run}* was not muted.", run=run))
    return message(say("*{run}* speaks again. What still fires is said now.", run=run))


def mutes_list(mutes: list[Mute], now: float) -> Message:
    """Every mute that holds."""
    if not mutes:
        return message(say("Nothing is muted."))
    lines = [
        say(
            "{what} for {span} more, asked by {who}{why}.",
            what=about(mute),
            span=wording.duration(mute.until - now),
            who=Person(mute.by),
            why=say(": {reason}", reason=mute.reason) if mute.reason else NOTHING,
        )
        for mute in mutes
    ]
    return message(join(lines, "\n"))


def about(mute: Mute) -> Phrase:
    """What is quiet."""
    if mute.node:
        return say("*{node}* (what concerns this node alone)", node=mute.node)
    if mute.incident:
        return say("*{run}* (one incident, until it is over)", run=mute.run)
    which = say(" ({trouble})", trouble=Clause(called(mute.trouble).one)) if mute.trouble else NOTHING
    return say("*{run}*{which}", run=mute.run, which=which)
