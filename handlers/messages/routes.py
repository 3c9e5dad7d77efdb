"""What is said about routes."""

from collections.abc import Sequence

from handlers.messages.blocks import Message, context, lines, message
from handlers.messages.phrase import NOTHING, Channel, Clause, Person, Phrase, and_more, join, listed, say
from handlers.routes import Route

MOST_NAMED = 5
ORDER = (
    "The first that fits counts: a run's exact name, its own setting, labels, owners, then the longest pattern. "
    "All others go to the default channel."
)


def routes_list(routes: Sequence[Route]) -> Message:
    """Every rule, in the order in which they are asked."""
    if not routes:
        return message(say("Every run goes to the default channel. `/runwatch route llama-* #llama` makes a rule."))
    rows = [
        say("• `{rule}` → {channel}{by}", rule=route.rule, channel=Channel(route.channel), by=_by(route))
        for route in routes
    ]
    return message(say("*{n} rules:*", n=len(routes)), lines(rows), context(say(ORDER)))


def routed(rule: str, channel: str, runs: Sequence[str], trouble: str) -> Message:
    """The rule holds, and for which runs."""
    head = say("Incidents of `{rule}` go to {channel} from now on.", rule=rule, channel=Channel(channel))
    warning = (
        say("But {trouble}: until then they go to the fallback channel.", trouble=Clause(trouble, has_code=True))
        if trouble
        else NOTHING
    )
    return message(join([head, _meant(runs), warning], " "))


def unrouted(rule: str) -> Message:
    """The rule is gone."""
    return message(say("The rule `{rule}` is gone. Open threads stay where they are.", rule=rule))


def _meant(runs: Sequence[str]) -> Phrase:
    if not runs:
        return say("No run of today fits it.")
    named = listed(say("`{name}`", name=name) for name in runs[:MOST_NAMED])
    more = and_more(len(runs) - MOST_NAMED)
    return say("Today that is {named}{more}; open threads stay where they are.", named=named, more=more)


def _by(route: Route) -> Phrase:
    return say(", set by {who}", who=Person(route.by)) if route.by else NOTHING
