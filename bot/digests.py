"""Posts the summaries that channels asked for, each once, by the one bot that announces."""

import logging
from contextlib import suppress

from bot.once import ChannelRefused, Once, ThreadGone
from bot.pacing import PATIENT
from bot.slack import Slack
from bot.slack_answers import NotAnswered
from handlers.command import Desk
from handlers.digests import Digest, digest_of
from handlers.kept import kept_of
from handlers.messages.digest import Period, digest_message
from handlers.messages.languages import speaking
from handlers.mutes import active_mutes
from handlers.routes import channel_for
from handlers.shown_runs import as_shown
from handlers.tongues import channel_language
from registry import Run

logger = logging.getLogger(__name__)

MOST_RUNS, MOST_INCIDENTS = 2000, 2000
LATE_SECONDS = 6 * 3600.0
"""A summary that is later than this is left out: the next one tells it too."""


class Digests:
    """The summaries of every channel."""

    def __init__(self, desk: Desk, slack: Slack, once: Once, default_channel: str) -> None:
        self._desk = desk
        self._slack = slack
        self._once = once
        self._default = default_channel

    async def post_due(self, now: float) -> None:
        """Post what is due; what was posted by a bot that was killed is found in the channel."""
        for channel, record in (await self._desk.registry.digests.all()).items():
            digest = digest_of(channel, record)
            due = digest.due_at(now) if digest is not None else None
            if digest is None or due is None:
                continue
            if now - due <= LATE_SECONDS:
                await self._post(digest, due)
            await self._desk.registry.digests.put(channel, {**record, "last": due})

    async def _post(self, digest: Digest, due: float) -> None:
        period = await self._period(digest, due)
        with speaking(await channel_language(self._desk.registry, digest.channel)):
            said = digest_message(period)
        with suppress(ThreadGone):
            try:
                await self._once.tell(
                    f"digest/{digest.channel}/{due:.0f}",
                    None,
                    digest.channel,
                    lambda _: said,
                    run="",
                    since=due,
                    priority=PATIENT,
                )
            except ChannelRefused as refused:
                logger.warning("The summary for %s cannot be told there: %s", digest.channel, refused)

    async def _period(self, digest: Digest, due: float) -> Period:
        since, registry = due - digest.span_seconds, self._desk.registry
        routes = await registry.routes.all()
        heard = [run for run in await registry.runs.all(MOST_RUNS) if (run.last_seen or 0.0) >= since]
        runs = [run for run in heard if await self._is_told_in(run, routes, digest.channel)]
        found = await registry.incidents.recent(MOST_INCIDENTS) | await registry.incidents.all_open()
        kept = [one for fields in found.values() if (one := kept_of(fields)) and one.channel == digest.channel]
        told = [one for one in kept if one.incident.is_open or since <= one.incident.opened_at < due]
        told.sort(key=lambda one: one.incident.opened_at)
        runs = await as_shown(self._desk, runs, [one.incident for one in kept])
        muted = len(await active_mutes(self._desk))
        return Period(digest, since, due, runs, told, muted, self._desk.workspace_url())

    async def _is_told_in(self, run: Run, routes: dict[str, dict[str, object]], channel: str) -> bool:
        name = channel_for(run, routes, self._default)
        with suppress(NotAnswered):
            return (await self._slack.channel_id(name) or name) == channel
        return name == channel
