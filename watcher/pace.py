"""How much of a core all runs of one watcher take together to catch up with long logs: the job needs the rest."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

HASTE_SECONDS = 10.0
"""So much CPU time a watcher may take at full speed after its start: the first answer shall come soon."""
SAVED_SECONDS = 0.5
"""So much that was not used may be used later."""
LONGEST_SECONDS = 5.0
"""So long one turn waits at most: where something else takes the share already, catching up goes on slowly."""


class Pace:
    """One turn at a time, each when the share of this process allows it."""

    def __init__(
        self,
        share: float,
        *,
        spent: Callable[[], float] = time.process_time,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._share = share
        self._spent, self._clock, self._sleep = spent, clock, sleep
        self._counted, self._counted_at = 0.0, clock()
        self._left = HASTE_SECONDS
        self._turn = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self, *, is_behind: bool) -> AsyncIterator[None]:
        """Read on: at once by who keeps up, one after the other and not too fast by those who are behind."""
        if not is_behind:
            yield
            return
        async with self._turn:
            self._count()
            if self._left < 0:
                await self._sleep(min(-self._left / self._share, LONGEST_SECONDS))
            yield

    def _count(self) -> None:
        """What everything in this process took since the last turn is taken from what was left."""
        spent, now = self._spent(), self._clock()
        earned = self._share * (now - self._counted_at)
        left = min(self._left + earned, max(self._left, SAVED_SECONDS)) - (spent - self._counted)
        self._left = max(left, -LONGEST_SECONDS * self._share)
        self._counted, self._counted_at = spent, now
