"""Tells one thing once, through kills, cut connections and answers that are no answers.

Before each post an intent is written down. Whenever it is not sure whether a post arrived, the channel is read
first: our messages carry the finding's id in their metadata. Only a channel that cannot be read for ten minutes
gets the message again, marked as a possible repeat.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.looking import Looking
from bot.pacing import NORMAL
from bot.slack import Slack
from bot.slack_answers import Answer, Outcome
from handlers.messages.blocks import Message, shortened
from registry import Registry
from registry.errors import RegistryAway
from registry.events import Event
from registry.lease import Lease

logger = logging.getLogger(__name__)

RESENT_LOOK_SECONDS = 86_400.0
"""How far back a finding is looked for that Redis had lost."""
LAG_SECONDS = 1.0
"""What Slack took last may not be readable at once, so an unclear post is looked for twice."""
TIMED_OUT_LAG_SECONDS = 5.0
"""A call that was not answered in time may still be at work over there."""
LONGEST_WAIT_SECONDS = 30.0
LONGEST_LOOK_WAIT_SECONDS = 8.0

Compose = Callable[[bool], Message]
"""Makes the message as it reads now; the argument says that it may be a repeat."""


class LeaseLost(Exception):
    """Another bot announces now."""


class ChannelRefused(Exception):
    """This channel takes nothing from us; the text is Slack's word for why."""


class ThreadGone(Exception):
    """The message to answer was deleted."""


@dataclass(frozen=True, slots=True)
class Told:
    """Where it stands now."""

    channel: str
    ts: str
    was_found: bool = False
    """It had arrived already; what it shows may be older than what is known now."""
    is_repeat: bool = False
    is_stray: bool = False
    """Its thread's root was deleted, so Slack made it a message of the channel."""
    is_inside: bool = False
    """It was found as a reply: `ts` is the root of that thread, and tells of more than this."""


class _Found(NamedTuple):
    """A message that had arrived."""

    ts: str
    is_stray: bool


