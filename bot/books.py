"""What was shown, written down: the record of each incident, then the ledger of its findings."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from bot import records
from bot.once import Told
from bot.records import Record
from diagnosis.incidents import Incident, Noted, Reason
from registry import Registry
from registry.errors import RegistryError
from registry.events import Event
from registry.ledger import Place

logger = logging.getLogger(__name__)


class Books:
    """The findings that are not settled yet, and the records of incidents."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.events: dict[str, Event] = {}
        self.records: dict[str, Record] = {}

    async def keep(self, record: Record, events: Iterable[str], told: Told, *, is_new: bool = False) -> None:
        """Write down what was shown; until that is done the findings stay open, and are looked for after a crash."""
        self.records[record.incident.id] = record
        told_now = tuple(events)
        # Over and not said yet: however many came after it, whoever takes over must know it to say so.
        is_owing = any(name in self.events and name not in told_now for name in record.incident.calls)
        await _insist(lambda: records.save(self._registry, record, is_new=is_new, is_owing=is_owing))
        note = "possible repeat" if told.is_repeat else ""
        await self.settle(told_now, Place(told.channel, told.ts, record.incident.id, note))

    async def remember(self, incident: Incident) -> None:
        """Write down how an incident stands, although its root does not show it yet."""
        record = self.records.get(incident.id)
        if record is None or record.ts is None:
            return
        record = replace(record, incident=incident, is_dirty=True)
        self.records[incident.id] = record
        is_owing = any(name in self.events for name in record.incident.calls)
        await records.save(self._registry, record, is_owing=is_owing)

    async def note(self, noted: Noted) -> None:
        """Settle without a word; a muted incident is written down first."""
        incident = noted.incident
        if incident is not None and noted.reason is Reason.MUTED:
            record = replace(self.records.get(incident.id) or Record(incident), incident=incident)
            self.records[incident.id] = record
            await _insist(lambda: records.save(self._registry, record))
        await self.settle(noted.events, Place(incident=incident.id if incident else None, note=noted.reason))

    async def settle(self, events: Iterable[str], place: Place) -> None:
        """Write into the ledger where these findings were told."""
        for name in events:
            event = self.events.get(name)
            if event is not None:
                await self._deliver(event, place)
                self.events.pop(name, None)

    async def _deliver(self, event: Event, place: Place) -> None:
        await _insist(lambda: self._registry.ledger.delivered(event, place))


async def _insist(write: Callable[[], Awaitable[object]]) -> None:
    """Slack has shown it: nothing but writing it down may follow, however long the registry is away."""
    wait = 0.1
    while True:
        try:
            await write()
            return
        except RegistryError as away:
            logger.warning("Shown, but not written down yet: %s", away)
        await asyncio.sleep(wait)
        wait = min(5.0, wait * 2)
