"""One holder: by the lease, by the fence, and by what the machine itself knows of the last holder."""

import asyncio
import os
import subprocess
import sys
import textwrap

import pytest
from redis import Redis

from registry import connect, keys, lease
from registry.ending import end_all
from registry.lease import Holder


async def test_one_of_two_holds(registry):
    """The second waits, and gets it when it is given back."""
    one, other = registry.lease("announcer"), registry.lease("announcer")

    assert await one.take()
    assert not await other.take()
    await one.release()
    assert await other.take()
    assert not one.is_held


async def test_renewing_keeps_it(registry):
    """Whoever renews in time holds it past its first end."""
    one, other = registry.lease("announcer", 4.0), registry.lease("announcer", 4.0)
    await one.take()
    for _ in range(5):
        await asyncio.sleep(1.0)
        assert await one.take()

    assert not await other.take()


async def test_an_unrenewed_lease_passes_on(registry):
    """After its ttl another may take it, and by then the first knows that it holds it no more."""
    one, other = registry.lease("announcer", 0.1), registry.lease("announcer", 30)
    await one.take()
    while not await other.take():
        await asyncio.sleep(0.02)

    assert not one.is_held
    assert not await one.confirm()


async def test_the_fence_counts_the_time_of_the_act(registry, monkeypatch):
    """An act is allowed only if it ends while the lease is surely ours, on a clock that goes on in sleep."""
    now = [1000.0]
    monkeypatch.setattr(lease, "boottime", lambda: now[0])
    one = registry.lease("announcer", 30)
    await one.take()

    assert one.allows(20)
    now[0] += 15
    assert one.allows(10)
    assert not one.allows(20)
    now[0] += 16
    assert not one.is_held


async def test_a_flushed_redis_is_noticed_before_the_act(registry, redis_url):
    """The lease in memory is not enough: right before an act the registry is asked."""
    one, other = registry.lease("announcer"), registry.lease("announcer")
    await one.take()
    Redis.from_url(redis_url).flushall()
    await other.take()

    assert one.is_held
    assert not await one.confirm()
    assert not one.is_held
    assert await other.confirm(20)


async def test_a_killed_holder_on_this_machine_is_followed_at_once(registry, redis_url):
    """kill -9 of the bot does not mean half a minute of silence: the next one sees that it is dead."""
    script = textwrap.dedent("""
        import asyncio, sys, time
        from registry import connect
        async def main():
            registry = connect(sys.argv[1], "other")
            print(await registry.lease("announcer", 600).take(), flush=True)
            await asyncio.sleep(60)
        asyncio.run(main())
    """)
    holder = subprocess.Popen([sys.executable, "-c", script, redis_url], stdout=-1, text=True)
    assert holder.stdout.readline() == "True\n"
    mine = registry.lease("announcer", 30)
    assert not await mine.take()

    holder.kill()
    holder.wait()

    assert await mine.take()


async def test_a_holder_elsewhere_is_never_thought_dead(registry, redis_url):
    """Of another machine or container we cannot know; its ttl decides."""
    elsewhere = Holder("bot-2", "other-boot/pid:[1]", 1, "5", "abc")
    Redis.from_url(redis_url).set(keys.lease("announcer"), str(elsewhere), ex=600)

    assert not elsewhere.is_surely_dead()
    assert not await registry.lease("announcer").take()
    assert await registry.lease("announcer").holder() == "bot-2"


def test_a_reused_pid_is_not_the_holder():
    """The start time belongs to the identity."""
    me = Holder.this_process("me")

    assert not me.is_surely_dead()
    assert Holder(me.name, me.machine, os.getpid(), "12345", "x").is_surely_dead()


async def test_keeping_waits_and_takes(registry):
    """A bot in waiting takes over by itself, and goes on when Redis is away for a moment."""
    one, other = registry.lease("announcer", 60.0), registry.lease("announcer", 0.6)
    await one.take()
    keeper = asyncio.create_task(other.keep())
    await asyncio.sleep(0.2)
    assert not other.is_held

    await one.release()
    while not other.is_held:
        await asyncio.sleep(0.02)
    keeper.cancel()


async def test_an_unreadable_lease_is_respected(registry, redis_url):
    """What we cannot read we do not take."""
    Redis.from_url(redis_url).set(keys.lease("announcer"), b"\xff|x", ex=600)

    assert not await registry.lease("announcer").take()
    assert await registry.lease("announcer").holder() is None


async def test_taking_needs_redis(victim):
    """Away is away; the one who held it holds it no longer than its ttl."""
    registry = connect(victim.url, "test")
    one = registry.lease("announcer", 0.2)
    await one.take()
    victim.kill()

    keeper = asyncio.create_task(one.keep())
    while one.is_held:
        await asyncio.sleep(0.02)
    keeper.cancel()
    await registry.aclose()


@pytest.mark.parametrize(
    ("holder_is_able", "waiter_is_able", "leads"),
    [(True, True, "holder"), (False, True, "waiter"), (False, False, "holder"), (False, None, "holder")],
)
async def test_who_is_not_able_leaves_it_to_who_is(registry, *, holder_is_able, waiter_is_able, leads):
    """Only to one who waits and could do it; alone, or beside one who could not either, it keeps it."""
    holder, waiter = registry.lease("announcer", 0.6), registry.lease("announcer", 0.6)
    await holder.take()
    keeping = [asyncio.create_task(holder.keep(lambda: holder_is_able))]
    if waiter_is_able is not None:
        keeping.append(asyncio.create_task(waiter.keep(lambda: waiter_is_able)))

    wanted = {"holder": holder, "waiter": waiter}[leads]
    for _ in range(2):
        async with asyncio.timeout(30):
            while not wanted.is_held:
                await asyncio.sleep(0.01)
        await asyncio.sleep(1.0)

    await end_all(keeping)


async def test_who_is_not_able_takes_what_nobody_wants(registry):
    """Better one that tries than none."""
    one = registry.lease("announcer", 0.6)
    keeping = asyncio.create_task(one.keep(lambda: False))
    async with asyncio.timeout(30):
        while not one.is_held:
            await asyncio.sleep(0.01)

    await end_all([keeping])
