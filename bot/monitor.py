"""Follows what the watchers publish, judges what only the whole run can know, and drives tracker and announcer.

One bot at a time does this: the holder of the lease. Each reign begins with what earlier bots had shown, and with
the findings that were intended and not confirmed: those come first, so that they meet their own thread again.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from bot import closing
from bot.announcer import Announcer
from bot.follower import Follower
from diagnosis.findings import Cleared, Finding
from diagnosis.incidents import Act, Announcement, Habits, Mute, Noted, Tracker
from handlers.acts import ANNOUNCER
from handlers.mutes import mute_of
from registry import Registry, wire
from registry.ending import end_all
from registry.errors import RegistryError
from registry.keys import StreamId
from registry.lease import Lease
from registry.requests import Request

logger = logging.getLogger(__name__)

OWN_NAME = "bot/monitor"
"""The monitor's own findings stand in a stream of this name, like a watcher's."""
WAIT_SECONDS = 0.5
CHORES_EVERY_SECONDS = 10.0

Chore = Callable[[float], Awaitable[None]]
"""Done now and then by the bot that announces; it takes the time."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A run took a turn that closes its earlier trouble."""

    run: str
    attempt: int
    """The attempt that trains now."""
    has_ended: bool
    text: str
    """One plain sentence."""


class Judge(Protocol):
    """Judges whole runs, each few seconds."""

    @property
    def troubles(self) -> Mapping[str, str]:
        """Run → why it could not be judged."""
        ...

    def begin(self) -> None:
        """A new reign: what was found and not told yet is to be found again."""
        ...

    async def judge(self, now: float, tracker: Tracker) -> Sequence[Finding | Cleared]:
        """What is news about whole runs."""
        ...

    async def turns(self, now: float, tracker: Tracker) -> Sequence[Turn]:
        """Runs that began a new attempt or ended."""
        ...


