"""Says one thing about one incident in Slack: its root, a reply, or the root as it reads now."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from bot import records
from bot.books import Books
from bot.once import LeaseLost, Once, ThreadGone, Told
from bot.outbox import Act, Work
from bot.pacing import NORMAL, URGENT
from bot.records import Record
from bot.slack import Slack
from bot.slack_answers import NotAnswered, Outcome
from diagnosis.costs import costs_of
from diagnosis.findings import Severity
from diagnosis.incidents import Incident, Tracker
from handlers.earlier import earlier_of
from handlers.messages.blocks import Message, calling
from handlers.messages.incident import RunFacts, root
from handlers.messages.languages import speaking
from handlers.messages.phrase import Phrase
from handlers.messages.replies import reply
from handlers.run_state import state_of
from handlers.tongues import channel_language
from registry import Registry
from registry.errors import RegistryError
from registry.ledger import Place

logger = logging.getLogger(__name__)

TOKEN_PAUSE_SECONDS = 30.0
"""Between two tries while Slack does not take our token."""

Result = tuple[Record | None, float]
"""What is shown now, and, when it could not be done, in how many seconds to try again."""


class Teller:
    """The three things that can be said, each settled once it was."""

    def __init__(
        self,
        registry: Registry,
        slack: Slack,
        tracker: Tracker,
        once: Once,
        books: Books,
        *,
        prefix: str,
        mention: str = "",
        workspace_url: Callable[[], str] = str,
    ) -> None:
        self._registry = registry
        self._slack = slack
        self._tracker = tracker
        self._once = once
        self._books = books
        self._prefix = prefix
        self._mention = mention
        self._workspace_url = workspace_url
        self._earlier: dict[str, Phrase] = {}
        """Incident → the same failure before; looked for once."""

    async def tell(self, channel: str, work: Work, note: Phrase) -> Result:
        """Do one work; the errors of `Once.tell` rise."""
        # Taken before anything is waited for: several are told side by side, and who began first goes first.
        place = self._slack.pacing.place()
        record = self._books.records.get(work.incident)
        is_shown = record is not None and record.ts is not None
        if work.act is Act.ROOT and not is_shown:
            try:
                return await self._post_root(channel, work, note, place), 0.0
            except NotAnswered as silent:
                return None, silent.retry_after
        if record is None or not is_shown:
            # It was never shown (muted): there is no thread to speak in.
            await self._books.settle(work.events, Place(incident=work.incident, note="no thread"))
            return record, 0.0
        with speaking(await channel_language(self._registry, record.channel or channel)):
            if work.act is Act.REPLY:
                return await self._post_reply(record, work, place), 0.0
            return await self._edit_root(record, work, note)

    async def _post_root(self, channel: str, work: Work, note: Phrase, place: int) -> Record:
        assert work.said is not None
        shown = work.said.incident
        before = self._books.records.get(shown.id)
        has_called = before is not None and before.has_called
        facts = await self._facts_of(shown)

        def compose(is_repeat: bool) -> Message:
            nonlocal shown
            shown = self._tracker.get(shown.id) or shown
            return self._calling(root(shown, facts, note=note, is_repeat=is_repeat), shown, has_called=has_called)

        where = await self._slack.channel_id(channel) or channel
        with speaking(await channel_language(self._registry, where)):
            told = await self._once.tell(
                work.said.key,
                self._books.events.get(work.said.key),
                where,
                compose,
                run=shown.run,
                since=_since(shown),
                priority=URGENT if work.is_urgent else NORMAL,
                place=place,
            )
        logger.info("Told %s of %s in %s: %s", shown.trouble, shown.run, told.channel, shown.head.text)
        # A message that was found was posted by an earlier bot, and may show less than is known now.
        record = Record(shown, told.channel, told.ts, is_dirty=told.was_found, chart=records.WANTED)
        record = replace(record, has_called=has_called or self._calls(shown))
        if told.is_inside:
            record = replace(record, is_dirty=False, is_guest=True)
        await self._books.keep(record, work.events, told, is_new=True)
        return record

    async def _post_reply(self, record: Record, work: Work, place: int) -> Record:
        said = work.said
        assert said is not None
        assert record.channel is not None
        assert record.ts is not None
        told = await self._once.tell(
            said.key,
            self._books.events.get(said.key),
            record.channel,
            lambda _: self._calling(reply(said), said.incident, has_called=record.has_called),
            run=said.incident.run,
            since=max(_since(said.incident), float(record.ts)),
            thread_ts=record.ts,
            priority=URGENT if work.is_urgent else NORMAL,
            place=place,
            is_for_all=self._calls(said.incident) and not record.has_called,
        )
        shown = replace(record, incident=said.incident, is_dirty=True)
        if told.is_stray:
            # The root was deleted: this message becomes the new one.
            shown = replace(shown, channel=told.channel, ts=told.ts, chart=records.WANTED)
        shown = replace(shown, has_called=record.has_called or self._calls(said.incident))
        await self._books.keep(shown, work.events, told, is_new=told.is_stray)
        return shown

    async def _edit_root(self, record: Record, work: Work, note: Phrase) -> Result:
        assert record.channel is not None
        assert record.ts is not None
        if record.is_guest:
            shown = replace(record, incident=self._tracker.get(work.incident) or record.incident, is_dirty=False)
            await self._books.keep(shown, work.events, Told(record.channel, record.ts))
            return shown, 0.0
        facts = await self._facts_of(record.incident)
        await self._slack.turn_to_edit()
        incident = self._tracker.get(work.incident) or record.incident
        message = root(incident, facts, note=note)
        answer = await self._slack.edit(record.channel, record.ts, message, fence=self._once.may_send)
        told = Told(record.channel, record.ts)
        if answer.is_ok:
            shown = replace(record, incident=incident, is_dirty=False)
            await self._books.keep(shown, work.events, told)
            return shown, 0.0
        if answer.outcome is Outcome.FENCED:
            raise LeaseLost(answer.error)
        if answer.is_gone:
            raise ThreadGone(answer.error)
        if answer.outcome is Outcome.REFUSED and not answer.needs_token:
            # The thread stands and its replies told the news; an edit that Slack will not take must not block it.
            logger.warning("Slack refuses to change the root of %s: %s", incident.id, answer.error)
            await self._books.keep(replace(record, incident=incident), work.events, told)
            return record, 0.0
        return None, TOKEN_PAUSE_SECONDS if answer.needs_token else max(1.0, answer.retry_after)

    async def _facts_of(self, incident: Incident) -> RunFacts:
        facts = RunFacts(prefix=self._prefix)
        with suppress(RegistryError):
            now = await self._registry.clock.estimate()
            if incident.id not in self._earlier:
                self._earlier[incident.id] = await earlier_of(self._registry, incident, self._workspace_url())
            facts = replace(facts, now=now, earlier=self._earlier[incident.id])
            found = await self._registry.runs.get(incident.run)
            if found is not None:
                costs = costs_of(incident, found.world_size, now)
                state = state_of(found, self._tracker.open_of(incident.run))
                facts = replace(facts, world_size=found.world_size, costs=costs, state=state)
        return facts

    def _calls(self, incident: Incident) -> bool:
        """Whether people are called for it: only when it is critical."""
        return bool(self._mention) and incident.severity is Severity.CRITICAL and incident.is_open

    def _calling(self, said: Message, incident: Incident, *, has_called: bool) -> Message:
        return said if has_called or not self._calls(incident) else calling(said, self._mention)

    def forget(self, incidents: Iterable[str]) -> None:
        """Forget what was looked up for incidents that are over."""
        for name in incidents:
            self._earlier.pop(name, None)


def _since(incident: Incident) -> float:
    """The earliest time a message about it can have been posted."""
    seen = incident.head.seen_at
    return incident.opened_at if seen is None else min(incident.opened_at, seen)
