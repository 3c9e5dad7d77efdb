"""A bot reduced to its promise: the ledger, the lease, and looking before it repeats.

Usage: python -m tests.durability.bot_process URL NAME CHANNEL [without=look|fence|wakefulness|patience|order …]
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from registry import Event, Lease, Place, Registry, RegistryError, StreamId, connect
from tests.durability.channel import LATE_SECONDS, ask

POST_SECONDS = 0.6
LEASE_SECONDS = 3.0


class Bot:
    """One life of one bot."""

    def __init__(self, registry: Registry, name: str, channel: Path, without: set[str]) -> None:
        self._registry = registry
        self._name = name
        self._channel = channel
        self._without = without
        self._lease: Lease = registry.lease("announcer", LEASE_SECONDS)

    async def run(self) -> None:
        """Live until killed."""
        keeper = asyncio.create_task(self._lease.keep())
        while not keeper.done():
            try:
                told = await self._round() if self._may_act() else 0
            except RegistryError:
                if "patience" in self._without:
                    raise
                await asyncio.sleep(0.1)
                continue
            if not told:
                await self._registry.events.wait(0.2)

    def _may_act(self) -> bool:
        return self._lease.is_held or "fence" in self._without

    async def _round(self) -> int:
        streams: list[StreamId] = await self._registry.events.streams()
        settled = await self._registry.ledger.settled_all(streams)
        events = await self._registry.events.read(settled, count=20)
        # As the product tells its incidents: side by side, and each watcher's one after the other.
        lines: defaultdict[StreamId | str, list[Event]] = defaultdict(list)
        for event in events:
            lines[event.id if "order" in self._without else event.stream].append(event)
        for problem in await asyncio.gather(*map(self._tell, lines.values()), return_exceptions=True):
            if problem is not None:
                raise problem
        return len(events)

    async def _tell(self, line: Sequence[Event]) -> None:
        for event in line:
            if not await self._is_told(event):
                return

    async def _is_told(self, event: Event) -> bool:
        entry = await self._registry.ledger.state(event)
        if entry.is_settled:
            await self._registry.ledger.advance(event.stream)
            return True
        is_doubtful = event.is_resent
        if entry.intent is not None:
            # A post of a bot that died may still be under way: it is looked for when it must have arrived.
            age = await self._registry.clock.estimate() - entry.intent.at
            await asyncio.sleep(max(0.0, POST_SECONDS + LATE_SECONDS - age))
            is_doubtful = True
        while self._may_act():
            if is_doubtful and (ts := await self._look(event)) is not None:
                break
            await self._registry.ledger.intent(event, "C1", self._name)
            if "wakefulness" in self._without:
                # The failpoint: asleep between the decision to post and the fence, until somebody wakes us.
                self._without.discard("wakefulness")
                os.kill(os.getpid(), signal.SIGSTOP)
            if not ("fence" in self._without or await self._lease.confirm(POST_SECONDS)):
                return False
            answer = await ask(self._channel, {"do": "post", "name": event.key}, POST_SECONDS)
            if answer is not None and answer["ok"]:
                ts = answer["ts"]
                break
            if answer is None or not answer["clear"]:
                await asyncio.sleep(LATE_SECONDS)
                is_doubtful = True
        else:
            return False
        await self._insist(event, Place("C1", ts))
        return True

    async def _look(self, event: Event) -> str | None:
        if "look" in self._without:
            return None
        while True:
            answer = await ask(self._channel, {"do": "look", "names": [event.key]}, POST_SECONDS)
            if answer is not None:
                return str(answer["found"][0]) if answer["found"] else None

    async def _insist(self, event: Event, place: Place) -> None:
        while True:
            with contextlib.suppress(RegistryError):
                await self._registry.ledger.delivered(event, place)
                return
            await asyncio.sleep(0.05)


async def main(url: str, name: str, channel: Path, without: set[str]) -> None:
    """Live until killed."""
    await Bot(connect(url, name, call_seconds=1), name, channel, without).run()


if __name__ == "__main__":
    where, who, place, *less = sys.argv[1:]
    asyncio.run(main(where, who, Path(place), {part.removeprefix("without=") for part in less}))
