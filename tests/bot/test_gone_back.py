"""Redis is killed and comes back without its newest writes: incidents that were told are known again, and end in words."""

import os
from contextlib import asynccontextmanager

import pytest

from diagnosis.findings import Cleared
from diagnosis.observations import Origin
from registry import StreamId, connect, wire
from tests.bot.conftest import EPOCH, WATCHER, settled

STREAM = StreamId(WATCHER, EPOCH)


@pytest.fixture
def redis_url(victim):
    """Of a server that can be killed."""
    return victim.url


@pytest.fixture
def slack_seconds():
    """Whoever reigns next waits so long for what the one before it may have sent."""
    return 2.0


@pytest.fixture
def go_back(victim, tmp_path):
    """`with go_back():` its server is killed at the end of the block, and starts with what it knew at the beginning."""
    log = next((tmp_path / "redis").glob("**/*.incr.aof"))

    @asynccontextmanager
    async def going():
        known = log.stat().st_size
        yield
        victim.kill()
        os.truncate(log, known)
        victim.start()

    return going


async def publish(registry, number, verdict):
    """What a watcher does."""
    await registry.events.register(STREAM)
    await registry.events.publish(WATCHER, EPOCH, number, wire.encode(verdict), getattr(verdict, "key", "over"))


@pytest.fixture
async def forgotten(registry, go_back, monitoring, finding):
    """A finding was told, and Redis forgot that; another one is told and settled since."""
    await publish(registry, 1, finding(run="run1"))
    async with monitoring():
        async with go_back():
            await settled(registry, 1)
        await publish(registry, 2, finding(run="run2"))
        await settled(registry, 2, 60)


@pytest.fixture(params=["the same bot", "the next bot"])
async def later(request, registry, redis_url):
    """The registry of whoever reigns next."""
    other = connect(redis_url, "other")
    yield registry if request.param == "the same bot" else other
    await other.aclose()


@pytest.mark.usefixtures("forgotten")
async def test_an_incident_that_redis_forgot_still_ends_in_words(workspace, registry, monitoring, later):
    """A later reign hears that it is over, and says so in the thread that Redis had forgotten."""
    await publish(registry, 3, Cleared("nonfinite_loss", Origin("run1", "node17", 3), "loss is finite again"))

    async with monitoring(by=later):
        await settled(registry, 3, 60)

    first, second = sorted(workspace.messages(), key=lambda root: "run2" in root["text"])
    assert [reply["text"][:5] for reply in workspace.replies(first["ts"])] == ["Over "]
    assert workspace.replies(second["ts"]) == []
