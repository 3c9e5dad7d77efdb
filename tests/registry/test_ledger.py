"""The ledger: what is settled stays settled, whatever dies or is lost."""

import asyncio

import pytest
from redis import Redis

from registry import Place, StreamId, connect, keys
from registry.ledger import KEPT_FIELDS, MOST_FAILURES

STREAM = StreamId("w1", "e1")
PLACE = Place("C1", "1700.01", "inc1")


async def published(registry, *numbers):
    await registry.events.publish_all(STREAM, [(number, f"key{number}", b"{}") for number in numbers])
    return {event.number: event for event in await registry.events.read({STREAM: 0}, count=1000)}


async def test_intent_then_delivered(registry):
    """Each step is known to whoever asks next, also to another process."""
    (event,) = (await published(registry, 1)).values()
    assert not (await registry.ledger.state(event)).is_settled

    intent = await registry.ledger.intent(event, "C1", "bot-1")
    assert (await registry.ledger.state(event)).intent == intent

    assert await registry.ledger.delivered(event, PLACE) == 1
    entry = await registry.ledger.state(event)
    assert (entry.place, entry.is_settled) == (PLACE, True)


async def test_many_are_asked_for_at_once(registry, monkeypatch):
    """Whoever takes over a long backlog is told of it in a few answers, not in one for each finding."""
    events = await published(registry, *range(1, 301))
    await registry.ledger.intent(events[7], "C1")
    await registry.ledger.delivered(events[9], PLACE)
    asked, real = [], registry._door._sender.send_many
    monkeypatch.setattr(registry._door._sender, "send_many", lambda *a, **k: (asked.append(1), real(*a, **k))[1])

    entries = await registry.ledger.states(list(events.values()))

    assert entries == [await registry.ledger.state(event) for event in events.values()]
    assert (entries[6].intent.channel, entries[8].is_settled, entries[0].is_settled) == ("C1", True, False)
    assert len(asked) == 1


async def test_the_watermark_waits_for_the_slowest(registry):
    """It stands before the first finding that is not settled, and catches up at once."""
    events = await published(registry, 1, 2, 3)

    assert await registry.ledger.delivered(events[3], PLACE) == 0
    assert await registry.ledger.delivered(events[1], PLACE) == 1
    assert await registry.ledger.delivered(events[2], PLACE) == 3


async def test_a_number_that_never_came_holds_nothing_up(registry):
    """A gap in the count was lost in the spool and can never come: the watermark passes it."""
    events = await published(registry, 1, 5, 1_000_009)

    for number in (1, 5):
        await registry.ledger.delivered(events[number], PLACE)

    assert await registry.ledger.delivered(events[1_000_009], PLACE) == 1_000_009


async def test_only_what_is_settled_is_trimmed(registry, redis_url):
    """Mark, watermark and trim are one transaction; above the watermark everything stays."""
    events = await published(registry, 1, 2, 3)
    await registry.ledger.delivered(events[1], PLACE)
    await registry.ledger.delivered(events[3], PLACE)

    left = [entry for entry, _ in Redis.from_url(redis_url).xrange(keys.events(STREAM))]

    assert left == [b"2-0", b"3-0"]


async def test_a_long_backlog_is_settled_in_any_order(registry):
    """Hundreds of findings settled backwards move the watermark to the end with the last one."""
    events = await published(registry, *range(1, 301))
    for number in range(300, 1, -1):
        await registry.ledger.delivered(events[number], PLACE)

    assert await registry.ledger.delivered(events[1], PLACE) == 300


async def test_the_ledger_does_not_grow_for_ever(registry, redis_url):
    """Settled findings keep their fields for a while, then they go."""
    events = await published(registry, *range(1, 401))
    for event in events.values():
        await registry.ledger.intent(event, "C1")
        await registry.ledger.delivered(event, PLACE)

    fields = Redis.from_url(redis_url).hlen(keys.ledger("w1"))

    assert fields <= 2 * KEPT_FIELDS + 2


async def test_settled_without_words(registry):
    """A muted finding is settled like a told one and says why."""
    (event,) = (await published(registry, 1)).values()

    await registry.ledger.settle(event, "muted", "inc1")

    entry = await registry.ledger.state(event)
    assert (entry.is_settled, entry.place.channel, entry.place.note) == (True, None, "muted")


async def test_a_flushed_redis_does_not_make_us_repeat(registry, redis_url):
    """What this process settled it remembers, and writes down again."""
    events = await published(registry, 1, 2)
    await registry.ledger.delivered(events[1], PLACE)
    Redis.from_url(redis_url).flushall()
    again = await published(registry, 1, 2)

    assert (await registry.ledger.state(again[1])).is_settled
    assert await registry.ledger.settled(STREAM) == 1
    assert [event.number for event in await registry.events.read({STREAM: await registry.ledger.settled(STREAM)})] == [
        2
    ]

    await registry.ledger.delivered(again[2], PLACE)
    other = connect(redis_url, "other")
    assert await other.ledger.settled(STREAM) == 2
    await other.aclose()


