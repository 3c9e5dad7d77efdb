"""Everything each role does in the registry, once: the same lives are led on every kind of Redis and under every user."""

import time

from redis import Redis

from diagnosis.observations import GpuSample, Heartbeat, Origin, ProcessSample, RankProgress
from diagnosis.series import Mark
from registry import Place, Registry, StreamId, keys, wire
from registry.audit import Entry
from registry.broom import MOST_ATTEMPTS, MOST_MARKS
from registry.dead_letters import MOST_LETTERS
from registry.requests import Request
from tests.registry.values import RUN, finding, samples

WATCHER = "node1/run42"
EPOCH = "e1"
STREAM = StreamId(WATCHER, EPOCH)


async def live_as_watcher(registry: Registry, watcher: str = WATCHER, run: str = RUN) -> None:
    """What `runwatch watch` does, from the first line to the end of an attempt."""
    stream = StreamId(watcher, EPOCH)
    await registry.clock.measure()
    now = time.time()
    gpu, process = GpuSample("node1", 0, now), ProcessSample("node1", 77, now, "python", "running")
    await registry.heartbeats.beat(Heartbeat(watcher, "node1", now, runs=(run,)), [gpu], [process])
    await registry.runs.see(run, owner="somebody", last_step=1)
    await registry.runs.limits(run)
    assert await registry.series.claim_writer(run, watcher)
    assert await registry.series.claim_writer(run, watcher)
    await registry.runs.begin_attempt(run, 0, first_step=0.0)
    assert await registry.series.append(run, 0, samples([3.0, 2.5, float("nan")]))
    assert await registry.series.append(run, 0, samples([2.4] * 30, first=3))
    assert await registry.series.append(run, 0, samples([2.3] * 3000, first=100))
    await registry.series.mark(run, [Mark("jump", 3.0, None, 9.0)])
    await registry.series.stored(run)
    await registry.ranks.all(run)
    await registry.ranks.update(run, [RankProgress(Origin(run, "node1", 0, 0), 7, now, now)])
    await registry.events.register(stream)
    await registry.events.last_number(watcher, EPOCH)
    await registry.ledger.raise_floor(stream, 0)
    assert await registry.events.publish_all(stream, [(n, f"k{n}", wire.encode(finding(n))) for n in (1, 2, 3)]) == 3
    assert await registry.events.publish_all(stream, [(3, "k3", b"")], after=3) == 0
    assert await registry.events.last_number(watcher, EPOCH) == 3
    await registry.events.keys(stream, 1, 3)
    await registry.ledger.settled(stream)
    await registry.ledger.raise_floor(stream, 1)
    await registry.runs.end_attempt(run, 0, "finished", last_step=99.0)


async def answer_as_watcher(registry: Registry, watcher: str = WATCHER) -> Request:
    """Take one request and answer it."""
    (request,) = await registry.requests.next(watcher, block=10)
    await registry.requests.answer(request, {"fine": True})
    return request


async def live_as_bot(registry: Registry, watcher: str = WATCHER, run: str = RUN) -> None:
    """What `runwatch bot` does with what that watcher wrote."""
    lease = registry.lease("announcer", 5)
    assert await lease.take()
    assert await lease.take()
    assert await lease.confirm(0.1)
    assert await lease.holder()
    await registry.check()
    await registry.events.register(StreamId("bot/monitor", "b1"))
    await registry.events.publish_all(StreamId("bot/monitor", "b1"), [(1, "", wire.encode(finding()))])
    streams = await registry.events.streams()
    settled = await registry.ledger.settled_all(streams)
    told = 0
    for event in await registry.events.read(settled):
        await registry.ledger.begin(event)
        await registry.ledger.intent(event, "C1", "bot")
        assert not (await registry.ledger.state(event)).is_settled
        if event.number == 3:
            await registry.ledger.failed(event, "test")
            await registry.ledger.bury(event, "test")
        else:
            await registry.ledger.delivered(event, Place("C1", "1.0", "i1"))
        told += 1
        await registry.ledger.advance(event.stream)
    assert told >= 3
    assert await registry.ledger.dead_letters(watcher)
    await registry.events.wait(0.05)
    await registry.incidents.save("i1", run, {"head": "x"}, timeline={"e1": {"at": 1}})
    await registry.incidents.save("i2", run, {"head": "x"}, is_open=False)
    assert await registry.incidents.get("i1")
    await registry.incidents.timeline("i1")
    assert set(await registry.incidents.all_open()) == {"i1"}
    assert set(await registry.incidents.recent()) == {"i1", "i2"}
    assert set(await registry.incidents.open_of(run)) == {"i1"}
    await registry.mutes.add("m1", time.time() + 60, {"run": run})
    await registry.mutes.add("m2", 1.0, {"run": run})
    assert set(await registry.mutes.active(time.time())) == {"m1"}
    assert await registry.mutes.remove("m1")
    for book in (registry.routes, registry.digests, registry.languages):
        await book.put("a", {"channel": "C1"})
        assert await book.all() == {"a": {"channel": "C1"}}
        assert await book.remove("a")
    await registry.audit.write(Entry(1.0, "U1", "T1", "viewer", "button", "acknowledge"))
    assert await registry.audit.newest()
    assert (await registry.audit.verify()).broken_at is None
    assert await registry.seen.first("E1")
    assert not await registry.seen.first("E1")
    assert (await registry.runs.find(run)).owner == "somebody"
    await registry.runs.update(run, channel="C2", limits={"jump_delta": 0.5})
    await registry.runs.attempts(run)
    await registry.runs.environments(run)
    assert await registry.ranks.all(run)
    assert await registry.heartbeats.of_run(run)
    assert await registry.heartbeats.all()
    assert await registry.heartbeats.get(watcher)
    assert len((await registry.series.newest(run, 50)).loss.steps) == 50
    await registry.series.whole(run)
    assert (await registry.upkeep.turn()).problems == {}
    assert await registry.runs.all()
    assert await registry.runs.partly(await registry.runs.names(), ("state",))
    assert await registry.series.stored(run)
    await look_inside(registry, run)
    await answer_as_bot(registry)
    await lease.release()


