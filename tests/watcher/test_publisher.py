"""From the spool into Redis: everything, in order, once, whatever Redis does meanwhile."""

import asyncio
import contextlib

import pytest

from registry import Place, StreamId, connect, keys
from tests.registry.values import finding
from tests.servers import Victim
from watcher import publisher as publisher_module
from watcher.publisher import Publisher
from watcher.spool import Spool, SpoolFull

PLACE = Place("C1", "1.2", "inc1")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Checks that happen every few seconds happen at once."""
    monkeypatch.setattr(publisher_module, "IDLE_SECONDS", 0.02)
    monkeypatch.setattr(publisher_module, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(publisher_module, "LONGEST_PAUSE", 0.1)


@contextlib.asynccontextmanager
async def publishing(url, home):
    """One life of a watcher's publishing side."""
    registry = connect(url, "w1", call_seconds=1)
    spool = Spool(home)
    publisher = Publisher(registry, "w1", spool)
    task = asyncio.create_task(publisher.run())
    try:
        yield publisher, spool
        assert not task.done()
    finally:
        task.cancel()
        spool.close()
        await registry.aclose()


async def until(condition):
    """Wait until something holds, sync or async."""
    while True:
        found = condition()
        if await found if asyncio.iscoroutine(found) else found:
            return
        await asyncio.sleep(0.01)


async def offsets(bot, after=0):
    """Which findings a bot can read, stream by stream, in order."""
    streams = await bot.events.streams()
    events = await bot.events.read(dict.fromkeys(streams, after), count=1000)
    return [event.verdict.evidence[0].offset for event in events]


@contextlib.asynccontextmanager
async def reading(url):
    """A bot's side."""
    opened = connect(url, "bot", call_seconds=1)
    yield opened
    await opened.aclose()


@pytest.fixture
async def bot(victim):
    async with reading(victim.url) as opened:
        yield opened


async def test_what_is_accepted_arrives_and_leaves_when_it_is_settled(victim, bot, tmp_path):
    """In order, and the spool drops it once the ledger calls it settled."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, spool):
        for offset in range(5):
            assert publisher.accept(finding(offset))
        await until(lambda: _is(offsets(bot), [0, 1, 2, 3, 4]))

        events = await bot.events.read({StreamId("w1", spool.epoch): 0})
        for event in events:
            await bot.ledger.delivered(event, PLACE)

        await until(lambda: publisher.pending == 0)
        assert spool.delivered == 5


async def test_what_is_settled_during_a_comparison_is_not_sent_again(victim, bot, tmp_path):
    """It leaves the stream between two questions, and would look as if Redis had lost it."""
    spool = Spool(tmp_path / "spool")
    registry = connect(victim.url, "w1", call_seconds=1)
    publisher = Publisher(registry, "w1", spool)
    for offset in range(3):
        publisher.accept(finding(offset))
    assert await publisher.flush(5)
    look = registry.events.keys

    async def settled_meanwhile(stream, first, last):
        for event in await bot.events.read({stream: 0}):
            await bot.ledger.delivered(event, PLACE)
        return await look(stream, first, last)

    registry.events.keys = settled_meanwhile
    await asyncio.sleep(0.1)  # the next comparison is due
    assert await publisher.flush(5)

    assert (publisher.pending, spool.last_number) == (0, 3)
    spool.close()
    await registry.aclose()


async def test_what_was_never_lost_is_not_doubted(victim, bot, tmp_path):
    """The mark that sends an announcer to look into the channel first is only on what needs it."""
    await until(lambda: victim.client().info("server")["uptime_in_seconds"] >= 3)
    async with publishing(victim.url, tmp_path / "spool") as (publisher, spool):
        publisher.accept(finding(0))
        await until(lambda: _is(offsets(bot), [0]))

        assert not (await bot.events.read({StreamId("w1", spool.epoch): 0}))[0].is_resent


async def test_a_restarted_watcher_publishes_what_it_left(victim, bot, tmp_path):
    """Accepted before the kill, published after it; marked, since it may have been published before."""
    spool = Spool(tmp_path / "spool")
    spool.accept_all([finding(0), finding(1)])
    spool.close()

    async with publishing(victim.url, tmp_path / "spool"):
        await until(lambda: _is(offsets(bot), [0, 1]))

        (stream,) = await bot.events.streams()
        assert all(event.is_resent for event in await bot.events.read({stream: 0}))


async def test_an_emptied_redis_is_refilled_without_a_storm(victim, bot, tmp_path):
    """FLUSHALL: what is not settled comes again and is marked; what was settled does not."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, spool):
        for offset in range(6):
            publisher.accept(finding(offset))
        stream = StreamId("w1", spool.epoch)
        await until(lambda: _is(offsets(bot), [0, 1, 2, 3, 4, 5]))
        for event in (await bot.events.read({stream: 0}))[:4]:
            await bot.ledger.delivered(event, PLACE)
        await until(lambda: spool.delivered == 4)

        victim.client().flushall()
        fresh_bot = connect(victim.url, "fresh")
        await until(lambda: _is(offsets(fresh_bot), [4, 5]))

        assert await fresh_bot.ledger.settled(stream) == 4
        assert all(event.is_resent for event in await fresh_bot.events.read({stream: 4}))
        await fresh_bot.aclose()


