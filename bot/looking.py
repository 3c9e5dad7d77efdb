"""Reads a channel or thread for what was posted there; many who look at once share one reading.

A storm with bad answers makes everybody look, and Slack lets a channel be read only some fifty times a minute.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.slack import Slack
from bot.slack_answers import Answer
from bot.threads import Threads
from registry.clock import RegistryClock

UNKNOWN_CLOCK_SECONDS = 600.0
"""How much further back is read while it is not known how far Slack's clock and the registry's differ."""
KNOWN_CLOCK_SECONDS = 30.0
OVERLAP_SECONDS = 30.0
"""A look goes on where the one before it began, and so much earlier: what Slack took last may show late."""
KEPT_PLACES = 64
KEPT_NAMES = 20_000
"""A channel with more than this in memory is read from its beginning again."""

Place = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Sight:
    """What one reading showed."""

    answer: Answer
    found: Mapping[str, str]
    """Finding id or key → ts."""
    at: float
    """When it began, on the registry's clock: what was posted before is in it."""
    since: float


@dataclass(slots=True)
class Looking:
    """One bot's eyes."""

    slack: Slack
    clock: RegistryClock
    threads: Threads = field(init=False)
    _sights: OrderedDict[Place, Sight] = field(default_factory=OrderedDict)
    _failures: OrderedDict[Place, Sight] = field(default_factory=OrderedDict)
    _locks: dict[Place, asyncio.Lock] = field(default_factory=dict)
    _ahead: float | None = None

    def __post_init__(self) -> None:
        """Threads are read through the same door."""
        self.threads = Threads(self.slack, self.clock)

    def learn_clock(self, ts: str, now: float) -> None:
        """A message of ours was given this timestamp now: so much is Slack's clock ahead of the registry's."""
        self._ahead = float(ts) - now

    async def look(self, channel: str, thread_ts: str | None, since: float) -> Sight:
        """What stands there; the reading began after this was asked."""
        place, asked = (channel, thread_ts), await self.clock.estimate()
        lock = self._locks.setdefault(place, asyncio.Lock())
        async with lock:
            failed = self._failures.get(place)
            if failed is not None and failed.at >= asked:
                # One by one, each of those who wait would find out for itself that nobody can read here.
                return failed
            sight = self._sights.get(place)
            if sight is None or sight.at < asked or sight.since > since:
                sight = await self._read(place, since)
            for old in _keep(self._sights if sight.answer.is_ok else self._failures, place, sight):
                if old not in self._sights and old not in self._failures:
                    self._locks.pop(old, None)
        return sight

    async def _read(self, place: Place, since: float) -> Sight:
        channel, thread_ts = place
        at, before = await self.clock.estimate(), self._sights.get(place)
        margin = UNKNOWN_CLOCK_SECONDS if self._ahead is None else KNOWN_CLOCK_SECONDS - self._ahead
        if before is not None and before.since <= since and len(before.found) < KEPT_NAMES:
            # What stood there then is known. A long channel takes many pages, and Slack gives fifty a minute.
            answer, found = await self.slack.posted(channel, before.at - OVERLAP_SECONDS - margin, thread_ts)
            return Sight(answer, {**before.found, **found}, at, before.since)
        # One reading serves everybody who waits, so it goes back as far as the one before it.
        earliest = min(since, before.since) if before is not None and since - before.since < 60 else since
        answer, found = await self.slack.posted(channel, earliest - margin, thread_ts)
        return Sight(answer, found, at, earliest)


def _keep(kept: OrderedDict[Place, Sight], place: Place, sight: Sight) -> list[Place]:
    """Keep the newest of each place, and return the places that were forgotten for it."""
    kept[place] = sight
    kept.move_to_end(place)
    return [kept.popitem(last=False)[0] for _ in range(len(kept) - KEPT_PLACES)]