class Monitor:
    """One bot's part in watching and announcing."""

    def __init__(
        self,
        registry: Registry,
        lease: Lease,
        judge: Judge,
        crown: Callable[[Tracker], Announcer],
        habits: Habits,
        *,
        judge_every_seconds: float = 2.0,
        chores: Sequence[Chore] = (),
        is_able: Callable[[], bool] = lambda: True,
    ) -> None:
        self._registry = registry
        self._lease = lease
        self._judge = judge
        self._crown = crown
        self._habits = habits
        self._judge_every = judge_every_seconds
        self._chores = chores
        self._is_able = is_able
        self._stop = asyncio.Event()
        self._ticked_at: float | None = None
        self.announcer: Announcer | None = None
        self.tracker: Tracker | None = None

    @property
    def silent_seconds(self) -> float:
        """How long ago a reign last went round; 0 while another bot reigns."""
        if self.announcer is None or self._ticked_at is None:
            return 0.0
        return asyncio.get_running_loop().time() - self._ticked_at

    @property
    def troubles(self) -> Mapping[str, str]:
        """What of the monitor's work fails although the rest goes on."""
        return {f"judging {run}": why for run, why in self._judge.troubles.items()}

    @property
    def is_reigning(self) -> bool:
        """Whether this bot announces."""
        return self.announcer is not None

    def stop(self) -> None:
        """Come to an end after what is in hand."""
        self._stop.set()

    async def run(self, grace_seconds: float = 10.0) -> None:
        """Reign whenever the lease is ours, until stopped; whatever fails in any part of a reign rises from here."""
        keeper = asyncio.create_task(self._lease.keep(self._is_able))
        reigning = asyncio.create_task(self._reign_when_ours(grace_seconds))
        try:
            done, _ = await asyncio.wait((keeper, reigning), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await end_all([reigning])
            await end_all([keeper])
            # Whoever takes it next, this bot too, begins with what was shown.
            with suppress(RegistryError, OSError):
                await self._lease.release()

    async def _reign_when_ours(self, grace_seconds: float) -> None:
        while not self._stop.is_set():
            if not self._lease.is_held:
                await self._pause(0.1)
                continue
            try:
                await self._reign(grace_seconds)
            except RegistryError as away:
                logger.warning("The registry does not answer: %s", away)
                await self._pause(0.5)

    async def _reign(self, grace_seconds: float) -> None:
        tracker = Tracker(self._habits)
        announcer = self._crown(tracker)
        follower = Follower(self._registry, tracker, announcer)
        tasks: list[asyncio.Task[None]] = []
        try:
            await follower.begin()
            await follower.look()
            await announcer.restore()
            if not await follower.catch_up():
                logger.warning("Another bot's last words came while this one began; beginning again.")
                return
            self._judge.begin()
            self.tracker, self.announcer = tracker, announcer
            tasks = [
                asyncio.create_task(self._follow(follower)),
                asyncio.create_task(self._tick(tracker, announcer)),
                asyncio.create_task(self._serve_acts(tracker, announcer)),
                asyncio.create_task(self._judge_runs(tracker, announcer)),
                asyncio.create_task(self._do_chores()),
                asyncio.create_task(self._watch_lease(announcer)),
                asyncio.create_task(announcer.until_failed()),
                asyncio.create_task(self._until_stopped()),
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self.tracker = self.announcer = None
            await end_all(tasks)
            await announcer.stop(grace_seconds if self._stop.is_set() else 0.0)

    async def _follow(self, follower: Follower) -> None:
        while True:
            try:
                if await follower.may_have_forgotten():
                    logger.warning("Redis was started anew or replaced; beginning again with what it knows.")
                    return
                is_more = await follower.read()
            except RegistryError as away:
                logger.warning("Cannot read findings: %s", away)
                await asyncio.sleep(0.5)
                continue
            if not is_more:
                with suppress(RegistryError):
                    await self._registry.events.wait(WAIT_SECONDS)

    async def _tick(self, tracker: Tracker, announcer: Announcer) -> None:
        while True:
            self._ticked_at = asyncio.get_running_loop().time()
            with suppress(RegistryError):
                now = await self._registry.clock.estimate()
                said = tracker.set_mutes(await self._mutes_for(tracker, now), now) + tracker.tick(now, announcer.unsaid)
                await announcer.take(said)
                announcer.tidy()
            await asyncio.sleep(0.5)

    async def _mutes_for(self, tracker: Tracker, now: float) -> list[Mute]:
        """The mutes that hold; those of an incident end with it."""
        holding = []
        for name, fields in (await self._registry.mutes.active(now)).items():
            mute = mute_of(fields)
            about = tracker.get(mute.incident) if mute is not None and mute.incident else None
            if mute is not None and mute.incident and (about is None or not about.is_open):
                await self._registry.mutes.remove(name)
            elif mute is not None:
                holding.append(mute)
        return holding

    async def _serve_acts(self, tracker: Tracker, announcer: Announcer) -> None:
        while True:
            try:
                for request in await self._registry.requests.next(ANNOUNCER, 2.0):
                    await self._act(request, tracker, announcer)
            except RegistryError as away:
                logger.warning("Cannot read what people ask: %s", away)
                await asyncio.sleep(1.0)

    async def _act(self, request: Request, tracker: Tracker, announcer: Announcer) -> None:
        name, by = str(request.payload.get("incident", "")), str(request.payload.get("by", ""))
        said: list[Announcement | Noted] = []
        if by:
            text, is_read = str(request.payload.get("text", "")), bool(request.payload.get("is_read"))
            act, now = Act(request.kind, by, text, is_read), await self._registry.clock.estimate()
            if tracker.get(name) is None:
                await announcer.recall(name)
            said = tracker.act(name, act, now)
            await announcer.take(said)
        after = tracker.get(name)
        if said and after is not None:
            await announcer.remember(after)
        body = {
            "done": bool(said),
            "owner": after.acknowledged_by if after else "",
            "state": after.state if after else "",
        }
        await self._registry.requests.answer(request, body)

    async def _judge_runs(self, tracker: Tracker, announcer: Announcer) -> None:
        own = StreamId(OWN_NAME, secrets.token_hex(6))
        number, unpublished = 0, list[tuple[int, str, bytes]]()
        looked_at = 0.0
        while True:
            try:
                now = await self._registry.clock.estimate()
                for verdict in await self._judge.judge(now, tracker):
                    number += 1
                    key = verdict.key if isinstance(verdict, Finding) else ""
                    unpublished.append((number, key, wire.encode(verdict)))
                if unpublished:
                    await self._registry.events.register(own)
                    await self._registry.events.publish_all(own, unpublished)
                    unpublished.clear()
                for turn in await self._judge.turns(now, tracker):
                    said = tracker.restarted(turn.run, turn.attempt, turn.text, now)
                    if turn.has_ended:
                        said = tracker.ended(turn.run, turn.text, now)
                    await announcer.take(said)
                if now - looked_at >= closing.EVERY_SECONDS:
                    after = self._habits.close_after_end_seconds
                    await announcer.take(await closing.close_what_ended(self._registry, tracker, after, now))
                    looked_at = now
            except RegistryError as away:
                logger.warning("Cannot judge whole runs: %s", away)
            await asyncio.sleep(self._judge_every)

    async def _do_chores(self) -> None:
        """What the one that announces does beside incidents; none of it may end a reign."""
        while True:
            await asyncio.sleep(CHORES_EVERY_SECONDS)
            for chore in self._chores:
                try:
                    await chore(await self._registry.clock.estimate())
                except RegistryError as away:
                    logger.warning("A chore waits for the registry: %s", away)
                except Exception:
                    logger.exception("A chore failed; it is tried again")

    async def _watch_lease(self, announcer: Announcer) -> None:
        while self._lease.is_held and not announcer.lost.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(announcer.lost.wait(), 0.2)
        logger.warning("Another bot announces now, or the registry cannot say that this one may.")

    async def _until_stopped(self) -> None:
        await self._stop.wait()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)
