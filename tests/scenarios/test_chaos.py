"""Bad nights of the whole product, in small: nothing lost, nothing twice. `make chaos` takes the full counts."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.counts import count, say
from tests.scenarios import jumping
from tests.scenarios.chaos import Plan, night

pytestmark = pytest.mark.scenario

AT_ONCE = 3
"""Nights are mostly waiting; so many of them share a small machine."""
NIGHT = Plan(findings=40, runs=20, bot_kills=0, redis_kills=0, watcher_kills=0, limit_seconds=150)
NIGHTS = {
    "everything killed, also while Redis is away": replace(
        NIGHT, bot_kills=4, redis_kills=2, watcher_kills=2, blackouts=1
    ),
    "a bot asleep beyond its lease": replace(NIGHT, pauses=3, bot_kills=1, pace_seconds=1.0, seed=2),
    "a Redis that is emptied": replace(NIGHT, flushes=3, redis_kills=1, bot_kills=1, seed=3),
    "everything is a fork, as in the full counts": replace(NIGHT, bot_kills=6, redis_kills=2, forked=True, seed=4),
}
# A protection is taken away and must then be missed; what is lost never comes, so nobody waits for it long.
CONTROL = replace(NIGHT, limit_seconds=15)
WITHOUT = {
    "look": replace(CONTROL, without="look", bot_kills=3, faults=0.5, only_fault="cut_after"),
    "sdk": replace(CONTROL, without="sdk", bot_kills=1, faults=0.5, only_fault="cut_after"),
    "spool": replace(CONTROL, without="spool", blackouts=2),
    "refill": replace(CONTROL, without="refill", flushes=3),
}
# With this seed the bot's clock is the first that jumps; then the watcher's, a day back.
A_DAY_ON = {
    "findings": 30,
    "runs": 15,
    "watchers": 1,
    "bots": 1,
    "jumps": 2,
    "pace_seconds": 8.0,
    "faults": 0.0,
    "seed": 57,
}


@pytest.fixture(scope="module")
def begun():
    """All nights by name, lived through a few at a time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(night, plan) for name, plan in (NIGHTS | WITHOUT).items()}


@pytest.mark.parametrize("name", NIGHTS)
def test_nothing_is_lost_and_nothing_comes_twice(begun: dict[str, Future], name):
    """Real processes, a quarter of Slack's answers wrong; every finding is read once."""
    outcome = begun[name].result()

    assert outcome.judgement.is_clean, str(outcome)
    assert outcome.harm.total() == NIGHTS[name].harm
    assert outcome.faults > 0


needs_faketime = pytest.mark.skipif(not jumping.library(), reason="needs libfaketime (apt install faketime)")


@pytest.mark.figure
@needs_faketime
def test_a_clock_that_jumps_loses_and_repeats_nothing():
    """Ten minutes back, a day on, a day back, in bots and watchers that are killed besides (RELIABILITY A22)."""
    plan = replace(
        NIGHT, findings=count(30, 500), runs=count(15, 50), jumps=count(5, 30), pace_seconds=2.5, limit_seconds=240
    )
    outcome = night(replace(plan, bot_kills=count(2, 20), redis_kills=count(1, 4), watcher_kills=count(1, 4)))

    say("A22", str(outcome))
    assert outcome.judgement.is_clean, str(outcome)
    assert outcome.harm["clock jumped"] == plan.jumps
    assert not called_stalled(outcome)


@needs_faketime
@pytest.mark.parametrize("without", ["", "clock"], ids=["Redis' clock", "control: its own clock"])
def test_a_bot_that_believes_its_own_clock_calls_healthy_runs_stalled(without):
    """The bot's clock jumps a day on: whoever counts silence on it says that nothing came for a day.

    What it finds after that stands in the thread of a stall that never was, so only who says none tells all as expected.
    """
    outcome = night(replace(NIGHT, **A_DAY_ON, without=without))

    assert outcome.judgement.is_clean or without, str(outcome)
    assert bool(called_stalled(outcome)) == bool(without)


def called_stalled(outcome):
    """What was said of runs that train on."""
    return [said for said in outcome.judgement.other if "stalled" in said]


@pytest.mark.parametrize("name", ["look", "sdk"])
def test_without_its_protection_messages_come_twice(begun, name):
    """Negative control: nobody looks before repeating, or Slack's library repeats by itself."""
    assert any(outcome.judgement.twice for outcome in nights_without(begun, name))


@pytest.mark.parametrize("name", ["spool", "refill"])
def test_without_its_protection_findings_are_lost(begun, name):
    """Negative control: findings are in memory only, or what Redis lost is not sent again."""
    assert any(outcome.judgement.lost for outcome in nights_without(begun, name))


def nights_without(begun, name):
    """A night may do no harm by luck; four do not."""
    yield begun[name].result()
    for seed in (11, 12, 13):
        yield night(replace(WITHOUT[name], seed=seed))
