"""Who may do what, and who did."""

from collections.abc import Callable, Mapping, Sequence

from handlers.command import Role
from handlers.messages.blocks import Message, context, lines, message
from handlers.messages.phrase import NOTHING, Moment, Person, Phrase, and_more, join, listed, say
from handlers.messages.refusals import MOST_NAMED, holder
from registry.audit import ALLOWED, NOT_DONE, Entry, Verdict

MAY: Mapping[Role, str] = {
    Role.VIEWER: "ask everything, take an incident, give it back, write notes",
    Role.RESPONDER: "also snapshot, mute, close, reopen",
    Role.OPERATOR: "also stop a run, mute a node, set patience and thresholds",
    Role.ADMIN: "also routes, digests, the channel's language, the audit",
}


def roles_answer(own: Role, holders: Callable[[Role], Sequence[str]]) -> Message:
    """The table of roles, and one's own."""
    rows = [
        say("• *{role}*: {may}{named}", role=role, may=say(may), named=_named(holders(role)))
        for role, may in MAY.items()
    ]
    small = "Roles are set in Runwatch's settings, by person or user group; they are asked for again at each click."
    return message(say("You are *{role}*.", role=own), lines(rows), context(say(small)))


def audit_list(entries: Sequence[Entry], verdict: Verdict | None) -> Message:
    """The newest effects and refusals, the newest first."""
    head = say("*The newest {n} entries.*", n=len(entries)) if entries else say("Nothing was done yet.")
    if verdict is not None:
        whole = say(" All {n} fit together; the newest hash is `{h}`.", n=verdict.entries, h=verdict.head[:16])
        broken = say(" *The chain is broken at* `{at}`: entries were changed or taken out.", at=verdict.broken_at)
        head = join([head, whole if verdict.broken_at is None else broken], "")
    return message(head, lines(_line(entry) for entry in entries))


def _line(entry: Entry) -> Phrase:
    refused = {ALLOWED: NOTHING, NOT_DONE: say(" · nothing came of it")}.get(entry.result, say(" · refused"))
    words = say(" `{words}`", words=entry.words) if entry.words else NOTHING
    form = "{at} {who} ({role}): {action}{words} · {how}{refused}"
    return say(
        form,
        at=Moment(entry.at, shows_date=True),
        who=Person(entry.user),
        role=entry.role,
        action=entry.action,
        words=words,
        how=entry.how,
        refused=refused,
    )


def _named(ids: Sequence[str]) -> Phrase:
    if not ids:
        return NOTHING
    more = and_more(len(ids) - MOST_NAMED)
    return say(" ({named}{more})", named=listed(holder(one) for one in ids[:MOST_NAMED]), more=more)
