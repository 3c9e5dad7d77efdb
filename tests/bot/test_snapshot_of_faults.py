"""What a snapshot holds is enough: `inspect` of it says what a look at the living job said, for each real fault."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.inspect import inspect
from handlers.command import Desk
from handlers.explaining import look
from handlers.stall import pace_of
from registry import connect
from tests.bot.conftest import LIMITS
from tests.watcher.conftest import NOBODY
from watcher.agent import Agent
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool

ROOT = Path(__file__).parents[2]

# Where the log alone tells, its own category is asked for.
FAULTS = [
    ("nan:1:20", "nan_inf", None),
    ("lock:2:20", "storage_stall", 2),
    ("busy:1:20", "collective_hang", 1),
    ("loader:3:20", "storage_stall", 3),
    ("exception:2:20", "rank_crash", 2),
    ("sigkill:1:20", "rank_crash", 1),
    ("exit_early:3:20", "", 3),
    ("none", "none", None),
]


@pytest.fixture
def job(tmp_path):
    """Start a job of four real ranks with a fault; its log."""
    started = []

    def start(fault):
        log = tmp_path / "job.log"
        command = [sys.executable, "-u", "-m", "bot.demo.job", "--dir", str(tmp_path / "job"), "--step-seconds", "0.05"]
        with log.open("ab") as out:
            started.append(
                subprocess.Popen([*command, "--fault", fault], stdout=out, stderr=out, cwd=ROOT, start_new_session=True)
            )
        return log

    yield start
    for one in started:
        if one.poll() is None:
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


@asynccontextmanager
async def a_watcher(tmp_path, log, redis_url):
    settings = WatcherSettings(
        runs=(WatchedRun("run42", (str(log),), pids=(NOBODY,)),),
        node="node002",
        state_dir=tmp_path / "state",
        redis_url=redis_url,
        poll_seconds=0.05,
        heartbeat_seconds=0.3,
        tell_seconds=0.1,
        host_seconds=0.3,
        gpu_seconds=0.0,
    )
    agent = Agent(settings, connect(redis_url, name="watcher"), Spool(settings.home / "spool"))
    task = asyncio.create_task(agent.watch())
    try:
        yield agent
    finally:
        agent.stop()
        await task
        await agent.registry.aclose()
        agent.publisher._disk.close()


async def still(log):
    """Wait until the log has steps and no longer grows."""
    size, since = -1, 0
    async with asyncio.timeout(60):
        while since < 10:
            await asyncio.sleep(0.2)
            now = log.stat().st_size
            since = since + 1 if now == size and b"step 15/" in log.read_bytes() else 0
            size = now


@pytest.fixture
async def snapshot_of(tmp_path, redis_url, registry, job):
    """Let a fault happen under a watcher, ask it for a snapshot: the log, and the folder."""

    async def take(fault, category):
        log = job(fault)
        async with a_watcher(tmp_path, log, redis_url) as agent:
            if category in ("none", "nan_inf"):
                async with asyncio.timeout(60):
                    while b"step 40/" not in log.read_bytes():
                        await asyncio.sleep(0.1)
            else:
                await still(log)
            live = await living(registry)
            folder = await snapshot_by(agent, registry)
        return log, folder, live

    return take


async def snapshot_by(agent, registry):
    """Where the snapshot lies that this watcher took."""
    until = await registry.now() + 60
    request = await registry.requests.ask(agent.watcher, "snapshot", {"run": "run42"}, until)
    return Path((await registry.requests.gather(request, [agent.watcher], until))[agent.watcher].body["path"])


async def living(registry):
    """What /stall says of the job itself at this moment."""
    desk = Desk(registry, None, str, thresholds=LIMITS, ask_deadline_seconds=20.0)
    run = await registry.runs.find("run42")
    picture, _, _ = await look(desk, run, await pace_of(desk, "run42"), explains=True)
    return picture.diagnosis


@pytest.mark.parametrize(("fault", "category", "rank"), FAULTS, ids=[fault.split(":")[0] for fault, _, _ in FAULTS])
async def test_a_snapshot_tells_what_the_living_job_told(snapshot_of, fault, category, rank):
    """Category and culprit come out of the folder alone."""
    log, folder, live = await snapshot_of(fault, category)

    said = inspect([folder]).diagnosis

    expected = {category or str(inspect([log]).diagnosis.category)}
    if category == "none":
        expected.add("slowdown")  # of a machine that became busy meanwhile, and true
    if any("no kernel log" in one for one in said.unknown):
        expected |= (
            {"host_oom"} if fault.startswith("sigkill") else set()
        )  # may not be excluded where it may not be read
    assert str(said.category) in expected, (said.because, said.unknown)
    assert str(live.category) in expected, (live.because, live.unknown)
    assert (said.culprit_rank, live.culprit_rank) == (rank, rank)


# What the driver says of the cards while rank 1 hangs; what is at fault then.
DRIVERS = {"lost while others spin": "gpu_hardware", "hangs at once": "collective_hang"}


@pytest.mark.parametrize("scene", DRIVERS)
async def test_a_snapshot_tells_what_the_driver_told(watching, registry, job, scene):
    """The watcher's own memory of the GPUs is in it, and what the driver said instead of a reading."""
    log = job("busy:1:20")
    agent = await watching(log, run="run42", scene=scene)
    await still(log)
    live = await living(registry)

    said = inspect([await snapshot_by(agent, registry)]).diagnosis

    assert (str(live.category), live.culprit_rank) == (DRIVERS[scene], 1), (live.because, live.unknown)
    assert (str(said.category), said.culprit_rank) == (DRIVERS[scene], 1), (said.because, said.unknown)
