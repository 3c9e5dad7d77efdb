"""Findings on their way: a repeat is refused, order is kept, nothing is trimmed on write."""

import asyncio
import os

import pytest
from redis import Redis

from registry import Forgotten, Refused, RegistryAway, RegistryFull, StreamId, connect, keys, wire
from tests.registry.values import finding

STREAM = StreamId("w1", "e1")


async def test_a_repeat_is_harmless(registry):
    """The same number twice is one event, and the second answer says so."""
    assert await registry.events.publish("w1", "e1", 1, b"x")
    assert not await registry.events.publish("w1", "e1", 1, b"x")

    assert [event.number for event in await registry.events.read({STREAM: 0})] == [1]


async def test_a_star_would_duplicate(registry, redis_url):
    """Negative control: with `*` as ID the same repeat is two entries."""
    client = Redis.from_url(redis_url)
    for _ in range(2):
        client.xadd(keys.events(STREAM), {"b": "x"})

    assert client.xlen(keys.events(STREAM)) == 2


async def test_a_finding_arrives_whole(registry):
    """What was published is what is read, under an id made of watcher, epoch and number."""
    await registry.events.publish("w1", "e1", 7, wire.encode(finding()), finding().key)

    (event,) = await registry.events.read({STREAM: 0})

    assert (event.id, event.key, event.verdict) == ("w1/e1/7", finding().key, finding())


async def test_reading_goes_on_after_a_number(registry):
    """Each stream is read from its own place, in order, in pages."""
    other = StreamId("w2", "e1")
    await registry.events.publish_all(STREAM, [(n, "", b"x") for n in (1, 2, 5, 9)])
    await registry.events.publish_all(other, [(1, "", b"x")])

    events = await registry.events.read({STREAM: 1, other: 0}, count=2)

    assert [(event.stream.watcher, event.number) for event in events] == [("w1", 2), ("w1", 5), ("w2", 1)]


@pytest.mark.parametrize(("there", "after"), [([1, 2], 3), ([], 1)])
async def test_nothing_is_put_behind_a_gap(registry, there, after):
    """A stream that ends before what its watcher sent has lost something, and that comes first."""
    await registry.events.publish_all(STREAM, [(n, "", b"x") for n in there])

    with pytest.raises(Forgotten):
        await registry.events.publish_all(STREAM, [(4, "", b"x")], after=after)

    assert [event.number for event in await registry.events.read({STREAM: 0})] == there


async def test_what_is_trimmed_meanwhile_overtakes_nobody_for_long(registry, redis_url):
    """A bot that settles a lot trims the stream all the time, and the watcher gets through."""
    client, last = Redis.from_url(redis_url), 20
    await registry.events.publish_all(STREAM, [(n, "", b"x") for n in range(1, last + 1)])

    async def trim():
        while True:
            await asyncio.to_thread(client.xtrim, keys.events(STREAM), maxlen=5)
            await asyncio.sleep(0.001)

    trimming = asyncio.create_task(trim())
    for number in range(last + 1, last + 101):
        assert await registry.events.publish_all(STREAM, [(number, "", b"x")], after=number - 1) == 1
    trimming.cancel()


async def test_a_body_nobody_can_read_is_an_event_still(registry):
    """The poison is in opening it, not in reading the stream."""
    await registry.events.publish("w1", "e1", 1, b"\xff\x00")

    (event,) = await registry.events.read({STREAM: 0})

    with pytest.raises(wire.Unreadable):
        _ = event.verdict


async def test_the_highest_number_is_known_after_a_trim(registry, redis_url):
    """What was trimmed still counts, so a watcher does not send it again; an unknown stream has 0."""
    await registry.events.publish("w1", "e1", 5, b"x")
    Redis.from_url(redis_url).xtrim(keys.events(STREAM), maxlen=0)

    assert await registry.events.last_number("w1", "e1") == 5
    assert await registry.events.last_number("w1", "never") == 0