@dataclass(frozen=True, slots=True)
class Once:
    """The way every message of an incident goes out."""

    registry: Registry
    slack: Slack
    lease: Lease
    looking: Looking
    repeat_after_seconds: float = 600.0

    async def tell(
        self,
        key: str,
        event: Event | None,
        channel: str,
        compose: Compose,
        *,
        run: str,
        since: float,
        thread_ts: str | None = None,
        priority: int = NORMAL,
        place: int | None = None,
        is_for_all: bool = False,
    ) -> Told:
        """Post, unless it was posted already.

        Args:
            key: What the message is known by in its metadata.
            event: The finding it tells; None for what no finding caused: the channel is always read first.
            channel: Where to post.
            compose: Makes the message.
            run: Whose trouble it is.
            since: How far back it may have been posted already (Unix seconds).
            thread_ts: The root to answer; None: a root.
            priority: How urgent it is in the channel's queue.
            place: Its place among equals (`Pacing.place`), kept whatever Slack says; None: behind those that wait now.
            is_for_all: Whether a reply stands in the channel, too.

        Raises:
            LeaseLost: The right to announce passed to another bot.
            ChannelRefused: The channel takes nothing from us.
            ThreadGone: The root was deleted.
            RegistryAway: The intent could not be written, so nothing was sent.
        """
        is_repeat = False
        earliest, settles_at = await self._told_between(event, since)
        if earliest is not None:
            seen, since = since, min(since, earliest)
            # A finding that Redis lost may come back by another stream; its own key stays the same.
            names = (key, event.key) if event is not None and event.is_resent and event.key else (key,)
            found, is_readable = await self._look(names, channel, since, thread_ts, settles_at=settles_at)
            if found:
                return Told(channel, found.ts, was_found=True, is_stray=found.is_stray)
            if event is not None and event.was_lost and is_readable:
                root, is_readable = await self._look_elsewhere(names, channel, run, seen, thread_ts)
                if root:
                    return Told(channel, root, was_found=True, is_inside=True)
            is_repeat = not is_readable

        async def about_to_send() -> bool:
            # Not before its turn has come: from the intent on, the next bot counts how long a post of ours may still be
            # on its way.
            if event is not None:
                await self.registry.ledger.intent(event, channel)
            return await self.may_send()

        is_short, wait = False, 0.5
        place = self.slack.pacing.place() if place is None else place
        while True:
            message = compose(is_repeat)
            answer = await self.slack.post(
                channel,
                shortened(message) if is_short else message,
                thread_ts=thread_ts,
                event=key,
                key=event.key if event is not None else "",
                run=run,
                priority=priority,
                fence=about_to_send,
                is_for_all=is_for_all,
                place=place,
            )
            if answer.is_ok:
                ts = str(answer.data["ts"])
                self.looking.learn_clock(ts, await self.registry.clock.estimate())
                is_stray = thread_ts is not None and not (answer.data.get("message") or {}).get("thread_ts")
                return Told(str(answer.data.get("channel") or channel), ts, is_repeat=is_repeat, is_stray=is_stray)
            if answer.outcome is Outcome.UNCLEAR:
                late = TIMED_OUT_LAG_SECONDS if answer.is_timeout else 2 * LAG_SECONDS
                settles_at = await self.registry.clock.estimate() + late
                await asyncio.sleep(LAG_SECONDS)
                found, is_readable = await self._look((key,), channel, since, thread_ts, settles_at=settles_at)
                if found:
                    return Told(channel, found.ts, was_found=True, is_stray=found.is_stray)
                is_repeat = is_repeat or not is_readable
                continue
            is_short = self._judge(answer, channel, is_short=is_short)
            if answer.outcome is not Outcome.LIMITED and not answer.needs_shape:
                await asyncio.sleep(wait)
                wait = min(LONGEST_WAIT_SECONDS, wait * 2)

    def _judge(self, answer: Answer, channel: str, *, is_short: bool) -> bool:
        """Decide what a post that was surely not done means; returns whether the next try is the short form."""
        if answer.outcome is Outcome.FENCED:
            raise LeaseLost(answer.error)
        if answer.needs_channel:
            raise ChannelRefused(answer.error)
        if answer.is_gone:
            raise ThreadGone(answer.error)
        if answer.needs_token:
            logger.error("Slack takes nothing from us: %s. Findings are kept until the token is mended.", answer.error)
        elif answer.outcome is Outcome.REFUSED:
            if is_short:
                raise ChannelRefused(answer.error)
            logger.warning("Slack refused the message (%s); sending a short one to %s.", answer.error, channel)
            return True
        return is_short

    async def _told_between(self, event: Event | None, since: float) -> tuple[float | None, float]:
        """The earliest time at which somebody may have told it, and when that must have arrived; None: nobody did."""
        if event is None:
            return since, 0.0
        entry = await self.registry.ledger.state(event)
        if entry.intent is not None:
            # A bot that was killed right after it sent leaves a post that is still on its way.
            arrives_by = entry.intent.at + self.slack.deadline_seconds + TIMED_OUT_LAG_SECONDS
            return min(since, entry.intent.at), arrives_by
        if not event.is_resent:
            return None, 0.0
        # Redis may have lost the word whether it was told; only what is still where it was first put says since when.
        is_dated = event.published_at and not event.was_lost
        return min(since, event.published_at) if is_dated else since - RESENT_LOOK_SECONDS, 0.0

    async def may_send(self) -> bool:
        """The fence: a call must end while the lease is surely ours."""
        try:
            return await self.lease.confirm(self.slack.deadline_seconds)
        except RegistryAway:
            return False

    async def _look_elsewhere(
        self, names: Sequence[str], channel: str, run: str, since: float, thread_ts: str | None
    ) -> tuple[str | None, bool]:
        """The thread that tells what Redis had lost, wherever that is; and whether it could be looked for."""
        if thread_ts is not None:
            # What is a reply now may have opened a thread.
            root, is_readable = await self._look(names, channel, since, None)
            if root or not is_readable:
                return root.ts if root else None, is_readable
        loop = asyncio.get_running_loop()
        until, wait = loop.time() + self.repeat_after_seconds, 1.0
        while not (found := await self.looking.threads.holding(names, channel, since, run)).answer.is_ok:
            if not await self.may_send():
                raise LeaseLost("the right to announce passed to another bot while we looked")
            if loop.time() + wait >= until:
                return None, False
            await asyncio.sleep(max(wait, found.answer.retry_after))
            wait = min(LONGEST_LOOK_WAIT_SECONDS, wait * 2)
        return found.root, True

    async def _look(
        self, names: Sequence[str], channel: str, since: float, thread_ts: str | None, *, settles_at: float = 0.0
    ) -> tuple[_Found | None, bool]:
        """Where the message stands, and whether the channel could be read at all.

        It is not there only if a look finds nothing after `settles_at`, on the registry's clock. An answer whose root
        was deleted stands among the messages of the channel.
        """
        loop = asyncio.get_running_loop()
        until, wait, is_stray = loop.time() + self.repeat_after_seconds, 1.0, False
        while True:
            sight = await self.looking.look(channel, thread_ts, since)
            if thread_ts is not None and sight.answer.is_gone:
                thread_ts, is_stray = None, True
                continue
            if sight.answer.is_ok:
                place = next((sight.found[name] for name in names if name in sight.found), None)
                if place or sight.at >= settles_at:
                    return (_Found(place, is_stray) if place else None), True
                await asyncio.sleep(min(LAG_SECONDS, max(0.05, settles_at - sight.at)))
                continue
            if not await self.may_send():
                raise LeaseLost("the right to announce passed to another bot while we looked")
            if loop.time() + wait >= until:
                await asyncio.sleep(max(0.0, until - loop.time()))
                return None, False
            await asyncio.sleep(max(wait, sight.answer.retry_after))
            wait = min(LONGEST_LOOK_WAIT_SECONDS, wait * 2)
