"""Why a run stopped, end to end: real processes, real watchers, a real registry, the whole bot, a workspace."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bot.stopping import asked, root_about
from tests.watcher.conftest import WatcherProcess
from watcher.settings import WatchedRun

ROOT = Path(__file__).parents[2]


@pytest.fixture
def job(tmp_path):
    """Start a job of four real processes with a fault in it; its log."""
    started = []

    def start(*arguments):
        log = tmp_path / "job.log"
        command = [sys.executable, "-m", "bot.demo.job", "--dir", str(tmp_path / "job"), "--step-seconds", "0.05"]
        with log.open("ab") as output:
            started.append(
                subprocess.Popen([*command, *arguments], stdout=output, stderr=output, cwd=ROOT, start_new_session=True)
            )
        return log

    yield start
    for one in started:
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


async def test_a_rank_that_hangs_in_a_file_lock_is_named(workspace, quick_bot, watching, job):
    """By several looks at the processes: the root message names it, and so does /stall."""
    log = job("--fault", "lock:2:30")
    await watching(log)

    root = await root_about(workspace, "stalled")
    answer = await asked(workspace, "/stall", "llama-7b")

    assert "rank 2 (node002)" in root["text"]
    assert "Storage or a file lock holds it up: rank 2 (node002) stopped first · confidence: high." in str(
        root["blocks"]
    )
    assert "locks_lock_inode_wait" in str(root["blocks"])
    assert "rank 2 (node002) stopped first" in answer["text"]
    assert "no GPU readings" in str(answer["blocks"])
    assert len(workspace.messages()) == 2


async def test_a_killed_rank_is_named_and_its_consequences_stay_quiet(workspace, quick_bot, watching, job):
    """kill -9 on one rank: one incident with that rank; what the others print is counted."""
    log = job("--fault", "sigkill:1:30")
    await watching(log)

    root = await root_about(workspace, "rank 1")
    await asyncio.sleep(3.0)

    (only,) = workspace.messages()
    assert "llama-7b" in only["text"]
    assert "rank 1 (node002)" in only["text"]
    assert not any("in consequence" in reply["text"] for reply in workspace.replies(root["ts"]))


async def test_a_rank_that_dies_after_a_nan_is_diagnosed_in_the_thread(workspace, quick_bot, watching, job, tmp_path):
    """The NaN heads the thread and is no answer to how the process died: that is asked of the nodes all the same."""
    log = job("--fault", "nan:0:20")
    await watching(log)
    root = await root_about(workspace, "loss is NaN")

    (victim,) = [one for one in workers_of(tmp_path) if ("RANK", "1") in one.items()]
    os.kill(int(victim["pid"]), signal.SIGKILL)
    await workspace.until(lambda: "killed by SIGKILL" in said_in(workspace, root))
    await workspace.until(lambda: "failed first" in said_in(workspace, root))

    told = said_in(workspace, root)
    assert "rank 1 (node002)" in told.lower()
    assert "The numbers went NaN" not in told
    assert "Stop the run soon" not in str(workspace.messages()[0]["blocks"])
    assert len(workspace.messages()) == 1


def said_in(workspace, root):
    return " ".join(str(one.get("blocks")) for one in workspace.replies(root["ts"]))


def workers_of(folder):
    """The environment of each worker of the job in this folder, with its pid."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder).encode() in (process / "cmdline").read_bytes():
                pairs = (process / "environ").read_bytes().decode(errors="replace").split("\0")
                found.append(dict(pair.split("=", 1) for pair in pairs if "=" in pair) | {"pid": process.name})
    return found


async def test_pauses_for_evaluation_and_checkpoints_are_no_stall(workspace, quick_bot, watching, job):
    """Both last longer than the threshold; nothing is said, and /stall calls the pause lawful."""
    log = job("--eval-every", "20", "--save-every", "30", "--pause-seconds", "4")
    await watching(log)

    await asyncio.sleep(8.0)

    assert workspace.messages() == []


async def test_a_lost_gpu_names_its_rank(workspace, quick_bot, watching, job):
    """The driver says that a card is gone while its rank stands: said at once, and /stall says whose it was."""
    log = job("--fault", "busy:1:30")
    await watching(log, scene="lost while others spin")

    await root_about(workspace, "GPU is lost")
    await asyncio.sleep(3.0)
    answer = await asked(workspace, "/stall", "llama-7b")

    assert "A GPU is at fault: rank 1 (node002) failed first" in answer["text"]
    await workspace.until(lambda: "llama-7b-gpus.png" in str(workspace.messages()))


@pytest.mark.parametrize(
    "fault",
    [
        ("hangs at once", "NVML does not answer"),
        ("mismatch", "driver/library version mismatch"),
        ("lost at start", "GPU 1: GPU is lost"),
    ],
)
async def test_a_driver_at_fault_is_said_and_harms_nothing_else(workspace, quick_bot, watching, job, fault):
    """Hung, upgraded under a running job, a card gone: the log is followed all the same, and the answer says so."""
    scene, words = fault
    log = job()
    agent = await watching(log, scene=scene)
    await workspace.until(lambda: words in (agent.gpus.problem or ""))

    async with asyncio.timeout(120):
        while not (answers := [one for one in workspace.messages() if "trains at step" in one["text"]]):
            await workspace.slash("/stall", "llama-7b")
            await asyncio.sleep(1.0)

    assert words in str(answers[0]["blocks"])
    await workspace.until(lambda: agent.runs[0].lag_bytes < 4096)


async def test_a_node_that_fell_silent_when_the_run_stopped_is_named_first(workspace, quick_bot, watching, tmp_path):
    """Two nodes print, one dies with its watcher, the other waits: the dead one is what it waits for."""
    logs = {node: tmp_path / f"{node}.log" for node in ("node001", "node002")}
    for rank, log in enumerate(logs.values()):
        log.write_text("".join(step_line(rank, step) for step in range(1, 30)))
    first = await watching(logs["node001"], "node001")
    dying = WatcherProcess(
        replace(
            first.settings,
            runs=(WatchedRun("llama-7b", (str(logs["node002"]),)),),
            node="node002",
            state_dir=tmp_path / "node002",
        )
    )
    writing = asyncio.create_task(write_steps(logs.values()))
    try:
        async with asyncio.timeout(60):
            while len(await quick_bot.registry.heartbeats.of_run("llama-7b")) < 2:
                await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
    finally:
        writing.cancel()
        dying.kill()

    root = await root_about(workspace, "stalled")
    answer = await asked(workspace, "/stall", "llama-7b")

    assert "node002" in root["text"]
    assert "A node was lost: node002 · confidence: medium." in str(root["blocks"])
    assert "Not heard, and so not looked at: node002" in str(answer["blocks"])


async def write_steps(logs):
    for step in itertools.count(30):
        for rank, log in enumerate(logs):
            with log.open("a") as file:
                file.write(step_line(rank, step))
        await asyncio.sleep(0.1)


def step_line(rank, step):
    return f"[rank{rank}] step {step}/900 loss 2.5 grad_norm 1.0 lr 1e-4\n"
