"""Nothing lost, nothing twice: the promise in small; `harness.py` takes the full counts."""

import asyncio
import random
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from registry import StreamId, connect
from tests.counts import IS_FULL, count, say
from tests.durability.channel import Channel
from tests.durability.harness import Plan, run
from tests.durability.machine import why_not
from tests.registry.values import finding
from tests.servers import Victim
from watcher.publisher import Publisher
from watcher.spool import Spool

PLANS = {
    "kills of everything and a lying channel": Plan(),
    "two bots that take over from each other": Plan(bots=2, bot_kills=5, redis_kills=1, seed=2),
    "a Redis that pauses": Plan(redis_pauses=3, redis_kills=0, bot_kills=2, seed=3),
    "a Redis that is emptied": Plan(flushes=2, redis_kills=1, bot_kills=3, seed=4),
}
HOUR = 3600.0
# Findings flow for about as long as the harm lasts.
A2 = Plan(alerts=10_000, watchers=8, bots=2, bot_kills=500, redis_kills=150, watcher_kills=150, per_second=2.5)
RESTARTS = Plan(bot_kills=0, watcher_kills=0, listen_seconds=60.0, seed=6)
A8 = replace(RESTARTS, alerts=9_000, redis_kills=300, per_second=5)
SLEEPS, AT_ONCE = count(1, 100), 10
AWAKE_SECONDS = 3.0
"""So long a bot that woke up has to do what it must not."""
AWAY_SECONDS = 2.5
"""Longer than a call of these bots waits for Redis."""
WORST_DEAF_SECONDS = 30.0
"""RELIABILITY asks for 10 on a quiet machine."""
AS_ROOT = [pytest.mark.scenario, pytest.mark.skipif(bool(why_not()), reason=why_not())]


@pytest.mark.parametrize("name", PLANS)
def test_nothing_lost_and_nothing_twice(name):
    """Real processes killed at random, a quarter of the channel's answers false; each watcher's order is kept."""
    outcome = run(PLANS[name])

    assert (outcome.lost, outcome.twice, outcome.disorder) == ([], [], 0)


@pytest.mark.figure
@pytest.mark.scenario
@pytest.mark.timeout(HOUR if IS_FULL else 200)
def test_many_watchers_and_two_bots_keep_the_order_too():
    """Eight watchers, two bots, everything killed (A2)."""
    few = Plan(alerts=160, watchers=8, bots=2, bot_kills=5, redis_kills=2, watcher_kills=2, seed=5)
    outcome = run(replace(A2, limit_seconds=HOUR) if IS_FULL else few)

    say("A2", str(outcome))
    assert (outcome.lost, outcome.twice, outcome.disorder) == ([], [], 0)


@pytest.mark.figure
@pytest.mark.scenario
@pytest.mark.timeout(HOUR if IS_FULL else 200)
def test_after_each_restart_of_redis_findings_flow_again():
    """Killed and started again at random moments: told again soon, every time (A8)."""
    outcome = run(replace(A8, limit_seconds=HOUR) if IS_FULL else replace(RESTARTS, alerts=200, redis_kills=4))

    say("A8", str(outcome))
    assert (outcome.lost, outcome.twice) == ([], [])
    assert len(outcome.deaf_seconds) >= (280 if IS_FULL else 2)
    assert max(outcome.deaf_seconds) < WORST_DEAF_SECONDS


@pytest.mark.parametrize(("without", "told"), [((), 2), (("patience", "fence"), 1)], ids=["patience", "control: none"])
async def test_a_bot_outlasts_a_redis_that_is_away_for_longer_than_a_call(tmp_path, without, told):
    """Redis is down until a bot's call has given up; a bot that takes that for its end tells nothing any more (A8)."""
    async with settled_once(tmp_path, without) as (victim, bot, channel, publisher):
        victim.kill()
        if "patience" in without:
            # It acts without its lease too, so that its next round meets a dead server however slow this machine is.
            assert await bot.wait() != 0
        await asyncio.sleep(AWAY_SECONDS)
        victim.start()
        publisher.accept(finding(2))
        assert await publisher.flush(30)
        while len(channel.posts) < told:
            await asyncio.sleep(0.02)

    assert len(channel.posts) == told


@asynccontextmanager
async def accepted_once(
    home: Path, seconds: float
) -> AsyncIterator[tuple[Victim, Channel, Publisher, Callable[[], Awaitable[int]]]]:
    """A server, a channel that tells no lies, a watcher whose one finding is in its stream, and how many are settled."""
    channel = Channel(0.0, random.Random(1))
    await channel.open(home / "channel")
    victim = Victim(home / "redis")
    registry, spool = connect(victim.url, "w0"), Spool(home / "spool")
    publisher = Publisher(registry, "w0", spool)
    publisher.accept(finding(1))
    assert await publisher.flush(seconds)
    try:
        yield victim, channel, publisher, lambda: registry.ledger.settled(StreamId("w0", spool.epoch))
    finally:
        await registry.aclose()
        spool.close()
        victim.stop()


