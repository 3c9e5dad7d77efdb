"""A node that a test stands in for answers as a real watcher does: whoever asks cannot tell them apart."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import Evidence, Heartbeat, Origin, RankProgress, StepSample
from diagnosis.thresholds import Thresholds
from handlers.ask_nodes import ask_nodes, ranks_of, views_of
from handlers.command import Desk
from handlers.explaining import facts_of
from registry import wire
from registry.facts import pack
from tests.bot.test_nodes import a_node
from watcher.agent import Agent
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool

LINES = b"".join(b"[rank0] step %d/900 loss 2.5 grad_norm 1.0 lr 1e-4\n" % step for step in range(1, 40))


@asynccontextmanager
async def real(registry, tmp_path, redis_url):
    """A watcher on a log of one rank."""
    log = tmp_path / "job.log"
    log.write_bytes(LINES)
    settings = WatcherSettings(
        runs=(WatchedRun("run42", (str(log),), match="no such process"),),
        node="n1",
        state_dir=tmp_path / "state",
        redis_url=redis_url,
        heartbeat_seconds=0.2,
        tell_seconds=0.1,
        host_seconds=0.3,
        gpu_seconds=0.0,
    )
    agent = Agent(settings, registry, Spool(settings.home / "spool"))
    task = asyncio.create_task(agent.watch())
    async with asyncio.timeout(60):
        while not await registry.ranks.all("run42"):
            await asyncio.sleep(0.05)
    try:
        yield
    finally:
        agent.stop()
        await task
        agent.publisher._disk.close()


@asynccontextmanager
async def stood_in(registry, tmp_path, redis_url):
    """What tests put in its place."""
    del redis_url
    log, now = str(tmp_path / "job.log"), await registry.now()
    place = Origin("run42", "n1", 0)
    progress = RankProgress(place, 39, now, now)
    step = StepSample(place, 39, "printed", 2.5, Evidence(log, 39, "[rank0] step 39"), 1.0, 1e-4)
    account = LogAccount(log, (step,), {"0": (Evidence(log, 39, "[rank0] step 39"),)}, ranks=(0,), node="n1", lines=39)

    async def answer(request):
        told = {"node": "n1", "ranks": [wire.plain(progress)], "processes": [], "problems": []}
        return told | ({"facts": pack(NodeFacts("n1", now, logs=(account,)))} if request.kind == "facts" else {})

    await registry.heartbeats.beat(Heartbeat("n1/run42", "n1", now, runs=("run42",)), ttl=3600)
    await registry.ranks.update("run42", [progress])
    async with a_node(registry, answer, "n1/run42"):
        yield


@pytest.fixture(params=[stood_in, real], ids=["stand-in", "real"])
async def desk(request, registry, redis_url, tmp_path):
    """Somebody who asks, with one of the two there."""

    async def no_chart(*_args, **_kwargs):
        raise AssertionError("nothing is drawn")

    async with request.param(registry, tmp_path, redis_url):
        yield Desk(registry, no_chart, lambda: "T1", ask_deadline_seconds=8.0, thresholds=Thresholds())


@pytest.mark.parametrize("kind", ["look", "facts"])
async def test_a_fresh_look_tells_node_and_ranks(desk, kind):
    """One node, heard now; rank 0 at step 39."""
    asked = await ask_nodes(desk, "run42", kind, {}, desk.ask_deadline_seconds)

    (view,) = views_of(asked)
    (rank,) = ranks_of(asked, ())
    assert (view.node, view.is_silent) == ("n1", False)
    assert (rank.origin.rank, rank.step) == (0, 39)


async def test_the_facts_hold_the_log(desk, tmp_path):
    """Its name, its length, its newest step and last line."""
    asked = await ask_nodes(desk, "run42", "facts", {"stands": True}, desk.ask_deadline_seconds)

    (facts,) = facts_of(asked).values()
    (log,) = facts.logs
    assert (log.file, log.lines, log.ranks) == (str(tmp_path / "job.log"), 39, (0,))
    assert [seen.step for seen in log.observations if isinstance(seen, StepSample)][-1] == 39
    assert log.newest["0"][-1].line == 39
    assert facts.processes == ()
    assert facts.gpus == ()
