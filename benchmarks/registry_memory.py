"""How much memory of Redis a run takes, short and long, and 10,000 of them; and how long people wait among so many."""

import asyncio
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from diagnosis.observations import Evidence, Origin, Phase, RankProgress, StepSample
from registry import Registry, connect, keys
from registry.broom import Retention
from registry.embedded import Embedded

LENGTHS = (100, 5_000, 50_000, 1_000_000)
"""Printed points of a run."""
RUNS = 10_000
RANKS = 64
COPIED = ("", "attempts", "ranks", "watchers", "series", "tail", "roll:0", "marks")
MIB = 1 << 20


async def measure() -> None:
    """Print bytes per run by its length, then what 10,000 runs take."""
    with tempfile.TemporaryDirectory(prefix="rw-") as home, Embedded.start(Path(home)) as server:
        registry, client = connect(server.url, "bench"), Redis.from_url(server.url)
        empty = await _used(client)
        print(f"empty server: {empty / MIB:.1f} MiB")
        for length in LENGTHS:
            await _write(registry, f"run-{length}", length)
            size = await _size(client, f"run-{length}")
            print(f"a run of {length:,} points on {RANKS} ranks: {size / 1024:,.0f} KiB", flush=True)
        # The largest there is, so many times: the worst that retention allows, all active within a week.
        await _copy(client, f"run-{LENGTHS[-1]}", RUNS - len(LENGTHS))
        print(f"{RUNS:,} runs of {LENGTHS[-1]:,} points, all of this week: {await _used(client) / MIB:,.0f} MiB")
        await _ask(registry)
        await _let_idle(client)
        print(f"the same, idle for a week: {await _used(client) / MIB:,.0f} MiB")
        began = time.monotonic()
        swept = await registry.broom.sweep(Retention(most_runs=1_000))
        print(f"a sweep that forgets {len(swept.runs):,} of them: {time.monotonic() - began:.1f} s")
        print(f"{len(await registry.runs.names(RUNS)):,} left: {await _used(client) / MIB:,.0f} MiB")
        await registry.aclose()
        await client.aclose()


async def _write(registry: Registry, run: str, points: int) -> None:
    await registry.runs.see(run, state="running", world_size=RANKS, last_step=points, last_loss=2.3, owner="alice")
    await registry.series.claim_writer(run, "node0")
    now = await registry.now()
    for first in range(0, points, 5_000):
        part = range(first, min(points, first + 5_000))
        await registry.series.append(run, 0, [_sample(run, step, now - points + step) for step in part])
    await registry.runs.begin_attempt(run, 0, started=now)
    progress = [
        RankProgress(Origin(run, "node0", rank, rank), points, now, now, Phase.TRAINING) for rank in range(RANKS)
    ]
    await registry.ranks.update(run, progress)


def _sample(run: str, step: int, at: float) -> StepSample:
    loss = 2.0 + 3.0 * math.exp(-step / 500) + 0.01 * math.sin(step)
    return StepSample(
        Origin(run, "node0", 0, 0),
        step,
        "printed",
        loss,
        Evidence("train.log", step, ""),
        grad_norm=0.9,
        lr=1e-4,
        time=at,
    )


async def _copy(client: Any, run: str, count: int) -> None:
    """As many runs like this one, made at the server."""
    now = time.time()
    for first in range(0, count, 100):
        async with client.pipeline(transaction=False) as pipe:
            for number in range(first, min(count, first + 100)):
                name = f"copy-{number}"
                for part in COPIED:
                    pipe.copy(keys.run(run, part), keys.run(name, part))
                pipe.zadd(keys.RUNS, {name: now - 2 * keys.DAY - number})
            await pipe.execute()


async def _let_idle(client: Any) -> None:
    """What is kept for a week only goes."""
    for number in range(RUNS):
        await client.delete(*(keys.run(f"copy-{number}", part) for part in ("tail", "ranks", "watchers")))


async def _ask(registry: Registry) -> None:
    began = time.monotonic()
    await registry.runs.all(100)
    listed = time.monotonic()
    await registry.series.whole("copy-5000")
    print(
        f"among them, the 100 newest runs: {(listed - began) * 1000:.0f} ms; all numbers of one:"
        f" {(time.monotonic() - listed) * 1000:.0f} ms"
    )


async def _size(client: Any, run: str) -> int:
    sizes = [await client.memory_usage(keys.run(run, part), samples=0) or 0 for part in COPIED]
    return sum(sizes)


async def _used(client: Any) -> int:
    return int((await client.info("memory"))["used_memory"])


def main() -> None:
    """For `make bench`."""
    asyncio.run(measure())


if __name__ == "__main__":
    main()