@asynccontextmanager
async def settled_once(home: Path, without: Sequence[str]) -> AsyncIterator[tuple[Victim, Process, Channel, Publisher]]:
    """A bot that has told one finding, and has nothing to do."""
    async with accepted_once(home, 30) as (victim, channel, publisher, settled):
        bot = await _bot(victim.url, "bot", home / "channel", *without)
        try:
            while await settled() < 1:
                await asyncio.sleep(0.02)
            yield victim, bot, channel, publisher
        finally:
            await _kill(bot)


def test_without_looking_it_would_be_told_twice():
    """Negative control: the same harm without looking before repeating shows duplicates."""
    outcome = run(Plan(without=("look",)))

    assert outcome.twice


def test_without_its_line_a_finding_overtakes_another():
    """Negative control: a watcher's findings told side by side, like those of several watchers, lose their order."""
    outcome = run(Plan(without=("order",)))

    assert outcome.disorder


POWER = count(3, 50)
CUT = Plan(alerts=60 * POWER, bot_kills=0, redis_kills=0, watcher_kills=0, per_second=12.0, limit_seconds=30.0 * POWER)
CUTS = {
    "a watcher's machine": replace(CUT, power_cuts=POWER, seed=7),
    "the machine of Redis": replace(CUT, redis_kills=POWER, store="power", seed=8),
}
WITHOUT = {
    # Without syncing, what a watcher found while Redis was away is nowhere.
    "a watcher's machine": replace(CUTS["a watcher's machine"], alerts=400, power_cuts=4, without=("sync",)),
    # Without sending again, what Redis had not synced and nobody had told yet is lost.
    "the machine of Redis": replace(
        CUTS["the machine of Redis"], redis_kills=3, alerts=400, per_second=60.0, without=("refill",), limit_seconds=30
    ),
}


@pytest.mark.figure
@pytest.mark.timeout(HOUR)
class TestPowerCuts:
    """The disk is an ext4 on a loop device, copied in the middle of the work (A6)."""

    pytestmark = AS_ROOT

    @pytest.mark.parametrize("name", CUTS)
    def test_a_power_cut_loses_and_repeats_nothing(self, name):
        """What was accepted is on the disk; what Redis had not synced comes again and is looked for first."""
        outcome = run(CUTS[name])

        say("A6", f"{name}: {outcome}")
        assert (outcome.lost, outcome.twice) == ([], [])

    @pytest.mark.parametrize("name", WITHOUT)
    def test_without_its_protection_a_power_cut_loses_or_repeats(self, name):
        """Negative control."""
        outcome = run(WITHOUT[name])

        assert outcome.lost or outcome.twice


STALE = Plan(
    alerts=count(1_500, 40_000),
    bot_kills=0,
    redis_kills=count(1, 20),
    watcher_kills=0,
    faults=0.0,
    post_seconds=0.005,
    store="stale copy",
    per_second=20.0,
    limit_seconds=HOUR,
    posts_first=10,
)


@pytest.mark.figure
@pytest.mark.scenario
@pytest.mark.timeout(HOUR)
class TestPromotion:
    """A copy that heard nothing for three busy seconds becomes the primary (A7)."""

    def test_what_the_promoted_copy_never_had_is_told_once(self):
        """500 findings a second while the copy is cut off, and then it leads."""
        outcome = run(STALE)

        say("A7", str(outcome))
        assert (outcome.lost, outcome.twice) == ([], [])
        assert outcome.lacking > 200 * STALE.redis_kills

    def test_without_refill_they_are_lost(self):
        """Negative control: nobody sends again what only the old primary had."""
        outcome = run(replace(STALE, alerts=1_500, redis_kills=1, without=("refill",), limit_seconds=40))

        say("A7", f"control: {outcome}")
        assert len(outcome.lost) > 200


@pytest.mark.figure
@pytest.mark.timeout(120 + 10 * SLEEPS)
@pytest.mark.parametrize(("without", "times"), [((), 1), (("fence",), 2)], ids=["fence", "control: no fence"])
async def test_a_bot_that_slept_through_a_takeover_does_not_post(tmp_path, without, times):
    """Stopped right before its post, another bot takes over and posts; awake again, the first one does not (A4)."""
    at_once = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> int:
        async with at_once:
            home = tmp_path / str(number)
            home.mkdir()
            return await sleep_through_a_takeover(home, without)

    posts = await asyncio.gather(*(one(number) for number in range(SLEEPS)))

    say("A4", f"{SLEEPS} sleeps, without {without or 'nothing'}: told twice {sum(many > 1 for many in posts)}")
    assert posts == [times] * SLEEPS


async def sleep_through_a_takeover(home: Path, without: Sequence[str]) -> int:
    """How often it was told in the end."""
    async with accepted_once(home, 10) as (victim, channel, *_):
        sleeper = await _bot(victim.url, "sleeper", home / "channel", "wakefulness", *without)
        while _state(sleeper.pid) != "T":
            await asyncio.sleep(0.02)
        other = await _bot(victim.url, "other", home / "channel")
        while not channel.posts:
            await asyncio.sleep(0.02)
        sleeper.send_signal(signal.SIGCONT)
        await asyncio.sleep(AWAKE_SECONDS)

        for process in (sleeper, other):
            await _kill(process)
    return len(channel.posts)


async def _bot(url: str, name: str, channel: Path, *without: str) -> Process:
    parts = [f"without={part}" for part in without]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.durability.bot_process", url, name, str(channel), *parts
    )


async def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
