"""What was shown, written down: the record of each incident, then the ledger of its findings.

A record keeps of its incident's calls only those that were not answered yet: what is still owed to its thread. As long
as one is owed, whoever takes over must know the incident, open or over, however many came after it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from bot import records
from bot.once import LeaseLost, Told
from bot.records import Record
from diagnosis.incidents import Incident, Noted, Reason
from registry import Registry
from registry.errors import RegistryError
from registry.events import Event
from registry.ledger import Place

logger = logging.getLogger(__name__)


class Books:
    """The findings that are not settled yet, and the records of incidents."""

    def __init__(self, registry: Registry, may_write: Callable[[], bool] = lambda: True) -> None:
        self._registry = registry
        self._may_write = may_write
        self._answered: defaultdict[str, set[str]] = defaultdict(set)
        """Incident → its calls that this reign answered."""
        self.events: dict[str, Event] = {}
        self.records: dict[str, Record] = {}

    @property
    def owing(self) -> set[str]:
        """The incidents of which something is still to be said, by their records."""
        return {name for name, record in self.records.items() if record.incident.calls}

    async def keep(self, record: Record, events: Iterable[str], told: Told, *, is_new: bool = False) -> None:
        """Write down what was shown; until that is done the findings stay open, and are looked for after a crash."""
        told_now = tuple(events)
        record = self._put(record, told_now)
        place = Place(told.channel, told.ts, record.incident.id, "possible repeat" if told.is_repeat else "")

        async def write() -> None:
            changes = -1
            while changes != self._registry.events.changes:
                # Again where a server was lost on the way: one that went back may know the second and not the first.
                changes = self._registry.events.changes
                await records.save(self._registry, record, is_new=is_new)
                await self._deliver(told_now, place)

        await self._insist(write)
        newest = self.records.get(record.incident.id, record).incident  # it may have been opened again meanwhile
        if not newest.is_open and not newest.calls:
            await self._insist(lambda: self._registry.incidents.finish([record.incident.id]))

    async def remember(self, incident: Incident) -> None:
        """Write down how an incident stands, although its root does not show it yet."""
        record = self.records.get(incident.id)
        if record is None or record.ts is None:
            return
        await records.save(self._registry, self._put(replace(record, incident=incident, is_dirty=True)))

    async def note(self, noted: Noted) -> None:
        """Settle without a word; a muted incident is written down first."""
        incident = noted.incident
        if incident is not None and noted.reason is Reason.MUTED:
            record = self._put(replace(self.records.get(incident.id) or Record(incident), incident=incident))
            await self._insist(lambda: records.save(self._registry, record))
        await self.settle(noted.events, Place(incident=incident.id if incident else None, note=noted.reason))

    async def settle(self, events: Iterable[str], place: Place) -> None:
        """Write into the ledger where these findings were told."""
        told = tuple(events)
        await self._insist(lambda: self._deliver(told, place))

    async def bury(self, name: str, incident: str) -> None:
        """A finding went to the dead letters: its incident owes it no more, in the registry neither."""
        # Also the root that is shown next, which knows that word, must not owe it again.
        self._answered[incident].add(name)
        self.give_up(name, incident)
        record = self.records.get(incident)
        if record is None:
            return
        await self._insist(lambda: records.save(self._registry, record))
        if not record.incident.is_open and not record.incident.calls:
            await self._insist(lambda: self._registry.incidents.finish([incident]))

    def give_up(self, name: str, incident: str | None) -> None:
        """Nothing more is to be said of this finding."""
        self.events.pop(name, None)
        if incident is not None and incident in self.records:
            self._put(self.records[incident], [name])

    def forget(self, incidents: Iterable[str]) -> None:
        """These are over and told."""
        for name in incidents:
            self.records.pop(name, None)
            self._answered.pop(name, None)

    async def finish(self, incidents: Sequence[str]) -> None:
        """Write that these are over and told, where a bot was killed before it did."""
        if self._may_write():
            with suppress(RegistryError):
                await self._registry.incidents.finish(incidents)

    def _put(self, record: Record, told: Iterable[str] = ()) -> Record:
        """Remember a record, with nothing owed that was told."""
        answered = self._answered[record.incident.id]
        answered.update(record.incident.calls.keys() & set(told))
        calls = {name: reason for name, reason in record.incident.calls.items() if name not in answered}
        record = replace(record, incident=replace(record.incident, calls=calls))
        self.records[record.incident.id] = record
        return record

    async def _deliver(self, events: Iterable[str], place: Place) -> None:
        for name in events:
            event = self.events.get(name)
            if event is not None:
                await self._registry.ledger.delivered(event, place)
                self.give_up(name, place.incident)

    async def _insist(self, write: Callable[[], Awaitable[object]]) -> None:
        """Slack has shown it: nothing but writing it down may follow, however long the registry is away.

        Raises LeaseLost: another bot may know more by now, and must not find it overwritten by what we knew.
        """
        wait = 0.1
        while True:
            if not self._may_write():
                raise LeaseLost("the right to announce passed to another bot before this was written down")
            try:
                await write()
                return
            except RegistryError as away:
                logger.warning("Shown, but not written down yet: %s", away)
            await asyncio.sleep(wait)
            wait = min(5.0, wait * 2)
