"""With a key, a node answers only what somebody with the key asked of it, now and here."""

import pytest
from redis import Redis

from diagnosis.observations import Heartbeat
from registry import connect, keys, wire
from registry.signing import Signing

KEY = "a key of thirty-two characters.."


@pytest.fixture
async def opened(redis_url):
    """Doors to the registry, with a key or without."""
    made = []

    def door(name, key=KEY):
        made.append(connect(redis_url, name, request_key=key))
        return made[-1]

    yield door
    for one in made:
        await one.aclose()


async def lives(registry, watcher="w1"):
    """What a watcher does at its start."""
    fields = dict(registry.requests.heartbeat_fields)
    await registry.heartbeats.beat(Heartbeat(watcher, "node17", 0.0, fields=fields))


async def test_who_has_the_key_is_answered(opened):
    """Each of several watchers, by its own word."""
    bot, nodes = opened("bot"), {name: opened(name) for name in ("w1", "w2")}
    for name, node in nodes.items():
        await lives(node, name)

    await bot.requests.ask(["w1", "w2"], "snapshot", {"run": "run42"}, await bot.now() + 20)

    for name, node in nodes.items():
        assert [request.kind for request in await node.requests.next(name, block=1)] == ["snapshot"]


@pytest.mark.parametrize("key", ["", "another key of many characters.."])
async def test_who_has_not_is_refused_and_told(opened, key):
    """The node says so in its problems; the one who asked reads why."""
    stranger, node = opened("bot", key), opened("w1")
    await lives(node)
    until = await stranger.now() + 20
    asked = await stranger.requests.ask("w1", "stop", {"run": "run42"}, until)

    taken = await node.requests.next("w1", block=1)

    assert taken == []
    assert node.requests.problem == "a request was refused: not signed with this watcher's key"
    answers = await stranger.requests.gather(asked, ["w1"], until)
    assert "RUNWATCH_REQUEST_KEY" in answers["w1"].body["error"]


async def test_what_was_good_once_is_good_for_nobody_else(opened, redis_url):
    """Not for another node, not after a restart, not a second time, not with another word in it."""
    bot, node = opened("bot"), opened("w1")
    await lives(node)
    await bot.requests.ask("w1", "snapshot", {"run": "run42"}, await bot.now() + 20)
    client = Redis.from_url(redis_url)
    ((_, good),) = client.xrange(keys.requests("w1"))
    assert len(await node.requests.next("w1", block=1)) == 1
    other, reborn = opened("w2"), opened("w1")
    await lives(other, "w2")
    changed = good | {b"b": good[b"b"].replace(b"snapshot", b"stop")}

    client.xadd(keys.requests("w2"), good)
    client.xadd(keys.requests("w1"), good)
    client.xadd(keys.requests("w1"), changed)

    assert await node.requests.next("w1", block=1) == []
    assert await other.requests.next("w2", block=1) == []
    assert await reborn.requests.next("w1", block=1) == []
    assert (node.requests.refused, other.requests.refused) == (1, 1)
    assert reborn.requests.refused == 3


async def test_a_forged_twin_does_not_take_a_good_ones_place(opened, redis_url):
    """Its id is not remembered."""
    bot, node = opened("bot"), opened("w1")
    await lives(node)
    await bot.requests.ask("w1", "snapshot", {}, await bot.now() + 20)
    client = Redis.from_url(redis_url)
    ((at, good),) = client.xrange(keys.requests("w1"))
    client.xdel(keys.requests("w1"), at)
    client.xadd(keys.requests("w1"), {b"b": good[b"b"]})
    client.xadd(keys.requests("w1"), good)

    assert [request.kind for request in await node.requests.next("w1", block=1)] == ["snapshot"]


async def test_a_watcher_without_a_key_takes_what_is_signed(opened):
    """So the key may be given to bots first, and to the nodes one by one."""
    bot, node = opened("bot"), opened("w1", "")
    await lives(node)

    await bot.requests.ask("w1", "look", {}, await bot.now() + 20)

    assert len(await node.requests.next("w1", block=1)) == 1


async def test_bots_ask_each_other_by_the_key_alone(opened):
    """They have no heartbeat of a watcher."""
    one, announcer = opened("bot"), opened("bot2")

    await one.requests.ask("bot/announcer", "mute", {}, await one.now() + 20)
    await opened("bot3", "").requests.ask("bot/announcer", "close", {}, await one.now() + 20)

    assert [request.kind for request in await announcer.requests.next("bot/announcer", block=1)] == ["mute"]


async def test_any_junk_beside_a_request_is_refused(opened, redis_url):
    """Whatever stands where the signature belongs."""
    node = opened("w1")
    client = Redis.from_url(redis_url)
    body = wire.dump({"id": "0" * 16, "kind": "look", "payload": {}, "deadline": await node.now() + 20})
    for signature in (b"", b"\xff" * 64, "ä".encode() * 32, b"0" * 1_000_000):
        client.xadd(keys.requests("w1"), {b"b": body, b"s": signature})

    assert await node.requests.next("w1", block=1) == []
    assert node.requests.refused == 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("w1", "word\0more", b"body"), ("w1", "word", b"more\0body")),
        (("w1\0word", "", b"body"), ("w1", "word", b"\0body")),
        (("w", "1word", b"body"), ("w1", "word", b"body")),
        (("4:w1", "", b"body"), ("", "w1", b"body")),
    ],
)
def test_no_part_of_what_is_signed_passes_for_another(one, other):
    """Names and words are read from Redis, where a stranger may have written them."""
    signing = Signing(KEY)

    assert signing.sign(*one) != signing.sign(*other)


async def test_after_many_requests_none_is_taken_twice(opened, redis_url, monkeypatch):
    """What is remembered is bounded, and what can still be taken is not forgotten first."""
    monkeypatch.setattr("registry.requests._MOST_REQUESTS", 20)
    bot, node = opened("bot"), opened("w1")
    await lives(node)
    client = Redis.from_url(redis_url)
    await bot.requests.ask("w1", "stop", {}, await bot.now() + 60)
    ((_, good),) = client.xrange(keys.requests("w1"))
    for _ in range(3):
        for _ in range(12):
            await bot.requests.ask("w1", "look", {}, await bot.now() + 20)
        await node.requests.next("w1", block=1)

    client.xadd(keys.requests("w1"), good)

    assert await node.requests.next("w1", block=1) == []


def test_a_short_key_is_none():
    with pytest.raises(ValueError, match="at least 16"):
        Signing("short")


def test_the_key_stands_in_no_text():
    assert KEY not in repr(Signing(KEY)) + str(vars(Signing(KEY)).get("word"))
