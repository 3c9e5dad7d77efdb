"""Real processes, killed at random while findings flow: nothing lost, nothing twice.

The full count of the promise:
    python -m tests.durability.harness --alerts 3000 --bot-kills 200 --redis-kills 40 --watcher-kills 40 --faults 0.25
A negative control takes a protection away: --without look.
"""

import argparse
import asyncio
import contextlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from registry.access import Role
from registry.ending import end_all
from tests.durability.channel import Channel
from tests.durability.machine import Machine
from tests.durability.stores import STORES, Single, Store
from tests.registry.values import finding

BLACKOUT_SECONDS = 2.5
REST_SECONDS = 1.5
"""So long nothing more may come after everything was told."""


@dataclass(frozen=True)
class Plan:
    """How much, and what may be harmed how often."""

    alerts: int = 80
    watchers: int = 2
    bots: int = 1
    bot_kills: int = 4
    redis_kills: int = 2
    watcher_kills: int = 2
    redis_pauses: int = 0
    flushes: int = 0
    listen_seconds: float = 0.0
    """How long, after a restart of Redis, harm waits for something to be told."""
    power_cuts: int = 0
    """Times that the machine of a watcher loses its power; needs root."""
    faults: float = 0.25
    post_seconds: float = 0.0
    """How long the channel takes for each post; else a quick machine tells everything before the harm comes."""
    store: str = "one"
    """What Redis is made of: see `stores.py`."""
    posts_first: int = 0
    """No harm before so many findings were told."""
    seed: int = 1
    per_second: float = 60.0
    limit_seconds: float = 100.0
    without: Sequence[str] = ()


@dataclass
class Outcome:
    """What came of it."""

    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    posts: int = 0
    looks: int = 0
    harm: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    disorder: int = 0
    """Findings that were told before an earlier one of the same watcher."""
    deaf_seconds: list[float] = field(default_factory=list)
    """How long after each restart of Redis nothing was told."""
    lacking: int = 0
    """Findings that a promoted copy did not have."""

    def __str__(self) -> str:
        deaf = max(self.deaf_seconds, default=0.0)
        return (
            f"lost {len(self.lost)}, twice {len(self.twice)}, out of order {self.disorder}; {self.posts} posts, "
            f"{self.looks} looks; told again at most {deaf:.1f} s after Redis came back, {len(self.deaf_seconds)} times; "
            f"harm {dict(self.harm)}, faults {dict(self.faults)}, {self.seconds:.0f} s; "
            f"{self.lacking} findings missing in promoted copies"
        )


