"""Finding the job's processes and reading their state."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from diagnosis.observations import Evidence, GpuSample, Origin, ProcessSample
from diagnosis.signatures import match
from registry import Run
from tests.watcher.conftest import until
from tests.watcher.following import append, lines
from watcher.agent import Agent
from watcher.host import Host
from watcher.jobs import find_members
from watcher.settings import WatchedRun
from watcher.spool import Spool


@pytest.fixture
def start():
    """Start processes as a launcher would, with what it puts into their environment."""
    running = []

    def begin(code="import time; time.sleep(600)", **environment):
        options = {name: environment.pop(name) for name in ("stdout",) if name in environment}
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={"PATH": os.environ["PATH"], "SECRET_TOKEN": "not ours", **environment},
            start_new_session=True,
            **options,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        # What it started too: a rank left behind would be taken for one of every job that is looked at here later.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def named(settings, **changes):
    return replace(settings, runs=(replace(settings.runs[0], **changes),))


async def becomes(host, pid, state):
    """Look until the process is seen in a state."""
    async with asyncio.timeout(60):
        while True:
            await host.look()
            if {process.pid: process.state for process in host.processes}.get(pid) == state:
                return


async def test_ranks_are_found_by_their_environment(settings, start):
    """Global and local rank and the world size come from the launcher."""
    rank = start(RANK="11", LOCAL_RANK="3", WORLD_SIZE="16")
    host = Host(named(settings, pids=(rank.pid,)))

    await becomes(host, rank.pid, "sleeping")

    (found,) = [process for process in host.processes if process.pid == rank.pid]
    assert (found.rank, found.local_rank, found.state, found.node) == (11, 3, "sleeping", "node17")
    assert found.started_at is not None
    assert host.world_size == 16


async def test_the_processes_of_one_run_do_not_count_another(watching, settings, registry, start, log):
    """On a node of several runs only a run's own log says how many ranks it has."""
    other = WatchedRun("run43", (str(log.parent / "other" / "*.log"),))
    rank = start(RANK="0", LOCAL_RANK="0", WORLD_SIZE="16")
    both = replace(settings, runs=(replace(settings.runs[0], pids=(rank.pid,)), other))
    agent = await watching(both)
    append(log, b"using world size: 8, data-parallel-size: 8\n" + lines(1, 30))

    async def told():
        return (await registry.runs.get("run42") or Run("x")).world_size

    assert await until(told) == 8
    assert agent.host.world_size in {None, 16}
    assert (await registry.runs.get("run43")).world_size is None


def test_whoever_writes_the_log_is_the_job(settings, start, log):
    """Without a launcher's environment, the holder of the log file is the process."""
    with log.open("ab") as file:
        writer = start(stdout=file)

    members = find_members(settings.runs)

    assert writer.pid in {member.pid for member in members}


def test_a_process_can_be_named_by_its_command_line(settings, start):
    """Where nothing else tells them apart."""
    process = start("import time; 'run42-marker-x'; time.sleep(600)")

    members = find_members(named(settings, match="run42-marker-x").runs)

    assert [member.pid for member in members] == [process.pid]


async def test_a_rank_that_vanishes_is_told_as_gone(settings, start):
    """Its last CPU time stays, and its rank."""
    rank = start(RANK="2", LOCAL_RANK="2", WORLD_SIZE="4")
    host = Host(named(settings, pids=(rank.pid,)))
    await becomes(host, rank.pid, "sleeping")

    rank.kill()
    rank.wait()

    await becomes(host, rank.pid, "gone")


@pytest.mark.parametrize(("number", "state"), [(signal.SIGSTOP, "stopped"), (signal.SIGKILL, "zombie")])
async def test_a_stopped_or_dead_rank_is_seen(settings, start, number, state):
    """Stopped by somebody, or dead and not yet collected by its parent."""
    rank = start(RANK="2", LOCAL_RANK="2", WORLD_SIZE="4")
    host = Host(named(settings, pids=(rank.pid,)))
    await becomes(host, rank.pid, "sleeping")

    rank.send_signal(number)

    await becomes(host, rank.pid, state)


async def test_a_rank_that_waits_in_the_kernel_is_seen(settings, start, tmp_path):
    """State D, even where another thread of it sleeps."""
    code = (
        "import os, threading, time\n"
        f"fifo = {str(tmp_path / 'fifo')!r}; os.mkfifo(fifo)\n"
        "def stuck(): os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, fifo, os.O_RDONLY, 0)])\n"
        "threading.Thread(target=stuck, daemon=True).start()\n"
        "time.sleep(600)\n"
    )
    rank = start(code, RANK="2", LOCAL_RANK="2", WORLD_SIZE="4")
    host = Host(named(settings, pids=(rank.pid,)))

    await becomes(host, rank.pid, "disk-sleep")


async def test_the_gpus_of_a_process_are_named(settings, start):
    """By what the driver says of its processes."""
    rank = start(RANK="2", LOCAL_RANK="2", WORLD_SIZE="4")
    host = Host(named(settings, pids=(rank.pid,)))
    await host.look()

    told = host.with_gpus([GpuSample("node17", 5, 1.0, pids=(rank.pid, 1))])

    assert {process.gpu_indices for process in told if process.pid == rank.pid} == {(5,)}


async def test_nothing_but_the_wanted_names_is_kept_of_an_environment(settings, start):
    """Secrets stay where they are."""
    rank = start(RANK="2", LOCAL_RANK="2", WORLD_SIZE="4")
    host = Host(named(settings, pids=(rank.pid,)))

    await host.look()

    assert "not ours" not in repr(vars(host))


async def test_memory_and_disks_are_read(settings):
    """For each folder that matters to the job."""
    host = Host(settings)

    await host.look()

    assert host.sample.memory_total_bytes > host.sample.memory_available_bytes > 0
    assert any(free > 0 for free in host.sample.disk_free_bytes.values())


async def test_a_proc_that_does_not_answer_is_said(settings, monkeypatch):
    """Reading a stuck process's command line can hang, too."""
    import threading  # noqa: PLC0415

    release = threading.Event()
    host = Host(settings)
    monkeypatch.setattr(host, "_look", release.wait)

    await host.look(seconds=0.05)

    assert "does not answer" in host.problems[0]
    release.set()


async def test_the_kernels_word_of_a_pid_is_about_its_rank(registry, settings, tmp_path, monkeypatch):
    """The kernel names the process that it ended; which rank that was, the last look at it tells."""
    agent = Agent(settings, registry, Spool(tmp_path / "spool-of-kernel"))
    child = ProcessSample("node1", 4711, 1.0, "python3", "running", rank=5, local_rank=1)
    agent.host._last = {4711: child}
    words = "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:1933680kB, anon-rss:1178156kB"
    seen = []

    async def follow(_):
        for symptom in match(words, Origin(node="node1"), Evidence("kernel log", None, words)):
            yield symptom

    monkeypatch.setattr(agent.kernel_log, "follow", follow)
    monkeypatch.setattr(type(agent.runs[0]), "see", lambda self, symptom: seen.append(symptom.origin))

    await agent._follow_kernel_log()

    assert {(origin.node, origin.rank, origin.local_rank) for origin in seen} == {("node1", 5, 1)}
