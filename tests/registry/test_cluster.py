"""A Cluster: every key is found, slots may move under us, primaries may die, and no call ever spans two slots."""

import asyncio
from collections.abc import Iterator

import pytest

from registry import Overtaken, Refused, RegistryAway, StreamId, connect, keys
from registry.door import Door
from tests.registry.lives import answer_as_watcher, ask_as_bot, live_as_bot, live_as_reader, live_as_watcher
from tests.registry.test_sentinel import insist
from tests.topologies import ClusterOf, Node, short_home


@pytest.fixture(scope="module")
def shared() -> Iterator[ClusterOf]:
    with short_home() as home:
        made = ClusterOf(home)
        yield made
        made.stop()


@pytest.fixture
def cluster(shared) -> ClusterOf:
    """Three primaries with a replica each, empty."""
    for node in shared.nodes:
        if node.role() == "master":
            node.client().flushall()
    return shared


async def test_everything_works_in_a_cluster(cluster):
    """All that watcher, bot and reader do, and a server never has to say CROSSSLOT."""
    watcher, bot = connect(cluster.url, "watcher"), connect(cluster.url, "bot")

    await live_as_watcher(watcher)
    await live_as_bot(bot)
    await asyncio.gather(ask_as_bot(bot), answer_as_watcher(watcher))
    await live_as_reader(bot)

    assert len(await bot._door.everywhere("PING")) == 6
    for node in cluster.nodes:
        assert "errorstat_CROSSSLOT" not in node.client().info("errorstats")
    await watcher.aclose()
    await bot.aclose()


async def test_answers_of_many_servers_come_in_order(cluster):
    """Commands go to three servers side by side, and each answer stands in its place."""
    door = Door(cluster.url, "test")
    await door.many([("SET", f"rw:{n}", n) for n in range(300)])

    found = await door.many([("GET", f"rw:{n}") for n in range(300)])

    assert found == [str(n).encode() for n in range(300)]
    assert len({cluster.owner(f"rw:{n}").port for n in range(300)}) == 3
    await door.aclose()


async def test_a_slot_that_moved_is_followed(cluster):
    """MOVED: the map in our head is old, and no caller notices."""
    door = Door(cluster.url, "test")
    key = keys.ledger("mover")
    await door.call("HSET", key, "a", 1)
    target = next(node for node in cluster.nodes[:3] if node is not cluster.owner(key))

    cluster.end_move(cluster.begin_move(key, target))

    assert await door.call("HGET", key, "a") == b"1"
    assert await door.together([("HSET", key, "b", 2), ("HSET", key, "c", 3)]) == [1, 1]
    assert await door.where(key) == target.address
    await door.aclose()


async def test_a_slot_that_is_moving_is_followed_too(cluster):
    """ASK: keys that are there are served here, new ones there, alone, in a batch and in a transaction."""
    door = Door(cluster.url, "test")
    old, new = keys.ledger("moving"), keys.floor("moving")
    await door.call("HSET", old, "a", 1)
    target = next(node for node in cluster.nodes[:3] if node is not cluster.owner(old))

    move = cluster.begin_move(old, target)
    assert await door.call("HGET", old, "a") == b"1"
    assert await door.call("HSET", new, "b", 2) == 1
    assert await door.many([("HGET", old, "a"), ("HGET", new, "b"), ("PING",)]) == [b"1", b"2", True]
    assert await door.together([("HSET", new, "c", 3), ("HGET", new, "b")]) == [1, b"2"]
    async with door.watching(new, first=[("HGET", new, "b")]) as look:
        assert look.first == [b"2"]
        assert await look.read("HGET", new, "c") == b"3"
        await look.commit([("HSET", new, "d", 4)])
    with pytest.raises(RegistryAway):
        # One key is here and the other there: nobody can do this now, and nothing of it is done.
        await door.together([("HSET", old, "x", 1), ("HSET", new, "x", 1)])
    cluster.end_move(move)

    assert await door.together([("HSET", old, "x", 1), ("HSET", new, "x", 1)]) == [1, 1]
    assert await door.call("HGETALL", new) == {b"b": b"2", b"c": b"3", b"d": b"4", b"x": b"1"}
    await door.aclose()


