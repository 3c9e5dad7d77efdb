"""Heartbeats and progress: who lives, who fell silent, how far each rank is."""

import asyncio
import dataclasses

from redis import Redis

from diagnosis.observations import Evidence, GpuSample, Heartbeat, Origin, Phase, ProcessSample, RankProgress
from registry import keys

BEAT = Heartbeat("w1", "node1", 100.0, clock_offset_seconds=0.2, runs=("run42",), problems=("no NVIDIA driver here",))


async def test_a_heartbeat_brings_what_was_observed(registry):
    """The newest samples of GPUs and processes come with it."""
    gpu, process = (
        GpuSample("node1", 0, 100.0, power_watts=88.0),
        ProcessSample("node1", 7, 100.0, "python3", "running"),
    )

    await registry.heartbeats.beat(BEAT, [gpu], [process])

    beat = await registry.heartbeats.get("w1")
    assert (beat.heartbeat, beat.gpus, beat.processes) == (BEAT, (gpu,), (process,))
    assert not beat.is_silent


async def test_a_silent_watcher_is_still_known(registry):
    """After its ttl it is silent, with its last words and their age by the registry's own clock."""
    await registry.heartbeats.beat(BEAT, ttl=0.05)
    await asyncio.sleep(0.1)

    (beat,) = await registry.heartbeats.all()

    assert beat.is_silent
    assert beat.heartbeat == BEAT


async def test_a_wrong_clock_on_the_node_does_not_make_it_silent(registry):
    """Age is measured by the server, whatever time the node writes."""
    await registry.heartbeats.beat(dataclasses.replace(BEAT, time=0.0), ttl=60)

    assert not (await registry.heartbeats.get("w1")).is_silent


async def test_watchers_are_found_by_run(registry):
    """A run's watchers are those whose heartbeat names it."""
    await registry.heartbeats.beat(BEAT)
    await registry.heartbeats.beat(dataclasses.replace(BEAT, watcher="w2", runs=("other",)))

    assert [beat.heartbeat.watcher for beat in await registry.heartbeats.of_run("run42")] == ["w1"]
    assert len(await registry.heartbeats.all()) == 2


async def test_a_damaged_heartbeat_is_passed_over(registry, redis_url):
    """One key nobody can read does not hide the others."""
    await registry.heartbeats.beat(BEAT)
    await registry.heartbeats.beat(dataclasses.replace(BEAT, watcher="w2"))
    Redis.from_url(redis_url).hset(keys.heartbeat("w2"), "heartbeat", "{}")

    assert [beat.heartbeat.watcher for beat in await registry.heartbeats.all()] == ["w1"]


async def test_a_forgotten_watcher_is_gone(registry):
    """A node taken away on purpose is not silent, it is unknown."""
    await registry.heartbeats.beat(BEAT)

    await registry.heartbeats.forget("w1")

    assert await registry.heartbeats.all() == []


async def test_watchers_of_last_month_are_not_read_for_ever(registry, redis_url):
    """Names that come and go with every pod leave the list after a week."""
    Redis.from_url(redis_url).zadd(keys.WATCHERS, {"old-pod": 1})

    await registry.heartbeats.beat(BEAT)

    assert await registry.heartbeats.tidy() == 1
    assert Redis.from_url(redis_url).zrange(keys.WATCHERS, 0, -1) == [b"w1"]


async def test_progress_of_ranks_is_kept_by_rank(registry):
    """Each rank has one newest word; they come in order, those without number last."""
    line = Evidence("a.log", 5, "x" * 10_000)
    first = RankProgress(Origin("run42", "node1", 0, 0), 5, 1.0, 1.0, Phase.TRAINING, line)
    tenth = RankProgress(Origin("run42", "node2", 10, 2), 4, 1.0, 1.0)
    nameless = RankProgress(Origin("run42", "node3"), 3, 1.0, 1.0)

    await registry.ranks.update("run42", [tenth, nameless])
    await registry.ranks.update("run42", [dataclasses.replace(first, step=4), first])

    found = await registry.ranks.all("run42")
    assert [(one.origin.rank, one.step) for one in found] == [(0, 5), (10, 4), (None, 3)]
    assert len(found[0].evidence.text) == 300


async def test_nothing_to_say_is_not_sent(registry):
    """No progress, no key."""
    await registry.ranks.update("run42", [])

    assert await registry.ranks.all("run42") == []


async def test_the_clock_is_the_registrys(registry):
    """The offset of this machine, which serves Redis too, is within its own uncertainty."""
    offset = await registry.clock.measure()

    assert abs(offset.seconds) <= offset.uncertainty_seconds + 0.05
    assert abs(await registry.clock.estimate() - await registry.now()) < 1
