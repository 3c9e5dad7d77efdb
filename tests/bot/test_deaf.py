"""A bot that announces and cannot reach Slack leaves it to one that can; alone it keeps trying."""

import asyncio
import socket

import pytest

from bot.slack import Slack
from bot.workspace import faults
from registry import connect
from tests.bot.conftest import settled
from tests.ports import free_port

LEASE_SECONDS = 18.0
"""A call may take ten, and it is renewed each six."""


@pytest.fixture(autouse=True)
def deaf_soon(monkeypatch):
    """A second without an answer is enough here."""
    monkeypatch.setattr("bot.slack.DEAF_SECONDS", 1.0)


def nobody():
    """Nothing listens there."""
    return free_port(), None


def silence():
    """Connections are taken and never answered, as behind a firewall that drops."""
    ear = socket.create_server(("127.0.0.1", 0))
    return ear.getsockname()[1], ear


@pytest.fixture
async def door_at(workspace):
    """`door_at(place)`: a bot's way to Slack that is cut."""
    made = []

    def make(place):
        port, ear = place()
        url = f"http://127.0.0.1:{port}/api/"
        door = Slack(workspace.bot_token, url, deadline_seconds=1.0, post_interval_seconds=0.0)
        made.append((door, ear))
        return door

    yield make
    for door, ear in made:
        await door.aclose()
        if ear is not None:
            ear.close()


@pytest.fixture
async def other(redis_url):
    """Another bot's connection."""
    opened = connect(redis_url, name="other")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize(("place", "channel"), [(nobody, "#training"), (silence, "C0TRAINING")])
async def test_a_bot_that_cannot_reach_slack_leaves_it_to_another(  # noqa: PLR0917
    workspace, registry, other, monitoring, publish, finding, door_at, place, channel
):
    """It leads, Redis is well, and a second bot waits: that one tells what waited and what comes, once each."""
    async with monitoring(by=other, door=door_at(place), channel=channel, lease_seconds=LEASE_SECONDS) as deaf:
        await _until(lambda: deaf.is_reigning)
        async with monitoring(channel=channel, lease_seconds=LEASE_SECONDS) as heir:
            for number in range(3):
                await publish(finding(run=f"run{number}"))
            await settled(registry, 3)
            await publish(finding(run="run3"))
            await settled(registry, 4)

            assert (deaf.is_reigning, heir.is_reigning) == (False, True)

    assert sorted(one["text"].split("*")[1].split(" ")[0] for one in workspace.messages()) == [
        f"run{n}" for n in range(4)
    ]


async def test_alone_it_keeps_trying(  # noqa: PLR0917
    workspace, registry, monitoring, publish, finding, slack
):
    """Nobody else could tell: it leads on, and tells when Slack answers again."""
    workspace.faults.some(
        1.0, (faults.cut_before(),), ("chat.postMessage", "conversations.list", "conversations.history"), 1
    )
    async with monitoring(lease_seconds=LEASE_SECONDS) as monitor:
        await publish(finding())
        await _until(lambda: slack.is_deaf)
        for _ in range(round(LEASE_SECONDS / 0.1)):
            assert monitor.is_reigning
            await asyncio.sleep(0.1)

        workspace.faults.clear()
        await settled(registry, 1)

    assert len(workspace.messages()) == 1


async def _until(look):
    async with asyncio.timeout(60):
        while not look():
            await asyncio.sleep(0.02)
