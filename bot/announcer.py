"""The only one who speaks in incident threads.

It takes what the tracker wants said, and says it: root messages first, then replies, then edits; one incident at a
time, several side by side. A finding is settled only after Slack showed it and the record of the incident says so.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from bot import records
from bot.books import Books
from bot.once import ChannelRefused, LeaseLost, Once, ThreadGone
from bot.outbox import Act, Outbox, Work
from bot.records import Record
from bot.slack import Slack
from bot.telling import TOKEN_PAUSE_SECONDS, Teller
from bot.unheard import Unheard
from diagnosis.incidents import Announcement, Incident, Noted, Opened, Reason, Tracker
from handlers.messages.phrase import NOTHING, Clause, Phrase, say
from handlers.routes import channel_for
from registry import Registry, Run
from registry.ending import end_all
from registry.errors import RegistryError
from registry.events import Event
from registry.ledger import Place

logger = logging.getLogger(__name__)

AT_ONCE = 16
"""Incidents of one channel whose news is told side by side; the pace of posts is the channel's own."""
EDITS_AT_ONCE = 4  # beside that: Slack counts edits by themselves, so neither they nor the news wait for the other
UNTELLABLE_PAUSE_SECONDS = 5.0
"""Between two tries at what failed for a reason that nobody foresaw."""
LONGEST_REFRESH_SECONDS = 3600.0
RECENT = 50
"""Closed incidents that are taken over beside the open ones."""


class Charts(Protocol):
    """Brings a chart into a thread, in its own time."""

    def want(self, record: Record) -> None:
        """The thread of this incident should have a chart."""
        ...

    def know(self, record: Record) -> None:
        """An earlier bot brought the chart of this incident."""
        ...

    def changed(self, record: Record) -> None:
        """Its root reads anew; the chart may have to."""
        ...

    def forget(self, incidents: Sequence[str]) -> None:
        """These are over and shown."""
        ...

    async def stop(self) -> None:
        """Leave what is not done."""
        ...


