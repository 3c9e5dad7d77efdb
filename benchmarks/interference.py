"""What a watcher takes from the job beside it: the same training loop with and without one (RELIABILITY A19).

Two processes stand for two ranks: each computes, then both add up their gradients and wait for one another, as an
all-reduce does, and each logs a line for every step. The slower of the two is the step: what is taken from one shows.
"""

import asyncio
import os
import statistics
import sys
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Barrier, Process, RawArray
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.whole import Whole, percentile, whole

PAIRS = 10
SECONDS = 20.0
SNAPSHOT_ROUNDS = 3
WARM_UP_SECONDS = 8.0
SIZE, TIMES = 100_000, 12
"""So many gradients, computed so often: a step of some ten milliseconds."""
Steps = list[tuple[float, float]]
"""When each step began (time.monotonic) and how long it took (s)."""


async def measure() -> None:
    """Alternate rounds without and with a watcher, and then some with a snapshot under way."""
    async with whole(bot=False) as everything:
        logs = everything.home / "logs"
        logs.mkdir()
        alone: Steps = []
        watched: Steps = []
        for turn in range(PAIRS):
            # Which of the two comes first alternates as well: a machine that warms up or slows down favours neither.
            for is_watched in (turn % 2 == 1, turn % 2 == 0):
                steps = await _round(everything, logs, is_watched=is_watched)
                (watched if is_watched else alone).extend(steps)
        print(f"{PAIRS} pairs of {SECONDS:.0f} s, {len(alone)} and {len(watched)} steps")
        _compare("with a watcher", alone, watched)
        saving: Steps = []
        for _ in range(SNAPSHOT_ROUNDS):
            saving += await _round(everything, logs, is_watched=True, is_saving=True)
        _compare("while snapshots are taken", alone, saving)


async def _round(everything: Whole, logs: Path, *, is_watched: bool, is_saving: bool = False) -> Steps:
    if is_watched:
        arguments = ["watch", "--run", "run42", "--log", f"{logs}/*.log", "--state-dir", str(everything.home / "state")]
        await everything.start("watcher", arguments)
    # Without a watcher it waits as long: the same pause goes before both.
    await asyncio.sleep(WARM_UP_SECONDS)
    training = asyncio.create_task(asyncio.to_thread(train, logs, SECONDS))
    if is_saving:
        await asyncio.sleep(1)
        began = time.monotonic()
        saving = await everything.start("snapshot", ["snapshot", "run42", "benchmark"])
        if await saving.wait():
            raise RuntimeError((everything.home / "snapshot.log").read_text())
        ended = time.monotonic()
    steps = await training
    if is_saving:
        steps = [step for step in steps if began <= step[0] <= ended]
    if is_watched:
        await everything.stop("watcher")
    return steps


def _compare(what: str, alone: Steps, other: Steps) -> None:
    def ratio(of: Callable[[list[float]], float]) -> str:
        before, after = (of([seconds for _, seconds in steps]) for steps in (alone, other))
        return f"{before * 1e3:.2f} → {after * 1e3:.2f} ms ({after / before - 1:+.2%})"

    median, p99 = ratio(statistics.median), ratio(lambda steps: percentile(steps, 0.99))
    print(f"{what}: {len(other)} steps; median step {median}, p99 {p99}")


@dataclass
class Group:
    """What the two ranks share."""

    gradients: list[Any] = field(default_factory=lambda: [RawArray("d", SIZE) for _ in range(2)])
    barrier: Any = field(default_factory=lambda: Barrier(2))
    is_over: Any = field(default_factory=lambda: RawArray("b", 1))


def train(logs: Path, seconds: float) -> Steps:
    """Train for so long; the first steps, which only warm up, are left out."""
    group, times = Group(), logs / "times"
    ranks = [Process(target=_rank, args=(rank, group, logs, seconds)) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    said = array("d", times.read_bytes())
    times.unlink()
    return list(zip(said[::2], said[1::2], strict=True))[20:]


def _rank(rank: int, group: Group, logs: Path, seconds: float) -> None:
    own, other = (np.frombuffer(group.gradients[one]) for one in (rank, 1 - rank))
    weights = np.random.default_rng(rank).standard_normal(SIZE)
    steps, count, began = array("d"), 0, time.monotonic()
    with (logs / f"rank{rank}.log").open("a") as log:
        while not group.is_over[0]:
            started = time.monotonic()
            product = weights
            for _ in range(TIMES):
                product = np.sqrt(np.abs(product * weights) + 1.0)
            own[:] = product
            group.barrier.wait()
            total = own + other
            if rank == 0 and time.monotonic() - began > seconds:
                group.is_over[0] = 1
            group.barrier.wait()
            count += 1
            log.write(f"step={count} loss={2.3 + 1 / count:.4f} lr=0.0001 grad_norm={total.mean():.3f}\n")
            log.flush()
            steps.extend((started, time.monotonic() - started))
    if rank == 0:
        (logs / "times").write_bytes(steps.tobytes())


def main() -> None:
    """Print the figures."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    asyncio.run(measure())


if __name__ == "__main__":
    main()