async def test_what_an_emptied_redis_lost_comes_before_the_next_finding(victim, bot, tmp_path, monkeypatch):
    """The next finding shows that the stream is gone: nobody waits for the next comparison, and order is kept."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, _):
        publisher.accept(finding(0))
        await until(lambda: _is(offsets(bot), [0]))
        monkeypatch.setattr(publisher_module, "CHECK_SECONDS", 3600.0)
        victim.client().flushall()

        publisher.accept(finding(1))

        await until(lambda: _is(offsets(bot), [0, 1]))


async def test_what_a_redis_lost_that_went_back_a_moment_comes_before_the_next_finding(tmp_path, monkeypatch):
    """Its machine lost its power and is back before anybody called: the next finding must not close over the gap."""
    victim = Victim(tmp_path / "redis", "--appendfsync", "always")
    try:
        async with publishing(victim.url, tmp_path / "spool") as (publisher, _), reading(victim.url) as reader:
            for offset in (0, 1):
                publisher.accept(finding(offset))
            await until(lambda: _is(offsets(reader), [0, 1]))
            monkeypatch.setattr(publisher_module, "CHECK_SECONDS", 3600.0)
            monkeypatch.setattr(publisher_module, "IDLE_SECONDS", 3600.0)
            await asyncio.sleep(0.2)  # the publisher sleeps, and hears nothing of what comes
            synced = {
                file: file.read_bytes()
                for file in (tmp_path / "redis").rglob("*")
                if "append" in file.name and file.is_file()
            }
            for offset in (2, 3):
                publisher.accept(finding(offset))
            await until(lambda: _is(offsets(reader), [0, 1, 2, 3]))
            await asyncio.sleep(0.2)

            victim.kill()
            for file, content in synced.items():
                file.write_bytes(content)
            victim.start()
            publisher.accept(finding(4))

            await until(lambda: _has(offsets(reader), 5))
            assert await offsets(reader) == [0, 1, 2, 3, 4]
    finally:
        victim.stop()


async def test_an_emptied_redis_without_refill_would_lose(victim, bot, tmp_path):
    """Negative control: published once and never compared again, the findings are gone."""
    registry, spool = connect(victim.url, "w1"), Spool(tmp_path / "spool")
    spool.accept(finding(0))
    for record in spool.pending():
        await registry.events.publish("w1", spool.epoch, record.number, record.body)
    victim.client().flushall()

    assert await bot.events.read({StreamId("w1", spool.epoch): 0}) == []
    await registry.aclose()
    spool.close()


async def test_redis_killed_and_paused_under_load(victim, bot, tmp_path):
    """Kills and pauses while findings flow: each is in the stream once, in order."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, _):
        for round_ in range(6):
            for offset in range(50):
                publisher.accept(finding(round_ * 50 + offset))
                await asyncio.sleep(0)
            if round_ % 2:
                victim.pause()
                await asyncio.sleep(0.3)
                victim.resume()
            else:
                victim.kill()
                await asyncio.sleep(0.1)
                victim.start()
        await until(lambda: _has(offsets(bot), 300))

        assert await offsets(bot) == list(range(300))
        assert publisher.problem is None


