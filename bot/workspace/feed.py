"""What changed, for the page that watches live and for tests that wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from bot.workspace.values import Json

Found = TypeVar("Found")

_POLL_SECONDS = 0.05
_QUEUE_LIMIT = 5_000


class Feed:
    """Changes go to every listening page and wake everyone who waits."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[Json | None]] = set()
        self._changed = asyncio.Event()

    def tell(self, kind: str, **what: object) -> None:
        """Something changed."""
        change: Json = {"type": kind, **what}
        for queue in tuple(self._queues):
            if queue.qsize() >= _QUEUE_LIMIT:
                # A page that does not read loses its stream and loads afresh; it never fills our memory.
                self._queues.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(change)
        self.wake()

    def wake(self) -> None:
        """Something a test may wait for happened, though the page need not know."""
        self._changed.set()

    def listen(self) -> asyncio.Queue[Json | None]:
        """A queue of changes from now on; `None` ends it."""
        queue: asyncio.Queue[Json | None] = asyncio.Queue()
        self._queues.add(queue)
        return queue

    def forget(self, queue: asyncio.Queue[Json | None]) -> None:
        """Stop filling this queue."""
        self._queues.discard(queue)

    def end(self) -> None:
        """The workspace goes: end every stream."""
        for queue in self._queues:
            queue.put_nowait(None)
        self._queues.clear()

    async def until(self, predicate: Callable[[], Found], timeout: float) -> Found:  # noqa: ASYNC109 - a predicate, not a coroutine, is limited
        """What `predicate` returns as soon as that is true.

        Raises:
            TimeoutError: It was not true in time.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while True:
            self._changed.clear()
            found = predicate()
            if found:
                return found
            left = deadline - loop.time()
            if left <= 0:
                raise TimeoutError(f"not within {timeout:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(left, _POLL_SECONDS))