class Story:
    """One run of the plan."""

    def __init__(self, plan: Plan, home: Path) -> None:
        self._plan = plan
        self._home = home
        self._chance = random.Random(plan.seed)
        self._channel = Channel(plan.faults, random.Random(plan.seed + 1), plan.post_seconds)
        self._redis: Store = STORES[plan.store](home, self._chance)
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._harm: Counter[str] = Counter()
        self._machines: dict[str, Machine] = {}
        self._expected = {
            finding(offset, node=f"w{number}").key: (number, offset)
            for number in range(plan.watchers)
            for offset in range(plan.alerts // plan.watchers)
        }
        self._heard: tuple[int, float] | None = None
        """How many posts there were, and when, as Redis came back and nothing was told since."""
        self._deaf: list[float] = []

    async def tell(self) -> Outcome:
        """Run it to the end."""
        began = time.monotonic()
        await self._channel.open(self._home / "channel")
        try:
            for name in self._names():
                await self._start(name)
            harming = asyncio.create_task(self._do_harm())
            while not self._is_told() or not harming.done():
                if time.monotonic() - began > self._plan.limit_seconds:
                    break
                self._listen()
                await asyncio.sleep(0.05)
            await end_all([harming])
            if not harming.cancelled():
                harming.result()
            await asyncio.sleep(REST_SECONDS)
        finally:
            for process in self._processes.values():
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            self._redis.stop()
            for machine in self._machines.values():
                machine.close()
        told = Counter(self._channel.posts)
        return Outcome(
            lost=sorted(self._expected.keys() - told.keys()),
            twice=sorted(name for name, times in told.items() if times > 1),
            posts=len(self._channel.posts),
            looks=self._channel.looks,
            harm=self._harm,
            faults=self._channel.faults,
            seconds=time.monotonic() - began,
            disorder=self._disorder(),
            deaf_seconds=self._deaf,
            lacking=getattr(self._redis, "lacking", 0),
        )

    def _names(self) -> list[str]:
        return [f"w{n}" for n in range(self._plan.watchers)] + [f"bot{n}" for n in range(self._plan.bots)]

    def _is_told(self) -> bool:
        return self._expected.keys() <= self._channel.places.keys()

    def _disorder(self) -> int:
        highest, wrong = dict[int, int](), 0
        for name in self._channel.places:
            watcher, offset = self._expected[name]
            wrong += offset < highest.get(watcher, -1)
            highest[watcher] = max(offset, highest.get(watcher, -1))
        return wrong

    def _listen(self) -> None:
        if self._heard is not None and len(self._channel.posts) > self._heard[0]:
            self._deaf.append(time.monotonic() - self._heard[1])
            self._heard = None

    def _home_of(self, name: str) -> Path:
        if not self._plan.power_cuts:
            return self._home / name
        if name not in self._machines:
            self._machines[name] = Machine(self._home / name)
        return self._machines[name].folder

    async def _start(self, name: str) -> None:
        if name.startswith("w"):
            home = self._home_of(name)
            home.mkdir(exist_ok=True)
            share = str(self._plan.alerts // self._plan.watchers)
            url = self._redis.url_for(Role.WATCHER, name)
            less = [f"without={part}" for part in self._plan.without if part in ("refill", "sync")]
            parts = ["watcher_process", url, name, home, share, self._plan.per_second, *less]
        else:
            less = [f"without={part}" for part in self._plan.without if part not in ("refill", "sync")]
            parts = ["bot_process", self._redis.url_for(Role.BOT, name), name, self._home / "channel", *less]
        rest = (f"tests.durability.{parts[0]}", *parts[1:])
        self._processes[name] = await asyncio.create_subprocess_exec(sys.executable, "-m", *map(str, rest))

    async def _kill(self, name: str) -> None:
        process = self._processes[name]
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await self._start(name)

    async def _cut_power(self, name: str) -> None:
        # What it found while Redis was away is on its disk and nowhere else.
        process = self._processes[name]
        assert isinstance(self._redis, Single), "only one server can be away for a power cut"
        async with self._redis.away():
            await asyncio.sleep(BLACKOUT_SECONDS)
            await asyncio.to_thread(self._machines[name].fail, process.pid, process.kill)
            await process.wait()
        await self._start(name)

    async def _restart(self) -> None:
        await self._redis.kill()
        self._heard = (len(self._channel.posts), time.monotonic())
        ends = time.monotonic() + self._plan.listen_seconds
        while self._heard is not None and not self._is_told() and time.monotonic() < ends:
            await asyncio.sleep(0.05)

    async def _do_harm(self) -> None:
        """All the harm of the plan, in random order, spread over the time that the findings take."""
        plan = self._plan
        acts: list[tuple[str, Callable[[], object]]] = []
        acts += [("bot", lambda: self._kill(f"bot{self._chance.randrange(plan.bots)}"))] * plan.bot_kills
        acts += [("watcher", lambda: self._kill(f"w{self._chance.randrange(plan.watchers)}"))] * plan.watcher_kills
        acts += [("power", lambda: self._cut_power(f"w{self._chance.randrange(plan.watchers)}"))] * plan.power_cuts
        acts += [("redis", self._restart)] * plan.redis_kills
        acts += [("pause", self._redis.pause)] * plan.redis_pauses
        acts += [("flush", self._redis.flush)] * plan.flushes
        self._chance.shuffle(acts)
        while len(self._channel.posts) < plan.posts_first:
            await asyncio.sleep(0.02)
        for kind, act in acts:
            await asyncio.sleep(self._chance.uniform(0.2, 1.0))
            result = act()
            if asyncio.iscoroutine(result):
                await result
            self._harm[kind] += 1


def run(plan: Plan) -> Outcome:
    """Run a plan in a place of its own."""
    home = Path(tempfile.mkdtemp(prefix="rw-"))
    try:
        return asyncio.run(Story(plan, home).tell())
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main() -> int:
    """Run the plan on the command line and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in vars(Plan()).items():
        flag = f"--{name.replace('_', '-')}"
        if name == "without":
            parser.add_argument(flag, action="append", default=[])
        else:
            parser.add_argument(flag, type=type(default), default=default)
    plan = Plan(**vars(parser.parse_args()))
    outcome = run(plan)
    print(plan)  # noqa: T201
    print(outcome)  # noqa: T201
    return bool(outcome.lost or outcome.twice)


if __name__ == "__main__":
    sys.exit(main())
