"""Calls that may hang in the kernel, made in a thread that can be left behind.

A read on a dead network mount cannot be interrupted, not even by SIGKILL. So the caller waits only as long
as it wants to, leaves the thread where it is, and goes on with a new one.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")
_Job = tuple[Callable[[], Any], asyncio.Future[Any], asyncio.AbstractEventLoop]

MOST_LEFT_BEHIND = 4
"""So many threads may be stuck at once; then calls are refused until one of them comes back."""


class NoAnswer(Exception):
    """The call did not come back in time; its thread was left behind."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} does not answer ({seconds:.0f} s)")
        self.what = what
        self.seconds = seconds


class Worker:
    """One thread for one kind of blocking call, replaced when it gets stuck."""

    def __init__(self, name: str, first: Callable[[], None] | None = None) -> None:
        self._name = name
        self._first = first
        """Done by each thread before its first call."""
        self._thread: _Thread | None = None
        self._left_behind: list[_Thread] = []

    @property
    def stuck(self) -> int:
        """How many threads did not come back yet."""
        self._left_behind = [thread for thread in self._left_behind if thread.is_alive()]
        return len(self._left_behind)

    async def call(self, function: Callable[[], _T], *, what: str, seconds: float) -> _T:
        """What `function` returns or raises.

        Raises:
            NoAnswer: it took longer than `seconds`; whatever it was working on must not be used again by others.
        """
        if self.stuck >= MOST_LEFT_BEHIND:
            raise NoAnswer(what, seconds)
        if self._thread is None:
            self._thread = _Thread(self._name, self._first)
        thread = self._thread
        future = thread.submit(function)
        done, _ = await asyncio.wait({future}, timeout=seconds)
        if done:
            return future.result()
        if self._thread is thread:
            thread.leave()
            self._left_behind.append(thread)
            self._thread = None
        raise NoAnswer(what, seconds)

    def close(self) -> None:
        """Let the thread end when it is idle; never wait for it."""
        if self._thread is not None:
            self._thread.leave()
            self._thread = None


class _Thread:
    def __init__(self, name: str, first: Callable[[], None] | None) -> None:
        self._first = first
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        # A daemon: the process must be able to end while a thread is stuck in the kernel.
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[], _T]) -> asyncio.Future[_T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        self._jobs.put((function, future, loop))
        return future

    def leave(self) -> None:
        self._jobs.put(None)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _work(self) -> None:
        if self._first is not None:
            self._first()
        while (job := self._jobs.get()) is not None:
            function, future, loop = job
            try:
                outcome: Any = function()
                error: BaseException | None = None
            except BaseException as raised:  # handed to the caller, who knows what it means
                outcome, error = None, raised
            try:
                loop.call_soon_threadsafe(_settle, future, outcome, error)
            except RuntimeError:  # the loop was closed meanwhile
                return
            del job, function, future, outcome, error


def _settle(future: asyncio.Future[Any], outcome: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(outcome)
