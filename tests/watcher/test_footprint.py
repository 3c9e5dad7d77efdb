"""How little of a node a watcher takes."""

import subprocess
import sys
from pathlib import Path

from tests.watcher.conftest import findings, until
from tests.watcher.following import append, lines

MIB = 1 << 20
FORBIDDEN = (
    "numpy",
    "pandas",
    "matplotlib",
    "slack_bolt",
    "slack_sdk",
    "aiohttp",
    "rich",
    "pynvml",
    "bot",
    "handlers",
    "charts",
)


def test_nothing_heavy_is_imported():
    """Neither Slack nor charts nor tables, nor the driver's library, which lives in the child."""
    code = (
        "import sys, watcher.agent, watcher.launched; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not set(found) & set(FORBIDDEN)


def test_the_launcher_is_the_smallest_of_all():
    """It stands between the job and its output, so it brings no Redis and no event loop."""
    code = "import sys, watcher.launch; print(*sorted({name.partition('.')[0] for name in sys.modules}))"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not set(found) & {*FORBIDDEN, "redis", "asyncio", "psutil"}


async def test_an_idle_watcher_is_small(process, registry, log):
    """Under 72 MiB with the logs of eight ranks (RELIABILITY A17); what it takes here is a benchmark's to say.

    The kernel, the C library and the cores of a machine move this by some MiB, so the promise has room.
    """
    for rank in range(8):
        log.with_name(f"rank{rank}.log").write_bytes(lines(0, 1000))
    watcher = process()

    async def all_ranks():
        return len(await registry.ranks.all("run42")) == 8

    await until(all_ranks)

    assert memory(watcher.pid, "VmRSS") <= 72 * MIB


async def test_a_line_without_end_does_not_fill_the_memory(process, registry, log):
    """Bytes without a newline are passed by; the line after them is judged."""
    log.write_bytes(lines(0, 50))
    watcher = process()
    await until(lambda: registry.ranks.all("run42"))
    with log.open("ab", buffering=0) as file:
        for _ in range(128):
            file.write(b"x" * MIB)
    append(log, b"\nstep=50 loss=nan lr=0.0001 grad_norm=nan\n")

    (found,) = await until(lambda: findings(registry, "nonfinite_loss"), seconds=60)

    assert found.step == 50
    assert memory(watcher.pid, "VmHWM") <= 96 * MIB


def memory(pid, field):
    """A line of /proc/PID/status in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(field)
