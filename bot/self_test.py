"""After long silence a word in the default channel: the whole way from the registry to Slack still works.

Opt-in. It counts from the newest change of an incident, comes once in each such span by whichever bot announces, and
a bot that was killed right after it finds it in the channel.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress

from bot.once import ChannelRefused, Once, ThreadGone
from bot.pacing import PATIENT
from bot.slack import Slack
from bot.slack_answers import NotAnswered
from diagnosis.observations import Heartbeat
from handlers.command import Desk
from handlers.messages.languages import speaking
from handlers.messages.self_test import self_test
from handlers.mutes import active_mutes
from handlers.tongues import channel_language
from registry import Beat

logger = logging.getLogger(__name__)

MOST_RUNS = 10_000
LIVING = frozenset({"running", "unknown"})
LOOK_EVERY_SECONDS = 60.0


class SelfTest:
    """One chore of the bot that announces."""

    def __init__(self, desk: Desk, slack: Slack, once: Once, channel: str, after_seconds: float) -> None:
        self._desk = desk
        self._slack = slack
        self._once = once
        self._channel = channel
        self._after = after_seconds
        self._told = ""
        self._looked_at = float("-inf")

    async def post_due(self, now: float) -> None:
        """Say it when it is time; after a post that was refused it is tried again in the next span only."""
        if self._after <= 0 or now - self._looked_at < min(LOOK_EVERY_SECONDS, self._after / 4):
            return
        self._looked_at = now
        registry = self._desk.registry
        newest = await registry.incidents.recent(1)
        last = max((float(fields.get("saved_at") or 0.0) for fields in newest.values()), default=0.0)
        spans = int((now - last) // self._after)
        key = f"self-test/{last:.0f}/{spans}"
        if spans < 1 or key == self._told:
            return
        try:
            channel = await self._slack.channel_id(self._channel) or self._channel
        except NotAnswered:
            return
        beats = await registry.heartbeats.all()
        runs = await registry.runs.partly(await registry.runs.names(MOST_RUNS), ("state",))
        heard, silent = _heard(beats)
        living = sum(run.state in LIVING for run in runs)
        muted = len(await active_mutes(self._desk))
        with speaking(await channel_language(registry, channel)):
            said = self_test(spans * self._after, living, heard, silent, muted, is_first=not last)
        self._told = key
        with suppress(ThreadGone):
            try:
                since = last + spans * self._after
                await self._once.tell(key, None, channel, lambda _: said, run="", since=since, priority=PATIENT)
            except ChannelRefused as refused:
                logger.warning("The word after long silence cannot be told: %s", refused)


def _heard(beats: Sequence[Beat]) -> tuple[int, int]:
    """How many watchers of runs can be heard, and how many fell silent."""
    watchers = [beat for beat in beats if _watches(beat.heartbeat)]
    silent = sum(beat.is_silent for beat in watchers)
    return len(watchers) - silent, silent


def _watches(heartbeat: Heartbeat) -> bool:
    return bool(heartbeat.runs)
