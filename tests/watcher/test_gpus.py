"""Reading the GPUs through the real pynvml, over a stand-in library that can fail and hang."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from diagnosis.exhibits.gpu_table import read_gpu_table
from diagnosis.observations import GpuSample
from registry.ending import end_all
from watcher.gpu_ring import GpuRing
from watcher.gpus import Gpus

STAND_IN = Path(__file__).with_name("stand_in_nvml.py")
ROOT = STAND_IN.parents[2]


@pytest.fixture
async def look():
    """Watch a scene until something is true of it."""
    running = []

    async def start(scene, until, **options):
        program = f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['x', {scene!r}, '0.05']; "
        command = [sys.executable, "-c", program + f"runpy.run_path({str(STAND_IN)!r}, run_name='__main__')"]
        gpus = Gpus("node17", command=command, **options)
        running.append((gpus, asyncio.create_task(gpus.watch())))
        async with asyncio.timeout(60):
            while not until(gpus):
                await asyncio.sleep(0.01)
        return gpus

    yield start
    for gpus, task in running:
        await end_all([task])
        gpus.close()


async def test_a_healthy_node(look):
    """Eight cards, each with everything a person asks for."""
    gpus = await look("healthy", lambda gpus: gpus.readings >= 2)

    first = gpus.newest[0]
    assert len(gpus.newest) == 8
    assert (first.node, first.uuid, first.utilization_percent) == ("node17", "GPU-0", 97.0)
    assert (first.power_watts, first.power_limit_watts, first.temperature_c) == (612.0, 700.0, 55)
    assert (first.memory_used_bytes, first.memory_total_bytes) == (61 << 30, 80 << 30)
    assert gpus.problem is None
    assert len(gpus.ring) >= 16


@pytest.mark.parametrize(
    ("scene", "words"), [("no driver", "no NVIDIA driver here"), ("mismatch", "driver/library version mismatch")]
)
async def test_what_cannot_be_asked_is_said(look, scene, words):
    """Without a driver the watcher says so and works on without a child."""
    gpus = await look(scene, lambda gpus: gpus.problem and not gpus.alive)

    assert words in gpus.problem
    assert gpus.newest == ()


async def test_a_card_lost_at_the_start_does_not_hide_the_others(look):
    """The one that gives no handle is named; its neighbour is read."""
    gpus = await look("lost at start", lambda gpus: gpus.readings)

    assert [sample.problem for sample in gpus.newest] == [None, "GPU is lost"]
    assert gpus.newest[0].utilization_percent == 97.0
    assert gpus.problem == "GPU 1: GPU is lost"


async def test_a_card_lost_while_running_is_named(look):
    """The card that worked before and falls off the bus keeps its identity."""
    gpus = await look("lost while running", lambda gpus: gpus.problem)

    assert [(sample.uuid, sample.problem) for sample in gpus.newest] == [("GPU-0", None), ("GPU-1", "GPU is lost")]


async def test_a_field_that_is_not_supported_leaves_the_others(look):
    """MIG has no utilization and tells no processes: not known, not zero."""
    gpus = await look("mig", lambda gpus: gpus.readings)

    (sample,) = gpus.newest
    assert (sample.utilization_percent, sample.pids, sample.power_watts) == (None, None, 612.0)
    assert gpus.problem is None


async def test_an_old_driver_without_the_newer_call(look):
    """The older form of the memory call is asked instead."""
    gpus = await look("old driver", lambda gpus: gpus.readings)

    assert gpus.newest[0].memory_used_bytes == 61 << 30


async def test_process_numbers_of_the_host_are_not_believed(look):
    """In a container the driver's numbers mean nothing: that is "not known", while an empty list is "none"."""
    gpus = await look("host numbers", lambda gpus: gpus.readings)

    assert [sample.pids for sample in gpus.newest] == [None, ()]


@pytest.mark.parametrize("scene", ["hangs", "hangs at once"])
async def test_a_driver_that_hangs_is_reported_and_left(look, scene):
    """The reader is killed, not waited for, and what it said last no longer stands."""
    gpus = await look(scene, lambda gpus: gpus.problem, deadline_seconds=1.5, back_off_seconds=[60])

    assert re.match(r"NVML does not answer \(state [A-Z]", gpus.problem)
    assert gpus.newest == ()


async def test_children_that_cannot_be_killed_are_never_more_than_two(look, monkeypatch):
    """Each might hold a wedged driver; a third would add nothing."""
    monkeypatch.setattr("subprocess.Popen.kill", lambda self: None)
    started = []

    gpus = await look(
        "hangs at once",
        lambda gpus: started.append(gpus.alive) or len(started) > 300,
        deadline_seconds=0.5,
        back_off_seconds=[0.01],
    )

    assert max(started) == 2
    monkeypatch.undo()
    gpus.close()


async def test_the_child_ends_with_its_watcher(tmp_path):
    """Nothing of ours stays on a node after a kill -9 of the watcher."""
    program = (
        f"import sys, subprocess, runpy; sys.path.insert(0, {str(ROOT)!r}); "
        f"child = subprocess.Popen([sys.executable, '-c', "
        f"\"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); sys.argv = [0, 'healthy', 1]; "
        f"runpy.run_path({str(STAND_IN)!r}, run_name='__main__')\"], stdout=subprocess.PIPE); "
        "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    child = int(await parent.stdout.readline())

    parent.kill()
    await parent.wait()

    async with asyncio.timeout(60):
        while _lives(child):
            await asyncio.sleep(0.02)


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_child_that_ended_is_no_zombie(look):
    """Without a driver the next try is ten minutes away; the child of this one is not left behind till then."""
    gpus = await look("no driver", lambda gpus: gpus.problem)
    (child,) = gpus._children or [None]

    async with asyncio.timeout(60):
        while child is not None and child.returncode is None:  # asks nobody: only the watcher waits for it
            await asyncio.sleep(0.02)

    assert child is None or not Path(f"/proc/{child.pid}").exists()


def test_the_ring_keeps_the_newest_readings():
    """Old readings go, an unknown value stays unknown."""
    ring = GpuRing(capacity=3)
    for second in range(5):
        ring.add([GpuSample("node17", 0, float(second), uuid="GPU-a", power_watts=100.0 + second)])

    table = list(ring.csv())

    assert table[0].startswith("time,gpu_index,uuid,utilization_percent")
    assert [row.split(",")[0] for row in table[1:]] == ["2.000", "3.000", "4.000"]
    assert table[1] == "2.000,0,GPU-a,,,,102,,,,"
    assert os.linesep not in table[1]


def test_the_ring_tells_when_a_card_was_lost():
    """What the driver said instead of a reading stands in its row, and is read back from the table."""
    ring = GpuRing(capacity=3)
    for second, problem in enumerate(("", "", "GPU is lost", "GPU is lost")):
        ring.add([GpuSample("node17", 0, float(second), uuid="GPU-a", problem=problem or None)])

    read = read_gpu_table(ring.csv(), "node17", lambda _: None)

    assert [row.sample.problem for row in read["node17"].readings[0]] == [None, "GPU is lost", "GPU is lost"]
    assert [one.problem for one in ring.recent("node17", 60.0, 3)] == [None, "GPU is lost", "GPU is lost"]