async def test_no_look_and_write_is_lost_while_slots_move(cluster):
    """A hundred counted steps by look and write, while their slot wanders from server to server."""
    door = Door(cluster.url, "test", call_seconds=2)
    key = keys.ledger("counted")
    await door.call("HSET", key, "n", 0)

    async def step() -> None:
        while True:
            try:
                async with door.watching(key) as look:
                    n = int(await look.read("HGET", key, "n"))
                    await look.commit([("HSET", key, "n", n + 1), ("HSET", key, f"done{n}", 1)])
                return
            except (Overtaken, RegistryAway):
                await asyncio.sleep(0.01)

    async def wander() -> None:
        for target in (*cluster.nodes[:3], *cluster.nodes[:3]):
            if target is not cluster.owner(key):
                move = await asyncio.to_thread(cluster.begin_move, key, target)
                await asyncio.sleep(0.1)
                await asyncio.to_thread(cluster.end_move, move)

    async def count() -> None:
        for _ in range(100):
            await step()
            await asyncio.sleep(0.01)

    await asyncio.gather(wander(), count())

    found = await door.call("HGETALL", key)
    assert int(found[b"n"]) == len(found) - 1 == 100
    await door.aclose()


async def test_a_dead_primary_costs_only_its_own_slots_until_its_replica_leads(cluster):
    """kill -9 of one of three: streams elsewhere are read meanwhile, and all of them after the failover."""
    registry = connect(cluster.url, "test", call_seconds=2)
    streams = [StreamId(f"w{n}", "e1") for n in range(12)]
    for stream in streams:
        await registry.events.publish_all(stream, [(1, "k", b"x")])
    doomed = cluster.owner(keys.events(streams[0]))
    theirs = {stream for stream in streams if cluster.owner(keys.events(stream)) is doomed}
    doomed.client().wait(1, 5000)

    doomed.kill()
    read = {event.stream for event in await registry.events.read(dict.fromkeys(streams, 0))}
    await asyncio.to_thread(cluster.await_failover, doomed, keys.events(streams[0]))
    await insist(registry.events.publish("w0", "e1", 2, b"x"), lambda: registry.events.publish("w0", "e1", 2, b"x"))

    assert read >= set(streams) - theirs
    assert {event.stream for event in await registry.events.read(dict.fromkeys(streams, 0))} == set(streams)
    await asyncio.to_thread(cluster.restore, doomed)
    await registry.aclose()


async def test_a_reader_is_woken_by_whatever_server_was_told(cluster):
    """Each server of a Cluster passes the wake-up on to all."""
    registry = connect(cluster.url, "test")
    waiting = asyncio.create_task(registry.events.wait(30))
    ear = cluster.owner(keys.RUNS)
    while not ear.client().pubsub_numsub(keys.WAKE)[0][1]:
        await asyncio.sleep(0.02)

    next(node for node in cluster.nodes if node is not ear).client().publish(keys.WAKE, "e1@w1")

    assert [stream.watcher for stream in await waiting] == ["w1"]
    await registry.aclose()


async def test_a_cluster_behind_a_plain_address_is_said(cluster):
    """`redis://` to a server of a Cluster: the words name the right form."""
    door = Door(f"redis://{cluster.nodes[0].address}", "test")

    with pytest.raises(Refused, match=r"redis\+cluster://"):
        await door.many([("GET", f"rw:{n}") for n in range(30)])

    await door.aclose()


async def test_a_plain_server_behind_a_clusters_address_is_said():
    """`redis+cluster://` to a single server: the words name the right form."""
    with short_home() as home:
        node = Node(home / "server").start()
        door = Door(f"redis+cluster://{node.address}", "test")

        with pytest.raises(Refused, match="no Cluster"):
            await door.call("GET", "rw:x")

        await door.aclose()
        node.stop()
