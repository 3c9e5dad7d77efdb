"""From the spool into Redis, for as long as it takes, and again if Redis loses it.

`accept` is the one call for whoever found something: onto the disk if that takes it, else into memory, and then on
its way. The loop compares what the stream has with what the spool holds, sends what is missing in order, and drops
what the ledger calls settled.
"""

import asyncio
import contextlib
import logging
import random
import time
from dataclasses import dataclass, field

from diagnosis.findings import Cleared, Finding
from registry import Forgotten, RegistryAway, RegistryError, StreamId
from registry.registry import Registry
from watcher.memory_spool import MemorySpool
from watcher.records import Record
from watcher.spool import Spool, SpoolFull

IDLE_SECONDS = 1.0
"""How often settled findings are looked for while some are under way."""
CHECK_SECONDS = 10.0
"""How often the stream is compared with the spool when nothing else asks for it."""
BATCH = 100
LONGEST_PAUSE = 5.0
_HIGHEST_NUMBER = 1 << 62

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Way:
    """One spool and what we know of its stream."""

    spool: Spool | MemorySpool
    sent: int = 0
    """The highest number we know to be in the stream."""
    was_sent: int = 0
    """The highest number that was ever sent in this life; at the start, everything that lay in the spool."""
    checked_at: float = field(default=float("-inf"))


