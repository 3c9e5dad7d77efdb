"""The door: limits on every call, no hidden repeats, errors by name, no answer to the wrong question."""

import asyncio
import random

import pytest
from redis import Redis as PlainRedis
from redis.asyncio import Redis as LibraryDefaults

from registry.door import Door
from registry.errors import Overtaken, Refused, RegistryAway, RegistryFull
from registry.naming import name_of


@pytest.fixture
async def door(redis_url):
    opened = Door(redis_url, "test")
    yield opened
    await opened.aclose()


async def test_an_explicit_id_survives_a_paused_server(victim):
    """A call that is repeated because nobody answered leaves one entry, since its ID is its own."""
    door = Door(victim.url, "test", call_seconds=3.0)
    await door.call("PING")
    victim.pause()

    with pytest.raises(RegistryAway, match="within"):
        await door.call("XADD", "rw:s", "1-0", "b", "x")
    asyncio.get_running_loop().call_later(0.2, victim.resume)
    await _insist(door, "XADD", "rw:s", "2-0", "b", "x")

    assert [entry for entry, _ in victim.client().xrange("rw:s")] in ([b"1-0", b"2-0"], [b"2-0"])
    await door.aclose()


async def test_the_library_defaults_would_duplicate(victim):
    """Negative control: the same pause with the library's own retries and a `*` ID appends twice."""
    path = victim.url.removeprefix("unix://")
    client = LibraryDefaults(unix_socket_path=path, protocol=2, socket_timeout=1.2)
    await client.ping()
    victim.pause()
    asyncio.get_running_loop().call_later(4.0, victim.resume)

    await client.xadd("rw:s", {"b": "x"})

    assert victim.client().xlen("rw:s") >= 2
    await client.aclose()


async def test_a_call_that_must_not_be_repeated_is_sent_once(victim):
    """Without leave to repeat, an unanswered append is in the list once at most."""
    door = Door(victim.url, "test", call_seconds=3.0)
    await door.call("PING")
    victim.pause()

    with pytest.raises(RegistryAway):
        await door.call("RPUSH", "rw:l", "x", again=False)
    victim.resume()
    await asyncio.sleep(0.2)

    assert victim.client().llen("rw:l") <= 1
    await door.aclose()


async def test_a_restarted_server_is_met_again_at_the_first_call(victim):
    """Idle connections to a server that is gone cost no call."""
    door = Door(victim.url, "test")
    await asyncio.gather(*(door.call("PING") for _ in range(10)))
    victim.kill()

    with pytest.raises(RegistryAway, match="not reachable"):
        await door.call("PING")
    victim.start()

    assert await asyncio.gather(*(door.call("INCR", "rw:n") for _ in range(10)))
    async with door.watching("rw:n") as look:
        assert int(await look.read("GET", "rw:n")) == 10
    await door.aclose()


async def test_an_answer_never_goes_to_another_question(door):
    """Calls cancelled at any moment never leave their answer to the next caller (CVE-2023-28858)."""
    chance = random.Random(7)
    await asyncio.gather(*(door.call("SET", f"rw:{n}", n) for n in range(20)))

    async def ask(n: int) -> None:
        assert int(await door.call("GET", f"rw:{n}")) == n
        assert [int(v) for v in await door.many([("GET", f"rw:{n}"), ("GET", f"rw:{19 - n}")])] == [n, 19 - n]
        async with door.watching("rw:never{}") as look:
            assert int(await look.read("GET", f"rw:{n}")) == n

    wrong = []
    for _ in range(100):
        tasks = [asyncio.create_task(ask(chance.randrange(20))) for _ in range(10)]
        await asyncio.sleep(chance.uniform(0, 0.004))
        for task in chance.sample(tasks, 5):
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        wrong += [result for result in results if isinstance(result, Exception)]

    assert wrong == []


async def test_a_blocking_read_outlives_the_limit_of_quick_calls(redis_url):
    """A wait of its full block time is an empty answer, not an error."""
    door = Door(redis_url, "test", call_seconds=0.2)

    found = await door.blocking("XREAD", "BLOCK", 600, "STREAMS", "rw:s", "0", block_seconds=0.6)

    assert not found
    await door.aclose()


