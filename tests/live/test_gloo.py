"""Real PyTorch jobs of four ranks over gloo that fail for real: each gives the right thread, with the right rank."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from registry import connect
from tests.bot.conftest import bot_running, quick_bot, settings, watching, workspace
from tests.bot.stopping import asked, root_about
from watcher.agent import Agent
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool

__all__ = ["quick_bot", "settings", "watching", "workspace"]

pytestmark = pytest.mark.live
PYTHON = os.environ.get("RUNWATCH_LIVE_PYTHON", sys.executable)
TRAIN = Path(__file__).with_name("train.py")


@pytest.fixture(scope="module", autouse=True)
def pytorch():
    """Skips, and says why, where PyTorch cannot be imported."""
    found = (
        subprocess.run(
            [PYTHON, "-c", "import torch.distributed as d; assert d.is_gloo_available()"],
            capture_output=True,
            text=True,
            check=False,
        )
        if Path(PYTHON).exists()
        else None
    )
    if found is None or found.returncode:
        why = "no such Python" if found is None else (found.stderr.strip().splitlines() or ["no gloo"])[-1]
        pytest.skip(f"no PyTorch with gloo in {PYTHON}: {why}")


@pytest.fixture
def memory_group():
    """A control group of 400 MiB; skips where none may be made."""
    parents = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
    parent = next((one for one in parents if (one / "cgroup.procs").exists()), None)
    folder = (parent or Path("/nowhere")) / f"runwatch-live-{os.getpid()}"
    try:
        folder.mkdir()
        is_old = (folder / "memory.limit_in_bytes").exists()
        (folder / ("memory.limit_in_bytes" if is_old else "memory.max")).write_text(str(400 << 20))
    except OSError as error:
        pytest.skip(f"no memory group can be made here: {error.strerror}")
    yield folder
    with suppress(OSError):
        folder.rmdir()


@pytest.fixture
def train(tmp_path):
    """Start torchrun; its log."""
    started = []

    def start(*arguments):
        log = tmp_path / "torchrun.log"
        command = [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", "4", "--tee", "3", "--standalone"]
        with log.open("ab") as output:
            started.append(
                subprocess.Popen(
                    [*command, str(TRAIN), "--dir", str(tmp_path), *arguments],
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
                )
            )
        return log

    yield start
    for one in started:
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


async def test_a_rank_that_waits_for_a_file_lock(workspace, quick_bot, watching, train, tmp_path):
    """Somebody else holds it; three ranks wait in the all-reduce."""
    with (tmp_path / "index.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        await watching(train("--fault", "lock:2:40"))

        root = await root_about(workspace, "stalled", 60.0)

    assert "rank 2 (node002)" in root["text"]


async def test_a_rank_whose_data_does_not_come(workspace, quick_bot, watching, train, tmp_path):
    """Its loader waits for a dead file server."""
    os.mkfifo(tmp_path / "shard-00017.bin")
    await watching(train("--fault", "loader:1:40"))

    root = await root_about(workspace, "stalled", 60.0)

    assert "rank 1 (node002)" in root["text"]


async def test_a_rank_that_is_killed(workspace, quick_bot, watching, train):
    """One thread with its rank; what the others print of it is counted."""
    await watching(train("--fault", "sigkill:3:40"))

    root = await root_about(workspace, "SIGKILL", 60.0)

    assert "rank 3 (node002)" in root["text"]
    assert workspace.replies(root["ts"]) == []


async def test_a_rank_that_leaves_out_a_collective(workspace, quick_bot, watching, train):
    """It does not average its gradients, so that its next all-reduce meets another one."""
    await watching(train("--fault", "skip:2:40", "--timeout", "20"))

    root = await root_about(workspace, "rank 2 (node002)", 90.0)

    assert root["text"]


async def test_a_rank_that_fills_its_memory_group(workspace, quick_bot, watching, train, memory_group):
    """The kernel ends it; the log only shows SIGKILL, the kernel and the group's counter tell why."""
    await watching(train("--fault", "memory:1:40", "--memory-group", str(memory_group)))

    await root_about(workspace, "out of memory", 90.0)

    root = await root_about(workspace, "rank 1 (node002)", 20.0)
    assert "out of memory" in root["text"]


async def test_a_loss_that_is_nan_on_one_rank(workspace, quick_bot, watching, train):
    """Its own check says so before the others hear of it."""
    await watching(train("--fault", "nan_here:3:40"))

    root = await root_about(workspace, "rank 3 (node002)", 60.0)

    assert "NaN" in root["text"]


async def test_a_loss_that_becomes_nan(workspace, quick_bot, watching, train):
    """A learning rate that no model survives."""
    await watching(train("--fault", "nan:0:60"))

    root = await root_about(workspace, "loss is", 60.0)

    assert "NaN" in root["text"] or "infinite" in root["text"]


@pytest.mark.skipif("RUNWATCH_LIVE_MINUTES" not in os.environ, reason="by hand: RUNWATCH_LIVE_MINUTES=10 make live")
async def test_a_healthy_job_says_nothing_for_minutes(workspace, settings, redis_url, train, tmp_path):
    """With every limit as it is shipped: steps, evaluations of twenty seconds, and no word in Slack."""
    minutes = float(os.environ["RUNWATCH_LIVE_MINUTES"])
    log = train("--eval-every", "400", "--pause-seconds", "20", "--steps", "1000000")
    known = WatcherSettings(
        runs=(WatchedRun("llama-7b", (str(log),)),), node="node002", state_dir=tmp_path / "state", redis_url=redis_url
    )
    agent = Agent(known, connect(redis_url, name="watcher-node002"), Spool(known.home / "spool"))
    task = asyncio.create_task(agent.watch())
    try:
        async with bot_running(settings()):
            await workspace.connected()
            await asyncio.sleep(60.0 * minutes)

            assert workspace.messages() == []
            assert log.read_bytes().count(b"evaluating at step") >= 2 * minutes
    finally:
        agent.stop()
        await task
        await agent.registry.aclose()
        agent.publisher._disk.close()


async def test_a_healthy_job_with_long_evaluations(workspace, quick_bot, watching, train):
    """Nothing is said, and /stall calls it training or a lawful pause."""
    log = train("--eval-every", "30", "--steps", "10000")
    await watching(log)
    await workspace.until(lambda: b"evaluating at step 90" in log.read_bytes(), 90.0)

    answer = await asked(workspace, "/stall", "llama-7b")

    assert workspace.messages() == [answer]
    assert "trains" in answer["text"] or "pauses lawfully" in answer["text"]
