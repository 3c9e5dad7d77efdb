"""Slack takes nothing for long, and bots come and go meanwhile: in the end everything is said."""

import asyncio

import pytest

from bot import records
from bot.slack import Slack
from bot.slack_answers import Answer, Outcome
from bot.workspace import faults
from diagnosis.findings import Cleared
from diagnosis.observations import Origin
from registry import StreamId
from tests.bot.conftest import EPOCH, WATCHER, settled

STREAM = StreamId(WATCHER, EPOCH)
DOWN = faults.refused("token_revoked")
RUNS = [f"run{number}" for number in range(5)]


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch):
    """Fewer than there are runs, so that some wait in the queue."""
    monkeypatch.setattr("bot.announcer.AT_ONCE", 2)


@pytest.fixture
def slack_seconds():
    """Bots come and go here, and each waits so long for what the one before it may have sent."""
    return 2.0


def over(run):
    """What a watcher says when it is."""
    return Cleared("nonfinite_loss", Origin(run, "node17", 3), "loss is finite again at step 41,300")


@pytest.fixture
def short_trouble(publish, finding):
    """`await short_trouble(run)`: it goes wrong, and is well again."""

    async def happen(run):
        await publish(finding(run=run))
        await publish(over(run))

    return happen


async def until(condition, seconds=20):
    """Wait until this holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


async def test_what_was_over_long_ago_is_still_said(workspace, registry, monitoring, publish, finding):
    """Slack is away when it is over, and back an hour later: each thread hears of it, each root shows it."""
    async with monitoring() as monitor:
        for run in RUNS:
            await publish(finding(run=run))
        await settled(registry, len(RUNS), 60)
        workspace.faults.always("chat.postMessage", DOWN)
        for run in RUNS:
            await publish(over(run))
        await until(lambda: not monitor.tracker.troubled_runs)
        registry.clock._ahead += 3600.0
        await asyncio.sleep(1.2)

        workspace.faults.clear("chat.postMessage")
        await settled(registry, 2 * len(RUNS), 90)
        await workspace.until(lambda: all(root["text"].startswith("✅") for root in workspace.messages()), 60)

    replies = [workspace.replies(root["ts"]) for root in workspace.messages()]
    assert [[reply["text"].startswith("Over ") for reply in thread] for thread in replies] == [[True]] * len(RUNS)


async def test_waiting_through_many_reigns_is_no_poison(workspace, registry, monitoring, publish, finding):
    """Only a finding that ends the bot by being read is set aside; one that waits for its turn is told."""
    workspace.faults.always("chat.postMessage", DOWN)
    for run in RUNS:
        await publish(finding(run=run))
    for _ in range(8):
        async with monitoring(grace=0.0) as monitor:
            await until(lambda monitor=monitor: monitor.tracker and len(monitor.tracker.troubled_runs) == len(RUNS))
    assert await registry.ledger.settled(STREAM) == 0

    workspace.faults.clear()
    async with monitoring():
        await settled(registry, len(RUNS), 90)

    assert len(workspace.messages()) == len(RUNS)
    assert await registry.ledger.dead_letters(WATCHER) == {}


async def test_a_finding_that_ends_the_bot_when_it_is_read_is_set_aside(
    workspace, registry, monitoring, publish, finding
):
    """After five such ends the rest flows."""
    await publish(finding())
    [event] = await registry.events.read({STREAM: 0})
    for _ in range(5):
        # A bot that dies in the middle has begun, and no more.
        await registry.ledger.begin(event)

    await publish(finding(run="run43"))
    async with monitoring():
        await settled(registry, 2, 30)

    [root] = workspace.messages()
    assert "run43" in root["text"]
    assert len(await registry.ledger.dead_letters(WATCHER)) == 1


async def test_what_was_over_is_said_by_the_next_bot_however_many_they_are(
    workspace, registry, monitoring, short_trouble, monkeypatch
):
    """Roots show that it is over, and charts came; no reply got through, and more was told since than is recent."""
    monkeypatch.setattr("bot.announcer.RECENT", 2)
    real = Slack.post

    async def only_roots(*words, thread_ts=None, **more):
        return Answer(Outcome.AWAY) if thread_ts else await real(*words, thread_ts=thread_ts, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Slack, "post", only_roots)
        async with monitoring(grace=0.0):
            for run in RUNS:
                await short_trouble(run)
            await workspace.until(lambda: [root["text"][0] for root in workspace.messages()] == ["✅"] * len(RUNS), 60)
            for fields in (await registry.incidents.recent()).values():
                await records.save_chart(registry, records.read(fields), records.SHOWN)

    async with monitoring():
        await workspace.until(lambda: all(workspace.replies(root["ts"]) for root in workspace.messages()), 60)

    replies = [workspace.replies(root["ts"]) for root in workspace.messages()]
    assert [[reply["text"].startswith("Over ") for reply in thread] for thread in replies] == [[True]] * len(RUNS)


async def test_a_bot_that_may_not_speak_settles_nothing(workspace, registry, monitoring, short_trouble, monkeypatch):
    """Roots, and behind each the word that it is over, wait while the right to announce is in doubt; all are told."""
    for run in RUNS:
        await short_trouble(run)
    doubts = 0

    async def may_send(_):
        nonlocal doubts
        doubts += 1
        return doubts > 6

    monkeypatch.setattr("bot.once.Once.may_send", may_send)
    async with monitoring():
        await settled(registry, 2 * len(RUNS), 60)

    replies = [workspace.replies(root["ts"]) for root in workspace.messages()]
    assert [[reply["text"].startswith("Over ") for reply in thread] for thread in replies] == [[True]] * len(RUNS)
