"""What following eight logs costs a node: the watcher beside a bare loop on the same files, by dialect and rate."""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.live_logs import DIALECTS, Write, text_of
from benchmarks.whole import Whole, whole

FILES = 8
RATES = (10, 100, 1000)
"""Lines a second in each file."""
WINDOWS, WINDOW_SECONDS = 5, 4.0
SETTLE_SECONDS = 5.0
TOLD_SECONDS = 8.0
TICK_SECONDS = 0.05
FIRST_STEPS = 300
MIB = 1 << 20


@dataclass(slots=True)
class Load:
    """Who writes what, and how far it got."""

    files: Sequence[Path]
    write: Write
    own_loss: bool
    step: int = 1

    def append(self, count: int) -> None:
        """Let every rank print so many steps."""
        texts = [text_of(self.write, self.step, count, rank, own_loss=self.own_loss) for rank in range(FILES)]
        for file, text in zip(self.files, texts, strict=True):
            with file.open("a") as out:
                out.write(text)
        self.step += count

    async def flow(self, rate: int) -> None:
        """Print at this rate until cancelled."""
        began, first = time.monotonic(), self.step
        while True:
            due = int((time.monotonic() - began) * rate) - (self.step - first)
            if due > 0:
                self.append(due)
            await asyncio.sleep(max(TICK_SECONDS, 1 / rate))


async def measure(name: str, *, own_loss: bool = False, rates: Sequence[int] = RATES) -> None:
    """Print one line for each rate."""
    async with whole(bot=False) as everything:
        load = _begin(everything, name, own_loss=own_loss)
        arguments = ["watch", "--run", "run42", "--log", f"{everything.home}/logs/*.log"]
        watcher = await everything.start("watcher", [*arguments, "--state-dir", str(everything.home / "state")])
        bare = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.bare_tail"), *map(str, load.files)
        )
        everything.processes["bare"] = bare
        await asyncio.sleep(SETTLE_SECONDS)
        for rate in rates:
            print(f"{name}{', each rank its own loss' if own_loss else ''}, 8 × {rate} lines/s: ", end="", flush=True)
            cost = await _cost(load, rate, psutil.Process(watcher.pid), psutil.Process(bare.pid))
            behind = await _behind(everything, load)
            # What is told is some seconds old; a watcher that lags by more has not done the work of its seconds.
            print(
                f"{cost}{f', {behind / rate:.0f} s BEHIND: it does not count' if behind > TOLD_SECONDS * rate else ''}",
                flush=True,
            )


async def _behind(everything: Whole, load: Load) -> int:
    """How many steps the registry was not told yet, of the rank that is the farthest behind."""
    ranks = await everything.registry.ranks.all("run42")
    return load.step - min((rank.step or 0 for rank in ranks), default=0)


def _begin(everything: Whole, name: str, *, own_loss: bool) -> Load:
    logs = everything.home / "logs"
    logs.mkdir()
    load = Load([logs / f"rank{rank}.log" for rank in range(FILES)], DIALECTS[name], own_loss)
    load.append(FIRST_STEPS)
    return load


async def _cost(load: Load, rate: int, watcher: psutil.Process, bare: psutil.Process) -> str:
    flowing = asyncio.create_task(load.flow(rate))
    await asyncio.sleep(SETTLE_SECONDS)
    shares, per_line, bare_shares = [], [], []
    for _ in range(WINDOWS):
        step, began = load.step, time.monotonic()
        before, bare_before = _used(watcher), _used(bare)
        await asyncio.sleep(WINDOW_SECONDS)
        seconds, used = time.monotonic() - began, _used(watcher) - before
        shares.append(used / seconds)
        per_line.append(used / (FILES * (load.step - step)))
        bare_shares.append((_used(bare) - bare_before) / seconds)
    flowing.cancel()
    share, bare_share = statistics.median(shares), statistics.median(bare_shares)
    micro = f"{statistics.median(per_line) * 1e6:.1f} µs a line" if rate >= 100 else "mostly the idle cost"
    return (
        f"{share:.2%} of a core ({micro}), bare tail {bare_share:.2%}, "
        f"RSS {watcher.memory_info().rss / MIB:.1f} MiB (bare {bare.memory_info().rss / MIB:.1f})"
    )


def _used(process: psutil.Process) -> float:
    """Processor seconds of a process and its children so far."""
    times = process.cpu_times()
    return float(times.user + times.system + sum(sum(child.cpu_times()[:2]) for child in process.children()))


def main() -> None:
    """Print the figures."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name in DIALECTS:
        asyncio.run(measure(name))
    asyncio.run(measure("plain", own_loss=True, rates=RATES[-1:]))


if __name__ == "__main__":
    main()
