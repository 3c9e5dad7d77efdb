"""Finds a finding that was told inside a thread, for a bot that knows nothing of that thread any more.

Only a Redis that lost its data leads here: the incident is forgotten, and what was a reply would become a root. A
thread is read again only when somebody has written in it since.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.slack import Slack, Thread
from bot.slack_answers import Answer, Outcome
from registry.clock import RegistryClock

DAY_SECONDS = 86_400.0
"""How old a thread's root may be."""
CLOCK_SECONDS = 600.0
"""How far Slack's clock and the registry's may be apart."""
KEPT_THREADS = 1000

Place = tuple[str, str]
"""Channel and root."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    answer: Answer
    root: str | None = None
    """The root of the thread that tells it; None, and the answer is well: none does."""


@dataclass(slots=True)
class Threads:
    """One bot's memory of threads."""

    slack: Slack
    clock: RegistryClock
    _active: dict[str, tuple[float, float, Sequence[Thread]]] = field(default_factory=dict)
    """Channel → when it was read, from when on, and its threads."""
    _told: OrderedDict[Place, tuple[str, frozenset[str]]] = field(default_factory=OrderedDict)
    """Thread → its newest reply when it was read, and the findings told in it."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def holding(self, names: Sequence[str], channel: str, since: float, run: str) -> Found:
        """The thread of this run in which one of these was told after a time."""
        asked = await self.clock.estimate()
        async with self._lock:
            if (answer := await self._list(channel, since, asked)) is not None:
                return Found(answer)
            active = [one for one in self._active[channel][2] if one.run in {"", run}]
            for thread in sorted(active, key=_newest, reverse=True):
                if _newest(thread) < since - CLOCK_SECONDS:
                    break
                answer, told = await self._read(channel, thread)
                if not answer.is_ok:
                    return Found(answer)
                if not told.isdisjoint(names):
                    return Found(answer, thread.root)
        return Found(Answer(Outcome.OK))

    async def _list(self, channel: str, since: float, asked: float) -> Answer | None:
        """Read which threads there are, unless that was read since we asked; an answer: it could not be."""
        at, oldest, _ = self._active.get(channel, (0.0, 0.0, ()))
        if at >= asked and oldest <= since:
            return None
        at = await self.clock.estimate()
        answer, active = await self.slack.threads(channel, since - DAY_SECONDS)
        if not answer.is_ok:
            return answer
        self._active[channel] = (at, since, active)
        return None

    async def _read(self, channel: str, thread: Thread) -> tuple[Answer, frozenset[str]]:
        place = (channel, thread.root)
        known = self._told.get(place)
        if known is not None and known[0] == thread.newest_reply:
            return Answer(Outcome.OK), known[1]
        answer, found = await self.slack.posted(channel, float(thread.root), thread.root)
        if answer.is_ok:
            self._told[place] = (thread.newest_reply, frozenset(found))
            self._told.move_to_end(place)
            while len(self._told) > KEPT_THREADS:
                self._told.popitem(last=False)
        return answer, frozenset(found)


def _newest(thread: Thread) -> float:
    return float(thread.newest_reply)