async def sweep_as_bot(registry: Registry, client: Redis) -> None:
    """A sweep that finds something of every kind; `client` puts what is old there."""
    client.zadd(keys.RUNS, {"old": 1.0})
    client.hset(keys.run("old"), "owner", '"x"')
    client.hset(keys.run("old", "series"), "0", "{}")
    client.zadd(keys.run("old", "incidents"), {"i9": 1.0})
    client.zadd(keys.WATCHERS, {"old": 1.0})
    client.hset(keys.MUTES, "old", "{}")
    client.zadd(keys.STREAMS, {"e9@old": 1.0})
    client.hset(keys.ledger("old"), "e9:w", "7")
    client.zadd(keys.RUNS, {"crashing": time.time()})
    client.hset(keys.run("crashing", "series"), mapping={str(n): "{}" for n in range(70)})
    client.hset(keys.run("crashing", "marks"), mapping={str(n): "{}" for n in range(MOST_MARKS + 1)})
    client.hset(keys.run("crashing", "attempts"), mapping={str(n): "{}" for n in range(MOST_ATTEMPTS + 1)})
    client.zadd(keys.DEAD, {"dying": time.time()})
    client.hset(keys.dead("dying"), mapping={str(n): "{}" for n in range(MOST_LETTERS + 1)})
    swept = await registry.broom.sweep()
    assert (swept.runs, [str(stream) for stream in swept.streams]) == (("old",), ["e9@old"])
    assert swept.attempts
    assert swept.small_things >= 5
    await registry.ledger.discard(StreamId("dying", "e9"), "test")
    await registry.heartbeats.forget("old")


async def ask_as_bot(registry: Registry, watcher: str = WATCHER) -> None:
    """Ask that watcher and wait for its answer."""
    until = await registry.now() + 10
    request = await registry.requests.ask(watcher, "stall", {"run": RUN}, until)
    assert (await registry.requests.gather(request, [watcher], until))[watcher].body == {"fine": True}


async def look_inside(registry: Registry, run: str = RUN) -> None:
    """What `runwatch registry` shows."""
    assert await registry.inspection.streams()
    assert await registry.inspection.letters()
    assert (await registry.inspection.sizes()).runs
    assert await registry.inspection.size_of(run)
    assert (await registry.inspection.export(run))["run"]["name"] == run


async def answer_as_bot(registry: Registry) -> None:
    """The announcing bot answers what other bots ask it for."""
    until = await registry.now() + 10
    request_id = await registry.requests.ask("announcer", "acknowledge", {}, until)
    (request,) = await registry.requests.next("announcer", block=10)
    await registry.requests.answer(request, {"done": True})
    assert await registry.requests.gather(request_id, ["announcer"], until)


async def live_as_reader(registry: Registry, watcher: str = WATCHER, run: str = RUN) -> None:
    """What a person's terminal does, which only looks."""
    await registry.now()
    assert await registry.runs.all()
    assert await registry.runs.partly(await registry.runs.names(), ("state",))
    assert await registry.runs.find(run)
    await registry.runs.attempts(run)
    await registry.ranks.all(run)
    await registry.heartbeats.of_run(run)
    await registry.heartbeats.all()
    await registry.series.whole(run)
    await registry.series.newest(run, 10)
    await registry.incidents.all_open()
    await registry.incidents.of_run(run)
    await registry.incidents.timeline("i1")
    await registry.mutes.active(time.time())
    await registry.routes.all()
    await registry.digests.all()
    await registry.languages.all()
    await registry.audit.newest()
    await registry.audit.verify()
    streams = await registry.events.streams()
    await registry.ledger.settled_all(streams)
    await registry.ledger.dead_letters(watcher)
    await look_inside(registry, run)
