"""What /proc says of the pids that the driver names."""

import os
import subprocess
import sys

import pytest

from diagnosis.observations import GpuSample
from watcher.gpu_holders import holders_of


@pytest.fixture
def zombie():
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    yield child.pid
    child.wait()


@pytest.fixture
def sleeper():
    child = subprocess.Popen(["sleep", "600"])
    yield child.pid
    child.kill()
    child.wait()


def gpu(index: int, *pids: int) -> GpuSample:
    return GpuSample("n1", index, 1.0, memory_used_bytes=70 << 30, pids=pids)


def test_a_zombie_is_seen_with_its_parent(zombie, sleeper):
    """And which GPUs it is on, beside whom."""
    found = holders_of("n1", [gpu(0, zombie, sleeper), gpu(1, zombie)], own={sleeper})

    one = next(holder for holder in found if holder.pid == zombie)
    assert (one.state, one.gpus, one.shares, one.is_of_run) == ("Z", (0, 1), True, False)
    assert one.parent_name.startswith(("python", "pytest"))
    assert one.bytes_there == 140 << 30


def test_a_healthy_process_of_another_run_is_nobodys_left_over(sleeper):
    """The node's runs are known to their watcher."""
    assert holders_of("n1", [gpu(0, sleeper)], own=(), others={sleeper}) == ()


def test_a_pid_outside_the_container_is_said_to_be_unknown():
    """The driver numbers processes as the host does."""
    (one,) = holders_of("n1", [gpu(0, 4194303 + 7)], own=())

    assert (one.state, one.name, one.parent) == ("", "", None)
