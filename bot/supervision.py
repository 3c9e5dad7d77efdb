"""Keeps the parts of the process at work: a part that fails is begun anew; one that cannot be kept up ends it all.

A bot that answers and no longer announces is worse than none: the service manager restarts a process that
ended, and nobody restarts half of one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from registry.ending import end_all
from registry.errors import RegistryError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a failing part is begun anew before the process gives up."""

    waits_seconds: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 10.0)
    """Before each new beginning; the last one repeats."""
    most_failures: int = 6
    """So many failures within the window are no accident."""
    within_seconds: float = 300.0
    stable_seconds: float = 15.0
    """A part that worked for so long after a failure is well again."""


class GaveUp(Exception):
    """A part failed again and again; the process should end, so that it is started afresh."""


@dataclass(slots=True)
class _Part:
    task: asyncio.Task[None] | None = None
    failures: deque[float] = field(default_factory=deque)
    in_a_row: int = 0
    began_at: float = 0.0
    trouble: str = ""


class Supervisor:
    """Runs named parts until they end by themselves; never lets one die unnoticed."""

    def __init__(self, patience: Patience = Patience()) -> None:
        self._patience = patience
        self._parts: dict[str, _Part] = {}
        self._gave_up = asyncio.Event()
        self._reason = ""

    def keep(self, name: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Keep this part at work from now on; the task ends when the part does, or was given up."""
        part = self._parts[name] = _Part()
        part.task = asyncio.create_task(self._keep(name, part, work), name=name)
        return part.task

    @property
    def troubles(self) -> Mapping[str, str]:
        """Part → what went wrong with it lately; empty: all is well."""
        now = asyncio.get_running_loop().time()
        return {name: part.trouble for name, part in self._parts.items() if self._is_unwell(part, now)}

    async def until_given_up(self) -> None:
        """Wait for as long as every part can be kept up.

        Raises:
            GaveUp: One could not.
        """
        await self._gave_up.wait()
        raise GaveUp(self._reason)

    async def end(self) -> None:
        """Stop every part, wherever it is."""
        await end_all(part.task for part in self._parts.values() if part.task is not None)

    async def _keep(self, name: str, part: _Part, work: Callable[[], Awaitable[None]]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            part.began_at = loop.time()
            try:
                await work()
            except asyncio.CancelledError:
                if _is_wanted_end():
                    raise
                logger.exception("%s was cancelled by nobody", name)
                part.trouble = "something it waited for was cancelled"
            except RegistryError as away:
                # Waiting for Redis is no failure of ours, however long it takes.
                logger.warning("%s: the registry does not answer: %s", name, away)
                part.trouble = f"the registry does not answer: {away}"
                await asyncio.sleep(self._patience.waits_seconds[0])
                continue
            except Exception as failure:
                logger.exception("%s failed", name)
                part.trouble = f"{type(failure).__name__}: {failure}"
            else:
                part.trouble = ""
                return
            if self._is_hopeless(part, loop.time()):
                self._reason = f"{name} failed {len(part.failures)} times, last with {part.trouble}"
                self._gave_up.set()
                return
            waits = self._patience.waits_seconds
            await asyncio.sleep(waits[min(part.in_a_row, len(waits)) - 1])

    def _is_hopeless(self, part: _Part, now: float) -> bool:
        """Note one more failure; true when there were too many lately."""
        part.in_a_row = 1 if now - part.began_at > self._patience.stable_seconds else part.in_a_row + 1
        part.failures.append(now)
        while now - part.failures[0] > self._patience.within_seconds:
            part.failures.popleft()
        return len(part.failures) >= self._patience.most_failures

    def _is_unwell(self, part: _Part, now: float) -> bool:
        if not part.trouble:
            return False
        is_at_work = part.task is not None and not part.task.done() and part.began_at > 0
        if is_at_work and now - part.began_at > self._patience.stable_seconds:
            part.trouble, part.in_a_row = "", 0
            return False
        return True


def _is_wanted_end() -> bool:
    """Whether this very task was asked to end, and not only something that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
