"""A bad night for evidence: one node silent, one whose nvidia-smi hangs, one whose disk is nearly full."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.app import bot_running
from diagnosis.observations import Heartbeat
from tests.archives import STEP, verified
from tests.bot.conftest import begin_watching
from tests.watcher.conftest import NOBODY
from watcher.evidence.nvidia_smi import SmiReport, SmiTable
from watcher.settings import WatchedRun, WatcherSettings
from watcher.shared_logs import SharedLogs


@pytest.fixture
def hangs(tmp_path, monkeypatch):
    """An nvidia-smi that never answers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/called\nexec sleep 600\n")
    (folder / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(SmiTable, "seconds", 4.0)
    monkeypatch.setattr(SmiReport, "seconds", 4.0)
    yield tmp_path / "called"
    for pid in (tmp_path / "called").read_text().split():
        if Path(f"/proc/{pid}").exists():
            os.kill(int(pid), signal.SIGKILL)


@pytest.fixture
async def nodes(redis_url, tmp_path):
    """Start watchers, each as on a node of its own."""
    async with AsyncExitStack() as stack:

        async def start(node, rank):
            log = tmp_path / f"{node}.log"
            log.write_text("".join(STEP.format(rank=rank, step=step) for step in range(200)))
            settings = WatcherSettings(
                runs=(WatchedRun("run42", (str(log),), pids=(NOBODY,)),),
                node=node,
                state_dir=tmp_path / "state" / node,
                redis_url=redis_url,
                heartbeat_seconds=0.3,
                tell_seconds=0.1,
                gpu_seconds=0.0,
                host_seconds=0.5,
            )
            return await begin_watching(stack, settings)

        yield start


@pytest.fixture
def shared_disk(tmp_path, monkeypatch):
    """Lets all logs lie on a file server; what a watcher of node03 said of its log, which lies beside them."""
    table = tmp_path / "mounts"
    table.write_text(f"44 21 0:51 / {tmp_path} rw,relatime - nfs4 store:/export/training rw\n")
    monkeypatch.setattr("watcher.shared_logs.MOUNTS", table)
    return " ".join(SharedLogs().names_of([str(tmp_path / "node03.log")]))


@pytest.fixture
def full_disk(monkeypatch):
    """Says of a folder that its disk is nearly full."""

    def fill(home):
        real = os.statvfs
        full = SimpleNamespace(f_blocks=1 << 28, f_frsize=4096, f_bavail=1000)
        monkeypatch.setattr("watcher.room.os.statvfs", lambda at: full if str(at).startswith(str(home)) else real(at))

    return fill


@pytest.fixture
def bad_night(nodes, full_disk, shared_disk):
    """Start all three; the one that is fine but for its driver."""

    async def begin():
        fine = await nodes("node01", 0)
        registry = fine.registry
        told = Heartbeat(
            "node03", "node03", await registry.now(), runs=("run42",), fields={"shared_logs/run42": shared_disk}
        )
        await registry.heartbeats.beat(told, ttl=0.01)
        full_disk((await nodes("node02", 1)).settings.home)
        return fine

    return begin


async def test_the_answer_names_all_three_and_the_archives_verify(workspace, settings, bad_night, hangs):
    """It comes by the deadline, the silent node first; what could be saved is whole and without secrets."""
    fine = await bad_night()
    registry = fine.registry
    async with bot_running(settings(snapshot_deadline_seconds=15.0)) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        async with asyncio.timeout(60):
            while len(await registry.heartbeats.of_run("run42")) < 3:
                await asyncio.sleep(0.1)

        await workspace.slash("/snapshot", "run42 before the restart")
        said = await workspace.until(lambda: next(iter(about(workspace)), None))

    whole = str(said["blocks"])
    assert said["text"].startswith("*No answer from* node03 (its watcher was last heard")
    assert "node01 sees the folder of its logs too)" in said["text"]
    assert "1 of 3 nodes" in said["text"]
    assert "nvidia_smi_table: nvidia-smi did not answer in 2 s" in whole
    assert "node02: not enough room" in whole
    assert "*Not yet safe to stop*: node03 did not answer and node02 saved nothing." in whole
    assert len(hangs.read_text().split()) == 1
    (archive,) = fine.settings.state_dir.glob("**/manifest.json")
    assert verified(archive.parent) >= 200


def about(workspace):
    return [one for one in workspace.messages() if "Snapshot of run42" in one["text"]]
