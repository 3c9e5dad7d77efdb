"""Reads the streams of findings in order, once each, and hands them to tracker and announcer."""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress

from bot.announcer import Announcer
from diagnosis.incidents import Tracker
from registry import Registry, wire
from registry.errors import RegistryAway, RegistryError
from registry.events import Event
from registry.keys import StreamId
from registry.ledger import Intent

logger = logging.getLogger(__name__)

MOST_TRIES = 5
"""A finding that ended the bot so often when it was read goes to the dead letters."""
STREAMS_EVERY_SECONDS = 1.0
PAGE = 200


class Follower:
    """Reads every stream in order, once."""

    def __init__(self, registry: Registry, tracker: Tracker, announcer: Announcer) -> None:
        self._registry = registry
        self._tracker = tracker
        self._announcer = announcer
        self._positions: dict[StreamId, int] = {}
        self._waiting: list[tuple[Event, Intent | None]] = []
        self._streams_read_at = float("-inf")
        self._changes = -1
        self._doubtful_before = 0.0

    async def begin(self) -> None:
        """Comes before anything is read: from here on it is noticed when Redis may have forgotten what was."""
        self._registry.ledger.begin_anew()
        changes = self._registry.events.changes
        streams = await self._registry.events.streams()
        try:
            self._doubtful_before = await self._registry.events.doubtful_before(streams)
        except RegistryAway:
            # One of several servers is away; what the others hold is read meanwhile, and when it is back we begin anew.
            self._changes, self._doubtful_before = -1, 0.0
        else:
            self._changes = changes

    async def may_have_forgotten(self) -> bool:
        """Whether a server was started anew or replaced since we began.

        Then incidents may be gone whose findings we would call settled, and nobody who comes after us would know them.
        """
        changes = self._registry.events.changes
        if changes == self._changes:
            return False
        try:
            before = await self._registry.events.doubtful_before(self._positions)
        except RegistryAway:
            return False  # asked again before the next look; what the other servers hold is read meanwhile
        if before > self._doubtful_before:
            return True
        self._changes = changes
        return False

    async def look(self) -> None:
        """See what is not settled; before the incidents are read, so that none is missing whose finding is settled."""
        waiting = self._waiting
        await self._find_streams()
        while events := await self._registry.events.read(self._positions, PAGE):
            for event, entry in zip(events, await self._registry.ledger.states(events), strict=True):
                self._positions[event.stream] = event.number
                if not entry.is_settled:
                    waiting.append((event, entry.intent))

    async def catch_up(self) -> bool:
        """Take what was not settled; what was intended comes first, so that it finds its own thread again.

        False: something was settled since we looked, by a bot whose last writing came late. What follows from it would
        meet nobody who knows its incident, so everything is to be read again.
        """
        waiting, self._waiting = self._waiting, []
        for event in in_order(waiting):
            if not await self._handle(event):
                return False
        return True

    async def read(self) -> bool:
        """Take what is new; returns whether there may be more at once."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._streams_read_at >= STREAMS_EVERY_SECONDS:
            await self._find_streams()
        events = await self._registry.events.read(self._positions, PAGE)
        for event in events:
            await self._handle(event)
            self._positions[event.stream] = event.number
        return bool(events)

    async def _find_streams(self) -> None:
        self._streams_read_at = asyncio.get_running_loop().time()
        fresh = [stream for stream in await self._registry.events.streams() if stream not in self._positions]
        if not fresh:
            return
        # Those whose server is away are left out and asked for again; they hold up no other.
        self._positions |= await self._registry.ledger.settled_all(fresh, raising=False)
        if not self._positions:
            raise RegistryAway("no server answers that holds findings")

    async def _handle(self, event: Event) -> bool:
        """Take one; False: it is settled already."""
        entry = await self._registry.ledger.begin(event)
        if entry.is_settled:
            return False
        if entry.tries > MOST_TRIES and entry.intent is None:
            await self._registry.ledger.bury(event, f"{entry.tries} handlings began and none came to an end")
            return True
        try:
            verdict = event.verdict
        except wire.Unreadable as unreadable:
            logger.warning("A finding cannot be read and goes to the dead letters: %s: %s", event.id, unreadable)
            await self._registry.ledger.bury(event, f"unreadable: {unreadable}")
            return True
        now = await self._registry.clock.estimate()
        await self._announcer.take(self._tracker.receive(event.id, verdict, now), event)
        if entry.tries > 1:
            # Told in its turn, by a later bot if this one is killed before: only who ends us by being read is counted.
            with suppress(RegistryError):
                await self._registry.ledger.survived(event)
        return True


def in_order(waiting: Sequence[tuple[Event, Intent | None]]) -> list[Event]:
    """What was intended first goes first, and takes along what its own stream said before it.

    That something is over and that it is back are two findings of one stream: the other way round they would be one.
    """
    queues: defaultdict[StreamId, deque[Event]] = defaultdict(deque)
    for event, _ in waiting:
        queues[event.stream].append(event)
    intended = sorted((item for item in waiting if item[1] is not None), key=lambda item: item[1].at if item[1] else 0)
    ordered: list[Event] = []
    for event, _ in [*intended, *waiting]:
        queue = queues[event.stream]
        while queue and queue[0].number <= event.number:
            ordered.append(queue.popleft())
    return ordered
