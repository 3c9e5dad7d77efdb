"""A real CUDA job that fails for real is told of, and one that does not pays nothing for being watched."""

import os
import signal
import statistics
import subprocess
from contextlib import suppress

import pytest

from tests.bot.conftest import quick_bot, settings, watching, workspace
from tests.bot.stopping import root_about

__all__ = ["quick_bot", "settings", "watching", "workspace"]

pytestmark = pytest.mark.gpu

TRAIN = """\
import sys, time, torch
fault, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
kept = []
for step in range(1, steps + 1):
    began = time.monotonic()
    batch = torch.randn(256, 1024, device="cuda")
    if fault == "oom" and step == 40:
        while True:
            kept.append(torch.empty(4 << 30, dtype=torch.uint8, device="cuda"))
    if fault == "nan" and step == 60:
        optimizer.param_groups[0]["lr"] = 1e30
    loss = (model(batch) - batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}/{steps} loss {loss.item():.4f} step_ms {(time.monotonic() - began) * 1e3:.3f}", flush=True)
    time.sleep(0.0 if fault == "none" else 0.02)
"""


@pytest.fixture
def train(torch_python, tmp_path):
    """Start the job; its log and its process."""
    started = []

    def start(fault, steps=100_000, name="job.log"):
        log = tmp_path / name
        with log.open("ab") as output:
            process = subprocess.Popen(
                [torch_python, "-c", TRAIN, fault, str(steps)],
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=os.environ | {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"},
            )
        started.append(process)
        return log, process

    yield start
    for one in started:
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


async def test_a_cuda_out_of_memory_is_told(workspace, quick_bot, watching, train):
    """In the driver's own words, read from the job's own log."""
    log, _ = train("oom")
    await watching(log)

    root = await root_about(workspace, "ran out of memory", 90.0)

    assert "a GPU ran out of memory" in root["text"]


async def test_a_nan_is_told(workspace, quick_bot, watching, train):
    """A learning rate that no model survives."""
    log, _ = train("nan")
    await watching(log)

    root = await root_about(workspace, "loss is", 90.0)

    assert "NaN" in root["text"] or "infinite" in root["text"]


async def test_a_watched_job_is_not_disturbed(watching, train, record_property):
    """Every step comes; the median step with and without a watcher stands in the report, for people to compare."""
    alone, process = train("none", 1500, "alone.log")
    process.wait(timeout=120)
    watched, process = train("none", 1500, "watched.log")
    await watching(watched)
    process.wait(timeout=120)

    steps = {name: _steps(log) for name, log in (("alone", alone), ("watched", watched))}

    for name, took in steps.items():
        record_property(f"median step {name}, ms", f"{statistics.median(took):.3f}")
    assert {name: len(took) for name, took in steps.items()} == {"alone": 1300, "watched": 1300}


def _steps(log):
    return [float(line.rsplit(" ", 1)[1]) for line in log.read_text().splitlines()[200:] if "step_ms" in line]