async def test_a_spool_that_remembers_lifts_a_lost_ledger(registry, redis_url):
    """A new bot on a flushed Redis begins where the watcher's spool says, not at the beginning."""
    Redis.from_url(redis_url).flushall()
    bot = connect(redis_url, "bot")

    await registry.ledger.raise_floor(STREAM, 7)
    await registry.ledger.raise_floor(STREAM, 3)

    assert await bot.ledger.settled(STREAM) == 7
    await registry.events.publish("w1", "e1", 8, b"{}")
    (event,) = await bot.events.read({STREAM: 7})
    assert await bot.ledger.delivered(event, PLACE) == 8
    await bot.aclose()


async def test_an_old_bot_never_lowers_the_watermark(registry, redis_url):
    """A bot that slept through the work of another one cannot undo it."""
    sleeper, bot = connect(redis_url, "sleeper"), connect(redis_url, "bot")
    events = await published(registry, 1, 2, 3)
    await sleeper.ledger.delivered(events[1], PLACE)
    for number in (2, 3):
        await bot.ledger.delivered(events[number], PLACE)

    await sleeper.ledger.delivered(events[1], PLACE)

    assert await bot.ledger.settled(STREAM) == 3
    assert await sleeper.ledger.settled(STREAM) == 3
    for one in (sleeper, bot):
        await one.aclose()


async def test_two_at_once_lose_no_mark(registry, redis_url):
    """Many settlements of one stream at the same moment all count."""
    events = await published(registry, *range(1, 21))
    doors = [connect(redis_url, f"bot{n}") for n in range(2)]

    async def insist(door, event):
        for _ in range(100):
            try:
                return await door.ledger.delivered(event, PLACE)
            except Exception:
                await asyncio.sleep(0.01)
        raise AssertionError

    await asyncio.gather(*(insist(doors[n % 2], event) for n, event in events.items()))

    assert await registry.ledger.advance(STREAM) == 20
    for door in doors:
        await door.aclose()


async def test_a_poisonous_finding_goes_to_the_dead_letters(registry):
    """After five failed handlings it is set aside with its body and its reason, and the rest flows."""
    events = await published(registry, 1, 2)

    buried = [await registry.ledger.failed(events[1], "KeyError: 'x'") for _ in range(MOST_FAILURES)]

    assert buried == [False] * (MOST_FAILURES - 1) + [True]
    letters = await registry.ledger.dead_letters("w1")
    assert (letters["e1:1"]["why"], letters["e1:1"]["body"]) == ("KeyError: 'x'", "{}")
    assert (await registry.ledger.state(events[1])).is_settled
    assert await registry.ledger.delivered(events[2], PLACE) == 2


async def test_a_finding_that_kills_is_counted(registry):
    """Handlings that never came to an intent are counted, and an intent forgives them."""
    (event,) = (await published(registry, 1)).values()

    assert [(await registry.ledger.begin(event)).tries for _ in range(3)] == [1, 2, 3]
    await registry.ledger.intent(event, "C1")

    assert (await registry.ledger.begin(event)).tries == 1


async def test_watermarks_of_many_streams_come_at_once(registry):
    """Every stream has its own; one never heard of stands at 0."""
    events = await published(registry, 1)
    await registry.ledger.delivered(events[1], PLACE)

    found = await registry.ledger.settled_all([STREAM, StreamId("w2", "e9")])

    assert found == {STREAM: 1, StreamId("w2", "e9"): 0}


async def test_only_streams_that_are_settled_and_idle_are_forgotten(registry, redis_url):
    """A watcher that is gone leaves no stream to read for ever; one with news, or alive, stays."""
    idle, owing, alive = STREAM, StreamId("w2", "e2"), StreamId("w3", "e3")
    for stream in (idle, owing, alive):
        await registry.events.register(stream)
        await registry.events.publish_all(stream, [(1, "", b"{}")])
    for event in await registry.events.read({idle: 0, alive: 0}):
        await registry.ledger.delivered(event, PLACE)
    client = Redis.from_url(redis_url)
    for stream in (idle, owing):
        client.zadd(keys.STREAMS, {str(stream): 1})

    assert (await registry.broom.sweep()).streams == (idle,)

    assert set(await registry.events.streams()) == {owing, alive}
    assert not client.exists(keys.events(idle), keys.ledger("w1"), keys.floor("w1"))


@pytest.mark.parametrize("junk", ["", "x", "{}", "[1]", '{"at": "x"}'])
async def test_a_damaged_mark_still_settles(registry, redis_url, junk):
    """A mark nobody can read is a mark: better told once too few words than twice."""
    (event,) = (await published(registry, 1)).values()
    Redis.from_url(redis_url).hset(keys.ledger("w1"), "e1:1:d", junk)

    assert (await registry.ledger.state(event)).is_settled == bool(junk)
