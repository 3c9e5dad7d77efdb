"""A rogue with one watcher's login harms that watcher's findings for a moment, and nobody else's at any time."""

import pytest

from registry import StreamId, connect, keys, upkeep
from tests.registry.values import finding
from watcher.publisher import Publisher
from watcher.spool import Spool

OTHER = StreamId("w2", "e1")


@pytest.fixture
async def story(victim, tmp_path, monkeypatch):
    """A watcher with one finding on its way, another watcher beside it, and a bot that reads both."""
    monkeypatch.setattr(upkeep, "CHECK_EVERY_SECONDS", 0.0)
    made = Story(victim, Spool(tmp_path / "spool"))
    await made.begin()
    yield made
    await made.end()


class Story:
    def __init__(self, victim, spool):
        self.rogue = victim.client()
        # Nothing is promised of how fast a rogue is: 100 MB take a while on a busy machine.
        self.rogue.connection_pool.connection_kwargs["socket_timeout"] = None
        self.spool = spool
        self.registry = connect(victim.url, "w1")
        self.bot = connect(victim.url, "bot")
        self.publisher = Publisher(self.registry, "w1", spool)
        self.told = []

    @property
    def stream(self):
        return StreamId("w1", self.spool.epoch)

    async def begin(self):
        self.publisher.accept(finding(1))
        assert await self.publisher.flush(5)
        await self.bot.events.register(OTHER)
        await self.bot.events.publish("w2", "e1", 1, b"x", "of w2")

    async def end(self):
        self.spool.close()
        await self.registry.aclose()
        await self.bot.aclose()

    async def read(self):
        """What a bot would tell now: the keys, once each; unreadable ones are buried."""
        streams = await self.bot.events.streams()
        for event in await self.bot.events.read(await self.bot.ledger.settled_all(streams)):
            if event.key:
                self.told.append(event.key)
                await self.bot.ledger.settle(event, "told")
            else:
                await self.bot.ledger.bury(event, "unreadable")
        return set(self.told)

    async def watcher_compares(self):
        for way in self.publisher._ways:
            way.checked_at = float("-inf")
        assert await self.publisher.flush(5)


async def test_a_value_of_100_mb_is_never_read(story):
    """It would fill the bot's memory: it is thrown away unread, and the watcher's own findings are sent again."""
    story.rogue.execute_command("XADD", keys.events(story.stream), "9-0", "b", b"x" * (100 << 20))

    assert await story.read() == {"of w2"}
    (sentence,) = (await story.bot.upkeep.turn()).problems.values()
    await story.watcher_compares()

    assert "w1" in sentence
    assert "100 MiB" in sentence
    assert await story.read() == {"of w2", finding(1).key}
    assert (await story.bot.upkeep.turn()).problems == {}
    assert len(await story.bot.ledger.dead_letters("w1")) == 1


async def test_the_largest_id_costs_one_epoch(story):
    """Nothing can follow it, so the watcher goes on in a new stream."""
    story.rogue.execute_command("XADD", keys.events(story.stream), f"{2**64 - 1}-0", "b", b"x")
    assert await story.read() == {"of w2", finding(1).key}
    story.publisher.accept(finding(2))

    assert not await story.publisher.flush(5)
    assert await story.publisher.flush(5)

    assert await story.read() == {"of w2", finding(1).key, finding(2).key}


async def test_a_number_of_ours_that_somebody_took_is_noticed_at_once(story):
    """A rogue writes ahead of us and the bot settles that: our next finding takes a number behind it."""
    story.rogue.execute_command("XADD", keys.events(story.stream), "500-0", "b", b"x")
    assert await story.read() == {"of w2", finding(1).key}
    for n in (2, 3):
        story.publisher.accept(finding(n))
        assert await story.publisher.flush(5)

    assert await story.read() == {"of w2", finding(1).key, finding(2).key, finding(3).key}
    assert len(story.told) == len(set(story.told))


async def test_a_stream_that_was_emptied_is_filled_again(story):
    """XTRIM MAXLEN 0 before anybody read it: the watcher sees the hole and sends its finding again."""
    story.rogue.xtrim(keys.events(story.stream), maxlen=0)

    assert await story.read() == {"of w2"}
    await story.watcher_compares()

    assert await story.read() == {"of w2", finding(1).key}


async def test_entries_that_no_watcher_writes_do_not_stop_a_stream(story):
    """Hundreds of IDs that are not ours, before ours: they go unread, ours come again."""
    story.rogue.delete(keys.events(story.stream))
    for n in range(1, 400):
        story.rogue.execute_command("XADD", keys.events(story.stream), f"1-{n}", "b", b"x")

    assert await story.read() == {"of w2"}
    (sentence,) = (await story.bot.upkeep.turn()).problems.values()
    await story.watcher_compares()

    assert "no watcher of ours" in sentence
    assert await story.read() == {"of w2", finding(1).key}


async def test_another_type_under_a_streams_key_is_said_and_left_alone(story):
    """Somebody's data: not ours to delete. The other watcher's findings are told meanwhile."""
    story.rogue.set(keys.events(story.stream), "mine")

    assert await story.read() == {"of w2"}
    (sentence,) = (await story.bot.upkeep.turn()).problems.values()

    assert "another type" in sentence
    assert story.rogue.get(keys.events(story.stream)) == b"mine"
