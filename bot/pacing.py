"""When a call may go to Slack: about one post a second in each channel, the urgent ones first.

A lane is one thing Slack counts, such as posts in one channel. A 429 closes its lane for as long as Slack said;
every other lane goes on.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

URGENT, NORMAL, PATIENT = 0, 1, 2
"""Criticals; what people wait for; edits and charts."""

MADE_UP_FOR = 0.25
"""The share of an interval by which a turn may come late and the next one not: else a busy machine loses a little each
time, and two hundred posts take half a minute longer than they must."""


@dataclass(slots=True)
class _Lane:
    interval: float
    burst: int
    tokens: float
    filled_at: float
    closed_until: float = 0.0
    waiting: list[tuple[int, int, "asyncio.Future[None]"]] = field(default_factory=list)
    pump: "asyncio.Task[None] | None" = None


class Pacing:
    """Hands out turns; `now` counts seconds and never goes back."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lanes: dict[str, _Lane] = {}
        self._order = itertools.count()

    def place(self) -> int:
        """A place in the queue of any lane, behind all that were given; whoever is refused comes again with its own."""
        return next(self._order)

    async def turn(
        self, lane: str, interval: float, *, burst: int = 1, priority: int = NORMAL, place: int | None = None
    ) -> None:
        """Wait until it is this call's turn in its lane; without a place of its own, behind all that wait."""
        found = self._lane(lane, interval, burst)
        if not found.waiting and self._take(found) <= 0:
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(found.waiting, (priority, self.place() if place is None else place, mine))
        if found.pump is None or found.pump.done():
            found.pump = asyncio.create_task(self._pump(found))
        await mine

    def close(self, lane: str, seconds: float) -> None:
        """Let nothing through this lane for so long; a shorter closing never opens it earlier."""
        found = self._lanes.get(lane)
        if found is not None:
            found.closed_until = max(found.closed_until, self._now() + seconds)

    def is_closed(self, lane: str) -> bool:
        """Whether nothing may go through this lane at the moment."""
        found = self._lanes.get(lane)
        return found is not None and self._now() < found.closed_until

    def waiting(self, lane: str) -> int:
        """How many calls wait in a lane."""
        found = self._lanes.get(lane)
        return sum(not mine.done() for _, _, mine in found.waiting) if found else 0

    def _lane(self, lane: str, interval: float, burst: int) -> _Lane:
        found = self._lanes.get(lane)
        if found is None:
            found = self._lanes[lane] = _Lane(interval, burst, float(burst), self._now())
        return found

    def _take(self, lane: _Lane) -> float:
        """Take a turn, or tell in how many seconds there will be one."""
        now = self._now()
        if now < lane.closed_until:
            return lane.closed_until - now
        if lane.interval <= 0:
            return 0.0
        lane.tokens = min(lane.burst + MADE_UP_FOR, lane.tokens + (now - lane.filled_at) / lane.interval)
        lane.filled_at = now
        # Rounding must not make a whole token look like less than one for ever.
        if lane.tokens >= 1 - 1e-9:
            lane.tokens -= 1
            return 0.0
        return (1 - lane.tokens) * lane.interval

    async def _pump(self, lane: _Lane) -> None:
        """Hand out turns while somebody waits; a failure is theirs, so that nobody waits for ever."""
        try:
            await self._hand_out(lane)
        except Exception as failure:
            for _, _, mine in lane.waiting:
                if not mine.done():
                    mine.set_exception(failure)
            lane.waiting.clear()

    async def _hand_out(self, lane: _Lane) -> None:
        while lane.waiting:
            if lane.waiting[0][2].done():
                heapq.heappop(lane.waiting)
                continue
            left = self._take(lane)
            if left > 0:
                await asyncio.sleep(left)
                continue
            # Whoever is most urgent now has the turn, not whoever was when the waiting began.
            while lane.waiting:
                mine = heapq.heappop(lane.waiting)[2]
                if not mine.done():
                    mine.set_result(None)
                    break
