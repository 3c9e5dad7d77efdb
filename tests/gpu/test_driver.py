"""What the real driver says is read: NVML fields, nvidia-smi's tables, an idle GPU, a busy one, one that spins."""

import asyncio
import io
import subprocess
import time

import pytest

from diagnosis.exhibits.gpu_table import read_gpu_table
from diagnosis.formats.timestamps import Clock
from diagnosis.gpu_reading import GpuState, read_node
from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Scene
from watcher.evidence.nvidia_smi import SmiReport, SmiTable, SmiTopology
from watcher.gpus import Gpus
from watcher.settings import WatchedRun

pytestmark = pytest.mark.gpu

BUSY = "import torch\na = torch.randn(8192, 8192, device='cuda')\nwhile True:\n    a = (a @ a).clamp(-1, 1)\n"
SPIN = (
    "import torch\nx = torch.zeros(1, device='cuda')\n"
    "while True:\n    torch.cuda._sleep(2_000_000_000)\n    torch.cuda.synchronize()\n"
)
"""One thread on one multiprocessor waits: what a rank in a collective looks like."""


@pytest.fixture
async def reading():
    """Our reader at work."""
    gpus = Gpus("here", seconds=0.5)
    task = asyncio.create_task(gpus.watch())
    async with asyncio.timeout(60):
        while gpus.readings < 4:
            await asyncio.sleep(0.1)
    yield gpus
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    gpus.close()


@pytest.fixture
def load(torch_python):
    """Start a program on the GPU."""
    started = []

    def start(code):
        started.append(subprocess.Popen([torch_python, "-c", code]))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


async def test_every_gpu_tells_what_people_ask_for(reading):
    """Name, memory, power, temperature; utilisation except where MIG hides it."""
    assert reading.problem is None
    assert reading.driver
    for sample in reading.newest:
        assert sample.name
        assert sample.uuid
        assert sample.memory_total_bytes
        assert 0 <= (sample.memory_used_bytes or 0) <= sample.memory_total_bytes
        assert sample.temperature_c is None or 0 < sample.temperature_c < 120
        assert sample.power_watts is None or 0 < sample.power_watts < 2000


async def test_nvidia_smi_and_nvml_agree(reading):
    """The table that snapshots hold is read into the same cards."""
    fields = "timestamp,index,uuid,utilization.gpu,memory.used,memory.total,power.draw,power.limit,temperature.gpu"
    said = subprocess.run(
        ["nvidia-smi", f"--query-gpu={fields}", "--format=csv"], capture_output=True, text=True, check=True
    )
    clock = Clock()

    def read_time(text):
        found = clock.find(text)
        return found[2] if found is not None else None

    tables = read_gpu_table(io.StringIO(said.stdout), "here", read_time)

    (table,) = tables.values()
    total = {index: rows[-1].sample.memory_total_bytes for index, rows in table.readings.items()}
    assert {sample.gpu_index for sample in reading.newest} == set(total)
    for sample in reading.newest:
        assert total[sample.gpu_index] == pytest.approx(sample.memory_total_bytes, rel=0.02)


@pytest.mark.parametrize(("code", "states"), [(BUSY, {GpuState.COMPUTING}), (SPIN, {GpuState.SPINNING, GpuState.BUSY})])
async def test_work_and_waiting_are_told_apart(reading, load, code, states):
    """Both read 100 %; power tells them apart."""
    process = load(code)
    seen = set()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not seen & states:
        await asyncio.sleep(2.0)
        assert process.poll() is None
        window = {}
        for sample in reading.ring.recent("here", 6.0, 12):
            window.setdefault(sample.gpu_index, []).append(sample)
        seen = {gpu.state for gpu in read_node(window, node="here").gpus}

    assert seen & states


@pytest.mark.parametrize("collector", [SmiTable(), SmiReport(), SmiTopology()], ids=lambda one: one.name)
def test_nvidia_smi_knows_every_field_that_a_snapshot_asks_for(tmp_path, collector):
    """Each way it is asked is answered, and no field is unknown to it."""
    scene = Scene(WatchedRun("run42", ()), "here")

    result = collector.collect(scene, Bin(tmp_path, 4 << 20, seconds=collector.seconds))

    assert (result.outcome, result.why) == (Outcome.COLLECTED, "")
    (file,) = tmp_path.iterdir()
    assert "not a valid field" not in file.read_text()