class Announcer:
    """One reign of one bot: made when the lease is taken, thrown away when it is lost."""

    def __init__(
        self,
        registry: Registry,
        slack: Slack,
        tracker: Tracker,
        once: Once,
        charts: Charts,
        *,
        channel: str,
        fallback_channel: str = "",
        edit_interval_seconds: float = 3.0,
        prefix: str = "",
        mention: str = "",
        workspace_url: Callable[[], str] = str,
        refresh_seconds: float = 300.0,
        unheard: Unheard | None = None,
    ) -> None:
        self._registry = registry
        self._tracker = tracker
        self._charts = charts
        self._channel = channel
        self._fallback = fallback_channel or channel
        self._edit_interval = edit_interval_seconds
        self._books = Books(registry, lambda: once.lease.is_held)
        self._teller = Teller(
            registry, slack, tracker, once, self._books, prefix=prefix, mention=mention, workspace_url=workspace_url
        )
        self._refresh = refresh_seconds
        self._unheard = unheard or Unheard(registry, slack)
        self._fresh_until: dict[str, float] = {}
        """Incident → when its root, with its duration and costs, is shown anew."""
        self._fresh_waits: dict[str, float] = {}
        self._channels: dict[str, str] = {}
        """Incident → the channel it is told in, by the name that was asked for."""
        self._reroutes: dict[str, tuple[str, str]] = {}
        self._orphans: set[str] = set()
        """Incidents whose root a person deleted, and of which nothing was news since."""
        self._outboxes: dict[str, Outbox] = {}
        self._news: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._doing: set[asyncio.Task[None]] = set()
        self._in_hand: set[str] = set()
        """Incidents of which something is being said just now."""
        self._is_stopping = False
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lost = asyncio.Event()
        """Set when the right to announce is gone."""

    async def restore(self) -> None:
        """Take over the incidents that earlier bots had shown, and those that ended just now and may come back."""
        found = await self._registry.incidents.recent(RECENT) | await self._registry.incidents.unfinished()
        for fields in found.values():
            record = records.read(fields)
            if record is None:
                continue
            self._books.records[record.incident.id] = record
            self._tracker.restore([record.incident])
            if record.channel:
                self._channels[record.incident.id] = record.channel
                if record.is_dirty:
                    self._touch(record.channel, record.incident.id)
            if record.chart == records.WANTED and record.ts:
                self._charts.want(record)
            elif record.chart == records.SHOWN:
                self._charts.know(record)

    async def take(self, said: Iterable[Announcement | Noted], event: Event | None = None) -> None:
        """Say these things in their time; `event` is the finding that led to them."""
        if event is not None:
            self._books.events[event.id] = event
        for item in said:
            if isinstance(item, Noted):
                self._start(self._note(item))
            else:
                self._put(await self._channel_of(item.incident), self._revived(item))

    async def recall(self, name: str) -> None:
        """Take up an incident that was over and forgotten: somebody writes what helped, or opens it again."""
        record = records.read(await self._registry.incidents.get(name) or {})
        if record is not None and record.ts and self._tracker.get(name) is None:
            self._books.records[name] = record
            self._tracker.restore([record.incident])
            if record.channel:
                self._channels[name] = record.channel

    async def remember(self, incident: Incident) -> None:
        """Write down what a person did, before anything is shown: a bot that is killed now must not forget it."""
        await self._books.remember(incident)

    async def until_failed(self) -> None:
        """Wait until something here fails in a way that nobody foresaw, and raise just that: the reign is over."""
        await asyncio.shield(self._failed)

    async def stop(self, seconds: float) -> None:
        """Begin nothing more, and let what is in hand end within so many seconds."""
        self._is_stopping = True
        if self._doing:
            await asyncio.wait(self._doing, timeout=seconds)
        await end_all(self._tasks | self._doing)
        self._unheard.leave()
        await self._charts.stop()

    @property
    def unsaid(self) -> set[str]:
        """The incidents of which something waits or is being said: they must be known until that is done."""
        return self._in_hand.union(self._books.owing, *(outbox.waiting for outbox in self._outboxes.values()))

    def tidy(self) -> None:
        """Forget what is over and shown."""
        over = [name for name in self._books.records if self._tracker.get(name) is None]
        if over:
            self._books.forget(over)
            self._start(self._books.finish(over))
        for name in over:
            self._channels.pop(name, None)
            self._reroutes.pop(name, None)
            self._fresh_until.pop(name, None)
            self._fresh_waits.pop(name, None)
        self._teller.forget(over)
        self._charts.forget(over)
        self._orphans.difference_update(over)
        for outbox in self._outboxes.values():
            outbox.forget(over)
        self._touch_stale(time.monotonic())

    def _touch_stale(self, now: float) -> None:
        """Roots of open incidents count on: often at first, then as the incident gets old."""
        for name, record in self._books.records.items():
            if not record.ts or not record.channel or not record.incident.is_open:
                continue
            due = self._fresh_until.setdefault(name, now + self._refresh)
            if now >= due:
                waited = self._fresh_waits.get(name, self._refresh)
                self._fresh_waits[name] = min(LONGEST_REFRESH_SECONDS, waited * 1.5)
                self._fresh_until[name] = now + self._fresh_waits[name]
                self._touch(self._channels.get(name, record.channel), name)

    async def _note(self, noted: Noted) -> None:
        try:
            await self._books.note(noted)
        except LeaseLost as lost:
            self._lose(lost)

    def _put(self, channel: str, said: Announcement) -> None:
        if isinstance(said, Opened):
            self._unheard.waits(said.incident)
        self._outbox(channel).put(said)
        self._news[channel].set()

    def _touch(self, channel: str, incident: str) -> None:
        self._outbox(channel).touch(incident)
        self._news[channel].set()

    def _outbox(self, channel: str) -> Outbox:
        if channel not in self._outboxes:
            self._outboxes[channel] = Outbox(self._edit_interval)
            self._news[channel] = asyncio.Event()
            self._start(self._serve(channel))
        return self._outboxes[channel]

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task that fails is never a task that is forgotten."""
        self._tasks.discard(task)
        self._doing.discard(task)
        if task.cancelled() or (failure := task.exception()) is None:
            return
        if not self._failed.done():
            self._failed.set_exception(failure)
            # Told even when the reign ends for another reason at the same moment.
            self._failed.exception()
        logger.error("A part of the announcer failed: %s: %s", type(failure).__name__, failure)

    async def _serve(self, channel: str) -> None:
        """Do what waits in one channel, for as long as the reign lasts."""
        outbox, news = self._outboxes[channel], self._news[channel]
        busy: dict[str, Act] = {}
        # Whose right is gone begins nothing more: a reply whose root was not told would be settled, having no thread.
        while not self._is_stopping and not self.lost.is_set():
            news.clear()
            now = time.monotonic()
            while work := outbox.next(now, busy, **_room(busy)):
                task = asyncio.create_task(self._do(channel, work))
                busy[work.incident] = work.act
                self._in_hand.add(work.incident)
                self._doing.add(task)

                def done(ended: asyncio.Task[None], incident: str = work.incident) -> None:
                    busy.pop(incident, None)
                    self._in_hand.discard(incident)
                    self._ended(ended)
                    news.set()

                task.add_done_callback(done)
            due = outbox.seconds_to_next(now, busy, **_room(busy))
            with suppress(TimeoutError):
                # A wait of nothing would never let the others run.
                await asyncio.wait_for(news.wait(), None if due is None else max(due, 0.01))

    async def _do(self, channel: str, work: Work) -> None:
        try:
            await self._say(channel, work)
        except LeaseLost as lost:
            self._outboxes[channel].put_back(work, time.monotonic(), 0.0)
            self._lose(lost)

    def _lose(self, lost: LeaseLost) -> None:
        logger.warning("%s", lost)
        self.lost.set()

    async def _say(self, channel: str, work: Work) -> None:
        outbox = self._outboxes[channel]
        before = self._books.records.get(work.incident)
        root = before.ts if before is not None else None
        try:
            record, wait = await self._teller.tell(channel, work, self._note_of(work.incident))
            if wait:
                outbox.put_back(work, time.monotonic(), wait)
            elif record is not None and record.ts is not None:
                self._unheard.heard(work.incident)
            if record is not None and record.is_dirty:
                self._touch(channel, work.incident)
            if record is not None and record.ts is not None and record.ts != root:
                self._charts.want(record)
            elif record is not None:
                self._charts.changed(record)
        except LeaseLost:
            raise
        except ChannelRefused as refused:
            self._reroute(channel, work, str(refused))
        except ThreadGone:
            await self._begin_anew(channel, work)
        except RegistryError as away:
            logger.warning("Kept for later, because the registry does not answer: %s", away)
            outbox.put_back(work, time.monotonic(), 1.0)
        except Exception as failure:
            logger.exception("Could not tell incident %s", work.incident)
            await self._give_up_slowly(channel, work, failure)

    def _reroute(self, channel: str, work: Work, why: str) -> None:
        """The channel takes nothing: say it in the fallback channel, with the reason."""
        if channel == self._fallback:
            logger.error("The channel %s takes nothing from us (%s), and there is no other.", channel, why)
            self._outboxes[channel].put_back(work, time.monotonic(), TOKEN_PAUSE_SECONDS)
            return
        logger.warning("The channel %s takes nothing from us (%s); using %s.", channel, why, self._fallback)
        incident = self._tracker.get(work.incident)
        if incident is None:
            return
        self._reroutes[work.incident] = (channel, why)
        self._channels[work.incident] = self._fallback
        self._forget_thread(work.incident)
        self._put(
            self._fallback, Opened(incident, Reason.NEW, incident.opened_at, self._open_events(work), incident.head)
        )

    async def _begin_anew(self, channel: str, work: Work) -> None:
        """A person deleted the root: what is news opens a new one, what only changed it stays unsaid until then."""
        incident, record = self._tracker.get(work.incident), self._books.records.get(work.incident)
        self._forget_thread(work.incident)
        events = self._open_events(work)
        if incident is None or not incident.is_open:
            await self._books.settle(events, Place(incident=work.incident, note="thread deleted"))
        elif events or work.act is not Act.EDIT:
            logger.warning("The root of %s is gone; posting it anew.", work.incident)
            key = f"{work.incident}/anew/{record.ts if record else ''}"
            self._put(channel, Opened(incident, Reason.NEW, incident.changed_at, (key, *events), incident.head))
        else:
            self._orphans.add(work.incident)

    def _revived(self, said: Announcement) -> Announcement:
        """The first news of an incident whose root was deleted opens a new one, with all that is known."""
        incident = said.incident
        if incident.id not in self._orphans or not incident.is_open or not (said.speaks or said.events):
            return said
        self._orphans.discard(incident.id)
        key = f"{incident.id}/anew/{said.key}"
        return Opened(incident, Reason.NEW, said.at, (key, *said.events), incident.head)

    def _forget_thread(self, incident: str) -> None:
        if (record := self._books.records.get(incident)) is not None:
            self._books.records[incident] = replace(record, channel=None, ts=None)

    def _open_events(self, work: Work) -> tuple[str, ...]:
        return tuple(name for name in work.events if name in self._books.events)

    async def _give_up_slowly(self, channel: str, work: Work, failure: Exception) -> None:
        """A finding we cannot tell must not stop the others: after a few tries it goes to the dead letters.

        Its root is tried once more without it, with what came meanwhile; one that fails even then opens with the next
        news of its incident.
        """
        name, is_buried = next(iter(self._open_events(work)), None), False
        with suppress(RegistryError):
            if name and await self._registry.ledger.failed(
                self._books.events[name], f"{type(failure).__name__}: {failure}"
            ):
                await self._books.bury(name, work.incident)
                name, is_buried = next(iter(self._open_events(work)), None), True
        if name or work.act is Act.EDIT or (is_buried and work.act is Act.ROOT):
            self._outboxes[channel].put_back(work, time.monotonic(), UNTELLABLE_PAUSE_SECONDS)
        elif work.act is Act.ROOT:
            self._orphans.add(work.incident)

    async def _channel_of(self, incident: Incident) -> str:
        if incident.id not in self._channels:
            channel = self._channel
            with suppress(RegistryError):
                run = await self._registry.runs.get(incident.run) or Run(incident.run)
                channel = channel_for(run, await self._registry.routes.all(), self._channel)
            self._channels[incident.id] = channel
        return self._channels[incident.id]

    def _note_of(self, incident: str) -> Phrase:
        if incident not in self._reroutes:
            return NOTHING
        channel, why = self._reroutes[incident]
        return say("Meant for {channel}, which took nothing from us: {why}.", channel=channel, why=Clause(why))


def _room(busy: Mapping[str, Act]) -> dict[str, bool]:
    """What else may be begun beside what is being done."""
    edits = sum(act is Act.EDIT for act in busy.values())
    return {"may_tell": len(busy) - edits < AT_ONCE, "may_edit": edits < EDITS_AT_ONCE}
