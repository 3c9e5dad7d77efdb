"""`/runwatch route|unroute`: which channel hears of which runs."""

import re
from collections.abc import AsyncIterator

from handlers.arguments import WrongWords
from handlers.command import Asked, Desk, Reply, Right, Say, whisper
from handlers.messages.routes import routed, routes_list, unrouted
from handlers.routes import read_rule, routes_of
from handlers.subjects.subject import Subject

MOST_RULES = 200
_CHANNEL = re.compile(r"<#([CG][A-Z0-9]+)(?:\|[^>]*)?>|([CG][A-Z0-9]{5,})|(#[^\s<>#@&]{1,80})")


async def route(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """`route llama-* #llama`, `route label:team=vision here`; alone it lists them."""
    words = asked.words.split()
    records = await desk.registry.routes.all()
    if not words:
        yield whisper(routes_list, routes_of(records))
        return
    if len(words) != 2:
        raise WrongWords("A rule and a channel: `/runwatch route llama-* #llama`, or `here` for this channel.")
    rule, channel = read_rule(words[0]), _channel(words[1], asked)
    if rule not in records and len(records) >= MOST_RULES:
        raise WrongWords(f"There are {MOST_RULES} rules already; `/runwatch unroute RULE` takes one away.")
    trouble = await desk.reach(channel)
    await desk.registry.routes.put(rule, {"channel": channel, "by": asked.who.user, "at": await desk.registry.now()})
    runs = [run for run in await desk.registry.runs.all(2000) if routes_of({rule: {"channel": channel}})[0].covers(run)]
    yield Say(routed(rule, channel, [run.name for run in runs], trouble))


async def unroute(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Take a rule back."""
    rule = read_rule(asked.words.strip())
    if not await desk.registry.routes.remove(rule):
        raise WrongWords(f"There is no rule `{rule}`; `/runwatch route` lists them.")
    yield Say(unrouted(rule))


def _channel(word: str, asked: Asked) -> str:
    if word.lower() == "here":
        return asked.channel
    found = _CHANNEL.fullmatch(word)
    if found is None:
        raise WrongWords(f"`{word}` is no channel: `#training`, its id, or `here`.")
    return found[1] or found[2] or found[3].lower()


SUBJECTS = (
    Subject(
        "route", "[RUN|PATTERN|label:K=V|owner:NAME #CHANNEL]", "which channel hears of a run", route, Right.ADMINISTER
    ),
    Subject("unroute", "RULE", "takes a route back", unroute, Right.ADMINISTER),
)
