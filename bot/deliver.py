"""Brings the answers of a handler to where they were asked: by response_url, into a thread, to one person."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from bot.pacing import NORMAL
from bot.slack import Slack
from bot.slack_answers import Answer, Outcome
from handlers.command import Open, Reply, Say, Upload
from handlers.messages import mistakes
from handlers.messages.blocks import Message
from handlers.messages.languages import to_the_asker

logger = logging.getLogger(__name__)

TRIES = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question was asked."""

    channel: str
    user: str
    thread_ts: str | None = None
    response_url: str | None = None
    """Set for slash commands and clicks: works without membership, five times in half an hour."""
    is_direct: bool = False
    """Asked in Home or in direct messages: there everything is between the two of us."""
    trigger_id: str | None = None
    """Opens one modal, within three seconds of the click."""


async def deliver(slack: Slack, place: Place, replies: AsyncIterator[Reply]) -> None:
    """Send every reply in its order; what Slack will not take is said to the asker."""
    async for reply in replies:
        answer = await _bring(slack, place, reply)
        if not answer.is_ok:
            await _explain(slack, place, reply, answer)


async def _bring(slack: Slack, place: Place, reply: Reply) -> Answer:
    if isinstance(reply, Say):
        return await _say(slack, place, reply)
    if isinstance(reply, Upload):
        return await _upload(slack, place, reply)
    return await slack.show("views.open", {"trigger_id": place.trigger_id, "view": reply.view})


async def _say(slack: Slack, place: Place, reply: Say) -> Answer:
    if place.response_url and (place.thread_ts is None or reply.is_private or reply.replaces):
        return await _retried(
            lambda: slack.respond(
                place.response_url or "", reply.message, is_private=reply.is_private, replaces=reply.replaces
            )
        )
    if reply.is_private and not place.is_direct:
        answer = await slack.whisper(place.channel, place.user, reply.message, thread_ts=place.thread_ts)
        # Where we are no member nobody can be whispered to; between the two of us there is always a way.
        return await slack.post(place.user, reply.message, priority=NORMAL) if answer.needs_channel else answer
    return await _retried(lambda: slack.post(place.channel, reply.message, thread_ts=place.thread_ts, priority=NORMAL))


async def _upload(slack: Slack, place: Place, reply: Upload) -> Answer:
    answer = Answer(Outcome.AWAY)
    for _ in range(TRIES):
        answer = await slack.upload(reply.name, reply.data, reply.title, place.channel, place.thread_ts)
        if answer.is_ok or answer.outcome is Outcome.REFUSED:
            return answer
        file = str(answer.data.get("file_id", ""))
        if answer.outcome is Outcome.UNCLEAR and file and await slack.is_shared(file, place.channel):
            return Answer(Outcome.OK, answer.data)
    return answer


async def _retried(send: Callable[[], Awaitable[Answer]]) -> Answer:
    """Again only what was surely not done: an answer said twice is worse than one that a person asks for again."""
    answer = Answer(Outcome.AWAY)
    for _ in range(TRIES):
        answer = await send()
        if answer.outcome not in (Outcome.LIMITED, Outcome.AWAY):
            return answer
    return answer


async def _explain(slack: Slack, place: Place, reply: Reply, answer: Answer) -> None:
    logger.warning("An answer did not arrive: %s %s", answer.outcome, answer.error)
    if answer.outcome is Outcome.UNCLEAR and isinstance(reply, Say):
        return
    with to_the_asker():
        said = _why(reply, answer)
    if place.response_url:
        await slack.respond(place.response_url, said, is_private=True)
    else:
        await slack.whisper(place.channel, place.user, said, thread_ts=place.thread_ts)


def _why(reply: Reply, answer: Answer) -> Message:
    what = f"The file `{reply.name}`" if isinstance(reply, Upload) else "The answer"
    if isinstance(reply, Open):
        return mistakes.sentence("The form did not open in time; please press again.")
    if answer.error in ("not_in_channel", "channel_not_found"):
        return mistakes.sentence(
            f"{what} cannot be shown here: I am not a member of this channel. `/invite @runwatch` helps."
        )
    if answer.error == "missing_scope":
        needed = answer.data.get("needed") or "files:write"
        return mistakes.sentence(
            f"{what} cannot be shown: my Slack app lacks the scope `{needed}`. `runwatch doctor` checks all."
        )
    return mistakes.sentence(
        f"{what} did not get through to Slack ({answer.error or answer.outcome}). Please ask again."
    )
