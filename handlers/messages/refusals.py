"""What somebody is told who may not do something: why, and who may."""

from handlers.authorise import Ruling
from handlers.messages.blocks import Message, message
from handlers.messages.languages import to_the_asker
from handlers.messages.phrase import NOTHING, Clause, Group, Person, Phrase, and_more, join, listed, say

MOST_NAMED = 6


@to_the_asker()
def refused(ruling: Ruling) -> Message:
    """One sentence, and who may."""
    why = say("{why}", why=Clause(ruling.refusal or ""))
    if ruling.needs is not None:
        why = say("That needs the role {needs}; yours is {role}.", needs=ruling.needs, role=ruling.role)
    return message(join([why, _who_may(ruling)], " "))


def holder(one: str) -> Phrase:
    """A person or a user group, by id."""
    return say("{who}", who=Group(one) if one.startswith("S") else Person(one))


def _who_may(ruling: Ruling) -> Phrase:
    if ruling.needs is None:
        return NOTHING
    if not ruling.holders:
        return say("The owners and admins of this workspace may; they can name others in Runwatch's settings.")
    named = listed(holder(one) for one in ruling.holders[:MOST_NAMED])
    more = and_more(len(ruling.holders) - MOST_NAMED)
    return say("Those who may: {named}{more}, and the admins of this workspace.", named=named, more=more)