async def test_a_blocking_read_notices_a_silent_server(victim, monkeypatch):
    """A server that stopped answering is noticed by the deadline, not by an exception of the network."""
    monkeypatch.setattr("registry.door.BLOCK_MARGIN_SECONDS", 0.2)
    door = Door(victim.url, "test")
    victim.pause()

    with pytest.raises(RegistryAway, match="did not answer"):
        await door.blocking("XREAD", "BLOCK", 100, "STREAMS", "rw:s", "0", block_seconds=0.1)
    await door.aclose()


async def test_a_look_ends_in_time_when_the_server_falls_silent(victim):
    """Neither the look nor its tidying up waits longer than the limit."""
    door = Door(victim.url, "test", call_seconds=3.0)

    async def look_and_lose() -> None:
        async with door.watching("rw:k") as look:
            victim.pause()
            await look.read("GET", "rw:k")

    with pytest.raises(RegistryAway):
        await look_and_lose()

    victim.resume()
    assert await _insist(door, "PING")
    await door.aclose()


async def test_somebody_else_was_faster(door, redis_url):
    """A key that changed between look and write is said so, and nothing is written."""

    async def look_and_be_overtaken() -> None:
        async with door.watching("rw:k") as look:
            await look.read("GET", "rw:k")
            PlainRedis.from_url(redis_url).set("rw:k", "theirs")
            await look.commit([("SET", "rw:k", "mine")])

    with pytest.raises(Overtaken):
        await look_and_be_overtaken()

    assert await door.call("GET", "rw:k") == b"theirs"


async def test_a_transaction_over_two_slots_is_our_own_bug(door):
    """What a Cluster would refuse is refused here already."""
    with pytest.raises(ValueError, match="several slots"):
        await door.together([("SET", "rw:{a}:x", 1), ("SET", "rw:{b}:x", 1)])


async def test_a_key_of_another_type_is_named(door):
    """Somebody else's data under our key is a refusal a person can act on."""
    await door.call("SET", "rw:runs", "mine")

    with pytest.raises(Refused, match="another type"):
        await door.call("ZADD", "rw:runs", 1, "x")


async def test_a_full_redis_is_told_from_an_absent_one(victim):
    """Out of memory is RegistryFull: reading works, writing waits."""
    victim.client().config_set("maxmemory", "1")
    door = Door(victim.url, "test")

    with pytest.raises(RegistryFull):
        await door.call("SET", "rw:k", "x" * 1000)

    assert await door.call("GET", "rw:k") is None
    await door.aclose()


async def test_a_refused_password_is_never_printed(victim):
    """Wrong credentials are a refusal, and the message does not hold them."""
    victim.client().execute_command("ACL", "SETUSER", "default", "resetpass", ">right-one")
    door = Door(victim.url + "?password=wrong-one", "test")

    with pytest.raises(Refused) as refused:
        await door.call("PING")

    assert "wrong-one" not in str(refused.value)
    await door.aclose()


async def test_a_thousand_calls_at_once_share_few_connections(door, redis_url):
    """A burst waits for a free connection instead of opening a thousand."""
    await asyncio.gather(*(door.call("INCR", "rw:n") for _ in range(1000)))

    assert int(await door.call("GET", "rw:n")) == 1000
    assert PlainRedis.from_url(redis_url).info("clients")["connected_clients"] <= 80


async def _insist(door: Door, *command: str) -> object:
    for _ in range(50):
        try:
            return await door.call(*command)
        except RegistryAway:
            await asyncio.sleep(0.05)
    raise AssertionError("it never came back")


@pytest.mark.parametrize("is_tls", [True, False])
def test_a_connection_that_tls_reset_says_what_that_may_mean(is_tls):
    """A server that wants a certificate of ours resets, and its reason is lost."""
    said = name_of(ConnectionResetError(104, "Connection reset by peer"), 1.0, is_tls=is_tls)

    assert isinstance(said, RegistryAway)
    assert ("REDIS_TLS_CERT_FILE" in str(said)) is is_tls
