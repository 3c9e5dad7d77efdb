"""The registry goes away under a running bot: a word within a second, nothing lost, nothing twice."""

import asyncio

import pytest

from bot.app import bot_running
from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin
from registry import StreamId, connect, wire
from tests.bot.conftest import a_run
from tests.servers import Victim

STREAM = StreamId("node17", "e1")


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
