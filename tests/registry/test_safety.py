"""Is this Redis safe? Asked at the start and while everything runs; what is wrong is a sentence with its remedy."""

import pytest

from registry import Refused, connect, upkeep
from tests.topologies import Trio, short_home


async def test_a_safe_redis_passes_without_a_word(victim):
    """noeviction and an append-only file need no warning."""
    registry = connect(victim.url, "test")

    assert await registry.check() == []
    await registry.aclose()


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl", "allkeys-random"])
async def test_an_evicting_redis_is_refused(victim, policy):
    """A Redis that may drop findings is no place for them, and the remedy is named."""
    victim.client().config_set("maxmemory-policy", policy)
    registry = connect(victim.url, "test")

    with pytest.raises(Refused, match=f"{policy}.*noeviction"):
        await registry.check()
    await registry.aclose()


async def test_a_forgetful_redis_is_warned_about(victim):
    """Without an append-only file the warning says what a restart would cost."""
    victim.client().config_set("appendonly", "no")
    registry = connect(victim.url, "test")

    (warning,) = await registry.check()

    assert "append-only" in warning
    await registry.aclose()


@pytest.mark.parametrize(("loading", "warnings"), [(0, 1), (1, 0)])
async def test_a_redis_that_still_reads_its_file_is_not_called_forgetful(victim, monkeypatch, loading, warnings):
    """Right after a restart it says that its append-only file is off; it only has not opened it yet."""
    registry = connect(victim.url, "test")
    ask = registry._door.everywhere

    async def everywhere(*command):
        said = await ask(*command)
        return {
            server: answer | ({"aof_enabled": 0, "loading": loading} if "persistence" in command else {})
            for server, answer in said.items()
        }

    monkeypatch.setattr(registry._door, "everywhere", everywhere)

    assert len(await registry.check()) == warnings
    await registry.aclose()


async def test_a_redis_we_may_not_ask_is_said(victim):
    """Where INFO is denied the check says that it could not look."""
    victim.client().execute_command("ACL", "SETUSER", "plain", "on", ">p", "~rw:*", "+@all", "-info")
    registry = connect(f"{victim.url}?username=plain&password=p", "test")

    (warning,) = await registry.check()

    assert "may not ask" in warning
    await registry.aclose()


async def test_a_copy_that_would_evict_is_refused_too():
    """After a failover the copy is the primary: its policy counts now."""
    with short_home() as home:
        trio = Trio(home)
        trio.replica.client().config_set("maxmemory-policy", "allkeys-lfu")
        registry = connect(trio.url, "test")

        with pytest.raises(Refused, match=f"{trio.replica.address} runs with maxmemory-policy allkeys-lfu"):
            await registry.check()

        trio.replica.kill()
        assert any("no replica" in warning for warning in await registry.check())
        await registry.aclose()
        trio.stop()


@pytest.fixture
def at_once(monkeypatch):
    """Upkeep looks at every turn, not three times a minute."""
    monkeypatch.setattr(upkeep, "CHECK_EVERY_SECONDS", 0.0)


async def test_a_policy_that_is_changed_while_we_run_is_noticed(victim, at_once):
    """CONFIG SET after the start: the next look says so, and says no more when it was set right."""
    registry = connect(victim.url, "test")
    assert (await registry.upkeep.turn()).problems == {}

    victim.client().config_set("maxmemory-policy", "allkeys-lru")
    assert "allkeys-lru" in (await registry.upkeep.turn()).problems["policy"]

    victim.client().config_set("maxmemory-policy", "noeviction")
    assert (await registry.upkeep.turn()).problems == {}
    await registry.aclose()


def test_a_policy_is_looked_at_more_than_once_a_minute():
    """What is changed is noticed within a minute."""
    assert upkeep.CHECK_EVERY_SECONDS <= 30


async def test_memory_that_grows_short_is_said_before_it_is_full(victim, at_once):
    """At nine tenths a person should know."""
    registry = connect(victim.url, "test")
    used = victim.client().info("memory")["used_memory"]
    victim.client().config_set("maxmemory", int(used * 1.05))

    (sentence,) = (await registry.upkeep.turn()).problems.values()

    assert "runwatch registry size" in sentence
    await registry.aclose()
