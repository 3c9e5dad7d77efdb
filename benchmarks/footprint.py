"""What a watcher costs its node: memory and processor when idle, at usual and at high rates, and under a 1 GiB line."""

import asyncio
import os
import time
from pathlib import Path

import psutil

from benchmarks.whole import Whole, whole

QUIET_SECONDS = 30.0
BUSY_SECONDS = 30.0
MIB = 1 << 20


async def measure() -> None:
    """Print one line for each load."""
    async with whole(bot=False) as everything:
        logs = everything.home / "logs"
        logs.mkdir()
        files = [logs / f"rank{rank}.log" for rank in range(8)]
        for file in files:
            file.write_text("".join(line(step) for step in range(1, 400)))
        arguments = ["watch", "--run", "run42", "--log", f"{logs}/*.log", "--state-dir", str(everything.home / "state")]
        watcher = await everything.start("watcher", arguments)
        await asyncio.sleep(8)
        process = psutil.Process(watcher.pid)
        print(f"idle, 8 files: {await _cost(process, QUIET_SECONDS)}")
        step = 400
        for rate in (10, 125, 1000):
            writing = asyncio.create_task(_write(files, rate, BUSY_SECONDS, step))
            print(f"8 files × {rate} lines/s: {await _cost(process, BUSY_SECONDS - 3)}")
            step = await writing
        await _one_long_line(everything, process, files[0])


def line(step: int) -> str:
    """One step line of the plain dialect."""
    return f"step={step} loss={2.3 + 1 / step:.4f} lr=0.0001 grad_norm=1.8\n"


async def _cost(process: psutil.Process, seconds: float) -> str:
    began, used = time.monotonic(), sum(process.cpu_times()[:2])
    peak = 0
    while time.monotonic() - began < seconds:
        peak = max(peak, process.memory_info().rss)
        await asyncio.sleep(0.2)
    share = (sum(process.cpu_times()[:2]) - used) / (time.monotonic() - began)
    return f"{share:.2%} of a core, RSS {process.memory_info().rss / MIB:.1f} MiB (peak {peak / MIB:.1f})"


async def _write(files: list[Path], rate: int, seconds: float, step: int) -> int:
    handles = [file.open("a") for file in files]
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        count = max(1, rate // 10)
        text = "".join(line(step + n) for n in range(count))
        step += count
        for handle in handles:
            handle.write(text)
            handle.flush()
        await asyncio.sleep(count / rate)
    for handle in handles:
        handle.close()
    return step


async def _one_long_line(everything: Whole, process: psutil.Process, file: Path) -> None:
    peak = [0]

    async def look() -> None:
        while True:
            peak[0] = max(peak[0], process.memory_info().rss)
            await asyncio.sleep(0.02)

    looking = asyncio.create_task(look())
    block = b"x" * (4 * MIB)
    used, began = sum(process.cpu_times()[:2]), time.monotonic()
    with file.open("ab", buffering=0) as out:
        for _ in range(256):
            await asyncio.to_thread(out.write, block)
    with file.open("a") as rest:
        rest.write("\nstep=999999 loss=nan lr=0.0001 grad_norm=nan\n")
    written = time.monotonic()
    while not await _has_nonfinite(everything):
        await asyncio.sleep(0.05)
    found = time.monotonic() - written
    looking.cancel()
    cpu = sum(process.cpu_times()[:2]) - used
    print(
        f"a line of 1 GiB, then a NaN: peak RSS {peak[0] / MIB:.1f} MiB, NaN published {found:.1f} s after it was "
        f"written ({time.monotonic() - began:.1f} s in all, {cpu:.1f} s of processor)"
    )


async def _has_nonfinite(everything: Whole) -> bool:
    events = everything.registry.events
    found = await events.read(dict.fromkeys(await events.streams(), 0), 1000)
    return any(b"nonfinite_loss" in event.body for event in found)


def main() -> None:
    """Print the figures."""
    print(f"Python {os.sys.version.split()[0]}, {psutil.cpu_count()} cores")  # type: ignore[attr-defined]
    asyncio.run(measure())


if __name__ == "__main__":
    main()
