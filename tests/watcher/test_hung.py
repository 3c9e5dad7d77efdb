"""What hangs in the kernel, for real: a dead mount under a log, and tools that SIGKILL cannot end."""

import asyncio
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from registry.ending import end_all
from tests.watcher.following import append, lines
from tests.watcher.test_worker import Told
from watcher.bins import Bin
from watcher.evidence import programs
from watcher.evidence.collector import Outcome, Scene
from watcher.evidence.disks import Disks
from watcher.evidence.programs import Program
from watcher.gpus import Gpus
from watcher.run_watch import RunWatch
from watcher.settings import WatchedRun

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/fuse").exists(), reason="needs root and /dev/fuse"),
]


@pytest.fixture
def mount(tmp_path):
    folder = tmp_path / "share"
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("hung_fs.py")), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    if server.stdout.readline() != b"ready\n":
        pytest.skip("this machine mounts no FUSE file system")
    yield folder
    server.stdin.close()
    server.wait()


async def test_a_log_on_a_dead_mount_does_not_hold_the_others(mount, settings, log):
    """It is named, and the neighbour's lines come as if nothing were."""
    log.write_bytes(lines(0, 10))
    run = replace(settings.runs[0], logs=(*settings.runs[0].logs, str(mount / "*.log"), str(mount / "stuck.log")))
    watch = RunWatch(run, replace(settings, read_deadline_seconds=0.5), Told(), "node17/run42")
    task = asyncio.create_task(watch.watch())

    async with asyncio.timeout(60):
        while not any("does not answer" in problem for problem in watch.problems):
            await asyncio.sleep(0.05)
        append(log, lines(10, 20))
        while [rank.step for rank in watch.reporting.progress.all()] != [19]:
            await asyncio.sleep(0.05)

    watch.stop()
    await task


def test_a_dead_mount_is_named_and_the_other_disks_are_looked_at(mount, tmp_path):
    """Nobody asks it a second time while it is silent."""
    scene = Scene(WatchedRun("run42", ()), "node17", folders=(tmp_path, mount))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        result = Disks().collect(scene, Bin(tmp_path / name, 1 << 20))
        said = (tmp_path / name / "disks.txt").read_text().splitlines()

        assert result.outcome is Outcome.TIMED_OUT
        assert result.why.startswith(f"{mount} gave no answer")
        assert [line.split(":")[0] for line in said] == [str(tmp_path), str(mount), "/dev/shm"]
        assert ["inodes free" in line for line in said] == [True, False, True]

    assert sum(thread.name == "disks" for thread in threading.enumerate()) == 1


def test_a_tool_that_cannot_be_killed_is_left_and_not_started_again(mount, tmp_path, monkeypatch):
    """nvidia-smi in a wedged driver: said with state and place, and no second one while it hangs."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nexec cat {mount / 'stuck.log'}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    program = Program(("nvidia-smi", "-q"), "report.txt")

    first = program.collect(Bin(tmp_path, 1 << 20), 0.5)
    second = program.collect(Bin(tmp_path, 1 << 20), 0.5)

    assert first.outcome is Outcome.TIMED_OUT
    assert "state D" in first.why
    assert (second.outcome, "still hangs" in second.why) == (Outcome.UNAVAILABLE, True)
    programs._left_behind.clear()


async def test_a_gpu_reader_that_cannot_be_killed_is_left(mount):
    """The state of the child is part of the sentence, and the process goes on."""
    gpus = Gpus(
        "node17", command=("cat", str(mount / "stuck.log")), deadline_seconds=0.5, back_off_seconds=[0.1, 0.1, 60.0]
    )
    task = asyncio.create_task(gpus.watch())

    async with asyncio.timeout(60):
        while gpus.alive < 2 or not gpus.problem:
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)

    assert gpus.alive == 2
    assert "NVML does not answer (state" in gpus.problem
    await end_all([task])