async def test_a_full_redis_is_waited_for(victim, bot, tmp_path):
    """Out of memory is said, and when there is room again everything arrives."""
    victim.client().config_set("maxmemory", "1")
    async with publishing(victim.url, tmp_path / "spool") as (publisher, _):
        publisher.accept(finding(0))
        await until(lambda: publisher.problem is not None)
        assert "no more writes" in publisher.problem

        victim.client().config_set("maxmemory", "0")
        await until(lambda: _is(offsets(bot), [0]))


async def test_a_full_disk_sends_straight_on(victim, bot, tmp_path, monkeypatch):
    """What the disk does not take goes by memory, the bookmark is held, and the disk is used again when it can."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, spool):
        with monkeypatch.context() as full:
            full.setattr(spool, "accept", _full)
            assert not publisher.accept(finding(1))
            assert not publisher.accept(finding(1))
        assert publisher.holds_bookmark
        assert publisher.unspooled == 1
        await until(lambda: _is(offsets(bot), [1]))

        (stream,) = await bot.events.streams()
        (event,) = await bot.events.read({stream: 0})
        await bot.ledger.delivered(event, PLACE)
        await until(lambda: not publisher.holds_bookmark)

        assert publisher.accept(finding(2))
        assert spool.last_number == 1


async def test_entries_removed_by_hand_come_again(victim, bot, tmp_path):
    """What somebody trimmed from the stream before it was told is sent under new numbers."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, spool):
        for offset in range(3):
            publisher.accept(finding(offset))
        await until(lambda: _is(offsets(bot), [0, 1, 2]))

        victim.client().xtrim(keys.events(StreamId("w1", spool.epoch)), maxlen=1, approximate=False)

        await until(lambda: _is(offsets(bot), [2, 0, 1]))


async def test_a_bricked_stream_is_left_behind(victim, bot, tmp_path):
    """The highest possible number, put there by a rogue, costs the stream and no finding."""
    async with publishing(victim.url, tmp_path / "spool") as (publisher, spool):
        publisher.accept(finding(0))
        await until(lambda: _is(offsets(bot), [0]))
        victim.client().xadd(keys.events(StreamId("w1", spool.epoch)), {"b": "junk"}, id="18446744073709551615-1")

        publisher.accept(finding(1))

        await until(lambda: _newest_is(bot, [0, 1]))


async def test_a_flush_at_the_end_tells_whether_all_is_there(victim, bot, tmp_path):
    """A watcher that stops publishes what it has, for a while."""
    registry, spool = connect(victim.url, "w1", call_seconds=3.0), Spool(tmp_path / "spool")
    publisher = Publisher(registry, "w1", spool)
    publisher.accept(finding(0))
    assert await publisher.flush(10)
    assert await offsets(bot) == [0]

    victim.kill()
    publisher.accept(finding(1))
    assert not await publisher.flush(0.5)

    await registry.aclose()
    spool.close()


async def test_a_spool_that_opens_late_is_adopted(victim, bot, tmp_path):
    """A state directory that could not be used at the start is used as soon as it can."""
    registry = connect(victim.url, "w1")
    publisher = Publisher(registry, "w1", None)
    assert not publisher.accept(finding(0))
    spool = Spool(tmp_path / "spool")

    publisher.adopt(spool)

    assert publisher.accept(finding(1))
    assert await publisher.flush(10)
    assert sorted(await offsets(bot)) == [0, 1]
    await registry.aclose()
    spool.close()


def _full(_):
    raise SpoolFull("no space left on device")


async def _is(found, expected):
    return await found == expected


async def _has(found, count):
    return len(await found) >= count


async def _newest_is(bot, expected):
    events = await bot.events.read({(await bot.events.streams())[-1]: 0})
    return [event.verdict.evidence[0].offset for event in events] == expected
