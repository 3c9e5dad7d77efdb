"""The last writing of a bot that lost the lease reaches Redis late: after the next one has read what there was."""

import asyncio

import pytest

from bot.announcer import Announcer
from bot.follower import Follower
from diagnosis.findings import Cleared
from diagnosis.observations import Origin
from registry import StreamId, connect
from registry.ledger import Place
from tests.bot.conftest import EPOCH, WATCHER, settled

STREAM = StreamId(WATCHER, EPOCH)


@pytest.fixture
def slack_seconds():
    """The next bot waits so long for what the one before it may have sent."""
    return 2.0


@pytest.fixture
async def late(redis_url):
    """A bot's connection whose record of what it showed never arrives; `late.kept` is what it wrote."""
    opened = connect(redis_url, name="late")
    opened.kept = []

    async def save(*what, **how):
        opened.kept.append((what, how))
        await asyncio.Event().wait()

    opened.incidents.save = save
    yield opened
    await opened.aclose()


@pytest.mark.parametrize(
    ("owner", "name"), [(Announcer, "restore"), (Follower, "look"), (Follower, "begin"), (Follower, "catch_up")]
)
async def test_a_word_is_not_lost_between_two_bots(  # noqa: PLR0917
    workspace, registry, late, monitoring, publish, finding, monkeypatch, owner, name
):
    """The root stands, its record and its finding's end come late: that it is over is said all the same, once."""
    async with monitoring(by=late, grace=0.0):
        await publish(finding())
        async with asyncio.timeout(60):
            while not late.kept:
                await asyncio.sleep(0.02)
    await publish(Cleared("nonfinite_loss", Origin("run42", "node17", 3), "loss is finite again at step 41,203"))
    (told, _) = await registry.events.read({STREAM: 0})
    (root,) = workspace.messages()
    real = getattr(owner, name)

    async def then_it_comes(self, *given):
        came = await real(self, *given)
        for what, how in late.kept:
            await registry.incidents.save(*what, **how)
            await registry.ledger.delivered(told, Place(what[2]["channel"], root["ts"], what[0]))
        late.kept.clear()
        return came

    monkeypatch.setattr(owner, name, then_it_comes)
    async with monitoring():
        await settled(registry, 2)

    (root,) = workspace.messages()
    (reply,) = workspace.replies(root["ts"])
    assert reply["text"].startswith("Over ")