async def test_streams_are_found_without_scanning(registry):
    """A registered stream is known to every reader."""
    for stream in (STREAM, StreamId("node@x", "e2")):
        await registry.events.register(stream)

    assert set(await registry.events.streams()) == {STREAM, StreamId("node@x", "e2")}


async def test_a_reader_is_woken(registry, redis_url):
    """Whoever waits hears which stream has news."""
    waiting = asyncio.create_task(registry.events.wait(30))
    while not Redis.from_url(redis_url).pubsub_numsub(keys.WAKE)[0][1]:
        await asyncio.sleep(0.01)

    await registry.events.publish("w1", "e1", 1, b"x")

    assert await waiting == {STREAM}


async def test_waiting_ends_without_news_and_without_redis(victim):
    """The wake-up is an accelerator only: nothing to hear, or nobody to hear it from, is an empty answer."""
    registry = connect(victim.url, "test")
    assert await registry.events.wait(0.05) == set()

    victim.kill()
    assert await registry.events.wait(0.05) == set()
    victim.start()

    waiting = asyncio.create_task(registry.events.wait(30))
    while not victim.client().pubsub_numsub(keys.WAKE)[0][1]:
        await asyncio.sleep(0.01)
    await registry.events.publish("w1", "e1", 1, b"x")
    assert await waiting == {STREAM}
    await registry.aclose()


async def test_a_full_redis_takes_a_batch_whole_or_not_at_all(victim):
    """If 6 went in without 5, 5 could never follow; so a batch is one transaction."""
    registry = connect(victim.url, "test")
    await registry.events.publish("w1", "e1", 1, b"x")
    used = victim.client().info("memory")["used_memory"]
    victim.client().config_set("maxmemory", used + 300_000)

    async def publish_until_it_is_full() -> None:
        for first in range(2, 100, 6):
            await registry.events.publish_all(STREAM, [(first + n, "", os.urandom(50_000)) for n in range(6)])

    with pytest.raises(RegistryFull):
        await publish_until_it_is_full()
    numbers = [event.number for event in await registry.events.read({STREAM: 0})]

    assert (len(numbers) - 1) % 6 == 0
    await registry.aclose()


async def test_what_redis_may_have_lost_is_marked(victim):
    """Events from before the server's last start are doubtful: the word that they were told may be gone."""
    registry = connect(victim.url, "test")
    await registry.events.publish("w1", "e1", 1, b"x")
    victim.kill()
    victim.start()
    late = connect(victim.url, "late")

    events = await late.events.read({STREAM: 0})

    assert [event.is_resent for event in events] == [True]
    for one in (registry, late):
        await one.aclose()


async def test_a_resent_event_is_marked(registry):
    """A watcher that sends again what Redis lost says so."""
    await registry.events.publish_all(STREAM, [(1, "", b"x")], resent=True)

    assert (await registry.events.read({STREAM: 0}))[0].is_resent


async def test_a_stream_key_of_another_type_is_refused_by_name(registry, redis_url):
    """Somebody else's data under our key stops nothing but this, with a word a person can act on."""
    Redis.from_url(redis_url).set(keys.events(STREAM), "mine")

    with pytest.raises(Refused, match="another type"):
        await registry.events.publish("w1", "e1", 1, b"x")


async def test_a_server_that_does_not_answer_is_not_the_end_of_a_stream(registry, monkeypatch):
    """Whoever reads must learn that nothing could be read: else it believes that it has read everything."""
    await registry.events.publish("w1", "e1", 1, b"{}")
    real = registry._door.many

    async def loading(commands, **how):
        if commands and commands[0][0] == "XRANGE":
            return [RegistryAway("it is loading the dataset in memory")] * len(commands)
        return await real(commands, **how)

    monkeypatch.setattr(registry._door, "many", loading)

    with pytest.raises(RegistryAway):
        await registry.events.read({STREAM: 0})
