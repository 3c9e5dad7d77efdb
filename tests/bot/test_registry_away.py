"""The registry goes away under a running bot: a word within a second, nothing lost, nothing twice."""

import asyncio
import os
import time

import pytest

from benchmarks.whole import spread
from bot.app import bot_running
from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin
from registry import StreamId, connect, wire
from registry.errors import RegistryError
from tests.bot.conftest import a_run
from tests.counts import IS_FULL, count, say
from tests.servers import Victim

STREAM = StreamId("node17", "e1")
COMMANDS, AWAY_SECONDS = count(20, 50), count(2.0, 60.0)


@pytest.fixture
def victim(tmp_path):
    server = Victim(tmp_path)
    yield server
    server.stop()


@pytest.fixture
async def served(victim, workspace, settings):
    """A whole bot on a registry that may be harmed."""
    registry = connect(victim.url)
    await a_run(registry)
    await registry.aclose()
    async with bot_running(settings(redis_url=victim.url, lease_seconds=12.0, slack_deadline_seconds=5.0)) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team and running.monitor.is_reigning)
        yield running


async def publish(url, number):
    registry = connect(url)
    found = Finding(
        "nonfinite_loss",
        Severity.CRITICAL,
        Origin(f"run{number}", "node17", 0),
        "loss is NaN",
        (Evidence("a.log", number, ""),),
        number,
    )
    await registry.events.register(STREAM)
    await registry.events.publish(STREAM.watcher, STREAM.epoch, number, wire.encode(found), found.key)
    await registry.aclose()


async def test_a_registry_that_hangs_is_said_within_a_second(victim, workspace, served):
    """Twenty commands while Redis stands still: all acknowledged, all answered in words."""
    victim.pause()

    outcomes = await asyncio.gather(*(workspace.slash("/loss", "run42") for _ in range(20)))
    said = await workspace.until(lambda: len(workspace.ephemerals()) == 20 and workspace.ephemerals())
    victim.resume()

    assert all(outcome.acked for outcome in outcomes)
    assert all("The registry (Redis) does not answer" in one["text"] for one in said)


async def test_a_registry_that_dies_and_comes_back_loses_nothing(victim, workspace, served):
    """Killed and started again on its data: the next finding is told, the earlier one not again."""
    await publish(victim.url, 1)
    await workspace.until(workspace.messages)
    victim.kill()
    await asyncio.sleep(1.0)
    victim.start()

    await publish(victim.url, 2)
    await workspace.until(lambda: len(workspace.messages()) == 2)
    outcome = await workspace.slash("/runs")
    await workspace.until(lambda: len(workspace.messages()) == 3)

    assert outcome.acked
    assert ["run1" in one["text"] or "run2" in one["text"] for one in workspace.messages()] == [True, True, False]


@pytest.mark.figure
@pytest.mark.timeout(900 if IS_FULL else 300)
@pytest.mark.parametrize("is_said", [True, False], ids=["said", "control: Redis is waited for"])
async def test_while_redis_is_down_every_command_is_told_so(victim, workspace, served, monkeypatch, is_said):
    """Everybody hears it before Redis is back; a bot that waits for Redis instead says nothing until then (A24)."""
    people = [f"person{number}" for number in range(COMMANDS)]
    for name in people:
        workspace.add_member(name)
    if not is_said:
        monkeypatch.setattr("handlers.answering.REGISTRY_SECONDS", 3_600.0)
        monkeypatch.setattr(served.registry, "now", until_answered(served.registry.now))
    victim.kill()
    load = os.getloadavg()[0]

    async def ask(number):
        await asyncio.sleep(number * AWAY_SECONDS / COMMANDS if is_said else 0.0)
        began, name = time.monotonic(), people[number]
        outcome = await workspace.slash("/loss", "run42", user=name)
        if is_said:
            await workspace.until(lambda: workspace.ephemerals(name))
        return outcome.acked, time.monotonic() - began

    asked = await asyncio.gather(*(ask(number) for number in range(COMMANDS)))
    said = [one["text"] for name in people for one in workspace.ephemerals(name)]
    victim.start()

    assert all(is_acked for is_acked, _ in asked)
    if not is_said:
        assert said == []
        await workspace.until(lambda: len(workspace.messages()) >= COMMANDS)
        return
    assert len(said) == COMMANDS
    assert all("The registry (Redis) does not answer" in text for text in said)
    waits = [seconds for _, seconds in asked]
    say(
        "A24",
        f"{COMMANDS} commands in {AWAY_SECONDS:.0f} s without Redis: {len(said)} told so, {spread(waits)} after they were "
        f"typed; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after",
    )


def until_answered(now):
    """What a bot asks that believes its registry is always there."""

    async def ask():
        while True:
            try:
                return await now()
            except RegistryError:
                await asyncio.sleep(0.1)

    return ask