class Publisher:
    """Publishes what one watcher accepts."""

    def __init__(self, registry: Registry, watcher: str, spool: Spool | None) -> None:
        self.watcher = watcher
        self.problem: str | None = None
        """Why nothing gets through at the moment, in words; None: it does."""
        self.unspooled = 0
        """Findings that went into memory because the disk did not take them."""
        self._registry = registry
        self._memory = MemorySpool()
        self._disk = spool
        self._ways = [_Way(one, was_sent=one.last_number) for one in (spool, self._memory) if one is not None]
        self._news = asyncio.Event()

    def accept(self, verdict: Finding | Cleared) -> bool:
        """Accept a finding; True: it is on the disk, so the bookmark may move past it."""
        self._news.set()
        if self._memory.knows(verdict):
            return not self.holds_bookmark
        try:
            if self._disk is None:
                raise SpoolFull("there is no spool")  # noqa: TRY301 - one way for both
            self._disk.accept(verdict)
        except SpoolFull as problem:
            self.unspooled += 1
            self._memory.accept(verdict)
            logger.warning("not spooled, sent straight on: %s", problem)
            return False
        return True

    @property
    def holds_bookmark(self) -> bool:
        """True while a finding waits in memory only: its line must be read again if we are killed now."""
        return bool(self._memory.pending())

    def adopt(self, spool: Spool) -> None:
        """Use a spool that could not be opened at the start."""
        self._disk = spool
        self._ways.insert(0, _Way(spool, was_sent=spool.last_number))
        self._news.set()

    @property
    def pending(self) -> int:
        """Return how many accepted findings are not known to be settled."""
        return sum(len(way.spool.pending()) for way in self._ways)

    async def run(self) -> None:
        """Publish until cancelled."""
        failures = 0
        while True:
            self._news.clear()
            try:
                for way in self._ways:
                    await self._round(way)
                failures, self.problem = 0, None
                await self._pause(IDLE_SECONDS if self.pending else CHECK_SECONDS)
            except (RegistryError, OSError) as problem:
                failures += 1
                self.problem = str(problem)
                for way in self._ways:
                    way.checked_at = float("-inf")
                if not isinstance(problem, RegistryAway):
                    logger.warning("findings wait in the spool: %s", problem)
                longest = min(LONGEST_PAUSE, 0.1 * 2 ** min(failures, 10))
                # Many nodes lose one Redis at the same moment; they must not come back at the same moment.
                await asyncio.sleep(random.uniform(0.05, longest))  # noqa: S311

    async def flush(self, seconds: float) -> bool:
        """Publish what is accepted now, for at most so many seconds; True: all of it is in Redis."""
        with contextlib.suppress(TimeoutError, RegistryError):
            async with asyncio.timeout(seconds):
                for way in self._ways:
                    await self._round(way)
                return True
        return False

    async def _round(self, way: _Way) -> None:
        if not way.spool.epoch or not way.spool.last_number:
            return
        if time.monotonic() - way.checked_at >= CHECK_SECONDS:
            await self._compare(way)
        await self._send(way)
        await self._drop_settled(way)

    async def _compare(self, way: _Way) -> None:
        """Find out what the stream has; what Redis lost is sent again from here on."""
        spool = way.spool
        stream = StreamId(self.watcher, spool.epoch)
        await self._registry.events.register(stream)
        last = await self._registry.events.last_number(self.watcher, spool.epoch)
        if last < way.was_sent or not way.sent:
            # What was settled before the loss must not count as new for whoever reads the stream now.
            await self._registry.ledger.raise_floor(stream, spool.delivered)
        if last > _HIGHEST_NUMBER:
            spool.renew_epoch()
            way.sent, way.checked_at = 0, float("-inf")
            raise RegistryAway("somebody put the highest number into our stream; going on in a new one")
        way.sent = last
        if suspects := [record for record in spool.pending() if record.number <= last]:
            await self._replace_missing(way, stream, suspects, last)
        way.checked_at = time.monotonic()

    async def _replace_missing(
        self, way: _Way, stream: StreamId, suspects: list[Record], last: int, *, is_ours: bool = True
    ) -> None:
        """Give new numbers to findings whose numbers are taken in the stream but not by them.

        What is settled leaves the stream, so that is asked second: asked first, a finding that is settled and
        trimmed in between would look lost. It says nothing unless the stream `is_ours`.
        """
        there = await self._registry.events.keys(stream, suspects[0].number, suspects[-1].number)
        settled = await self._registry.ledger.settled(stream) if is_ours else 0
        missing = [record for record in suspects if record.number > settled and there.get(record.number) != record.key]
        if not missing:
            return
        logger.warning("%d findings are gone from the stream; sending them again", len(missing))
        try:
            renewed = way.spool.renumber(missing, above=last)
        except SpoolFull:
            return
        way.was_sent = max(way.was_sent, renewed[-1].number)

    async def _send(self, way: _Way) -> None:
        stream = StreamId(self.watcher, way.spool.epoch)
        while records := way.spool.pending(after=way.sent)[:BATCH]:
            # What may have been published before is marked: whoever announces it looks into the channel first.
            again = [record for record in records if record.number <= way.was_sent]
            fresh = records[len(again) :]
            batch = again or fresh
            try:
                new = await self._registry.events.publish_all(
                    stream,
                    [(record.number, record.key, record.body) for record in batch],
                    resent=bool(again),
                    after=way.sent,
                )
            except Forgotten:
                await self._compare(way)
                continue
            if new < len(batch) and not again:
                await self._settle_who_took_them(way, stream, batch)
                continue
            way.sent = batch[-1].number
            way.was_sent = max(way.was_sent, way.sent)

    async def _settle_who_took_them(self, way: _Way, stream: StreamId, batch: list[Record]) -> None:
        """Numbers that we never sent are taken: by an unanswered try of ours, or by somebody with our login."""
        way.was_sent = max(way.was_sent, batch[-1].number)
        last = await self._registry.events.last_number(self.watcher, way.spool.epoch)
        if last > _HIGHEST_NUMBER:
            await self._compare(way)
        # What somebody else settled under our numbers says nothing of ours.
        await self._replace_missing(way, stream, batch, last, is_ours=False)
        way.sent = max(way.sent, batch[-1].number)

    async def _drop_settled(self, way: _Way) -> None:
        if way.spool.pending():
            settled = await self._registry.ledger.settled(StreamId(self.watcher, way.spool.epoch))
            way.spool.drop_delivered(min(settled, way.sent))

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
