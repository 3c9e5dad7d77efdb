"""After a restart or a promotion, what happened before is doubtful; uptime alone would not notice a promotion."""

import asyncio
import time

import pytest

from registry import Place, StreamId, connect
from registry.doubt import MARGIN_SECONDS
from tests.topologies import Node, short_home, until

STREAM = StreamId("w1", "e1")


@pytest.fixture
def pair():
    """A server and its copy."""
    with short_home() as home:
        primary = Node(home / "a").start()
        copy = Node(home / "b", "--replicaof", f"127.0.0.1 {primary.port}").start()
        until(lambda: copy.client().info("replication")["master_link_status"] == "up", "no copy")
        yield primary, copy
        primary.stop()
        copy.stop()


async def test_a_mark_that_died_with_the_primary_leaves_its_event_doubtful(pair):
    """Told, marked, and promoted without the mark: the event comes back, and it says that it may have been told."""
    primary, copy = pair
    old = connect(f"redis://{primary.address}", "bot")
    await old.events.publish("w1", "e1", 1, b"x", "k")
    (event,) = await old.events.read({STREAM: 0})
    primary.client().wait(1, 5000)
    copy.client().replicaof("NO", "ONE")
    await old.ledger.delivered(event, Place("C1", "1.0"))

    new = connect(f"redis://{copy.address}", "next bot")
    (again,) = await new.events.read({STREAM: await new.ledger.settled(STREAM)})

    assert again.id == event.id
    assert again.is_resent
    # The copy runs as long as the primary did: its uptime would have called the event sound.
    up_since = time.time() - copy.client().info("server")["uptime_in_seconds"]
    assert event.number == 1
    assert up_since < time.time()
    await old.aclose()
    await new.aclose()


async def test_what_was_published_after_the_promotion_is_not_doubtful(pair):
    """Doubt ends: only what is older than the first meeting with the new primary is looked for."""
    primary, copy = pair
    copy.client().replicaof("NO", "ONE")
    primary.kill()
    registry = connect(f"redis://{copy.address}", "bot")
    first = await registry._door.call("ZADD", "rw:servers", 1, "an older one")
    assert first == 1

    await registry.events.publish("w1", "e1", 1, b"x")
    assert [event.is_resent for event in await registry.events.read({STREAM: 0})] == [True]
    registry.events._clock._ahead += 2 * MARGIN_SECONDS
    await registry.events.publish("w1", "e1", 2, b"x")

    assert [event.is_resent for event in await registry.events.read({STREAM: 0})] == [True, False]
    await registry.aclose()


async def test_a_bot_that_lives_through_a_promotion_asks_anew(victim):
    """A broken connection is enough to ask who answers now; a restarted server is another one."""
    registry = connect(victim.url, "bot")
    # Redis tells its age in whole seconds: what is doubtful may end up to two after its start.
    await asyncio.sleep(2.1)
    await registry.events.publish("w1", "e1", 1, b"x")
    assert [event.is_resent for event in await registry.events.read({STREAM: 0})] == [False]

    victim.kill()
    victim.start()

    assert [event.is_resent for event in await registry.events.read({STREAM: 0})] == [True]
    await registry.aclose()


@pytest.mark.parametrize("share", [0.05, 0.95])
async def test_the_first_server_may_have_forgotten_what_came_before_it(registry, monkeypatch, share):
    """Redis counts whole seconds from whole seconds: told at any moment, what is older than its start is doubtful."""
    doubt = registry.events._doubt
    started, now = 1000.95, 1010.0 + share
    said = {"run_id": "r", "master_replid": "m", "uptime_in_seconds": int(now) - int(started)}
    call = doubt._door.call

    async def answer(*command, **more):
        return said if command[0] == "INFO" else await call(*command, **more)

    async def clock():
        return now

    monkeypatch.setattr(doubt._door, "call", answer)
    monkeypatch.setattr(doubt._clock, "now", clock)

    assert started <= await doubt.before("rw:any") <= started + 2
