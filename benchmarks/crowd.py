"""A thousand watchers on one Redis: how much of a core it takes, and how long `/runs` takes among ten thousand runs.

Each simulated watcher is a watcher's own registry code at its real rates: heartbeats with eight GPUs, the progress of
eight ranks that print a line every two seconds, the run's series where it is the writer, waiting for requests. Only
log files and GPUs are made up. A whole bot follows and judges them.
"""

import asyncio
import os
import sys
import time
from typing import Any

import psutil
from redis.asyncio import Redis

from benchmarks.whole import Whole, whole
from registry import Registry, keys

WATCHERS, RUNS, PROCESSES = 1_000, 50, 5
WARM_SECONDS, MEASURE_SECONDS = 20.0, 60.0
HEARD_SECONDS = 180.0
KNOWN_RUNS = 10_000
ASKS = 3
SORTS = ("active", "name", "state", "loss", "progress", "eta", "incidents")


async def measure(watchers: int = WATCHERS, seconds: float = MEASURE_SECONDS) -> None:
    """Print Redis' share of a core, commands per second, and the time of each order of `/runs`."""
    async with whole() as everything:
        client: Any = Redis.from_url(everything.environment["REDIS_URL"])
        await _fill(everything.registry)
        crowd = [await _part(everything, part, watchers) for part in range(PROCESSES)]
        try:
            await _until_heard(client, watchers)
            await asyncio.sleep(WARM_SECONDS)
            await _redis_cost(everything, client, watchers, seconds)
            await _runs(everything)
        finally:
            for process in crowd:
                process.terminate()
                await process.wait()
            await client.aclose()


async def _until_heard(client: Any, watchers: int) -> None:
    """On a busy machine the crowd itself may not keep up with its rates: what is heard is said with the figures."""
    began = time.monotonic()
    while (heard := await client.zcard(keys.WATCHERS)) < watchers and time.monotonic() - began < HEARD_SECONDS:
        await asyncio.sleep(2.0)
    print(f"{heard:,} of {watchers:,} watchers are heard", flush=True)


async def _redis_cost(everything: Whole, client: Any, watchers: int, seconds: float) -> None:
    server = psutil.Process(int((await client.info("server"))["process_id"]))
    bot = psutil.Process(everything.processes["bot"].pid)
    before, calls = _cpu(server), await _calls(client)
    bot_before, began = _cpu(bot), time.monotonic()
    await asyncio.sleep(seconds)
    passed = time.monotonic() - began
    after = await _calls(client)
    share, bot_share = (_cpu(server) - before) / passed, (_cpu(bot) - bot_before) / passed
    rates = {name: (after[name] - calls.get(name, 0)) / passed for name in after}
    info = await client.info("memory")
    beats = rates.get("pexpire", 0.0) * 5.0
    print(f"{watchers:,} watchers of {RUNS} runs, {beats:,.0f} of them in time: Redis takes {share:.1%} of a core")
    print(f"{sum(rates.values()):,.0f} commands a second, {int(info['used_memory']) / (1 << 20):,.0f} MiB", end=": ")
    print(", ".join(f"{name} {rate:,.0f}" for name, rate in sorted(rates.items(), key=lambda one: -one[1])[:8]))
    print(f"the bot that follows and judges them: {bot_share:.1%} of a core")
    print(f"load average {os.getloadavg()[0]:.1f}", flush=True)


async def _runs(everything: Whole) -> None:
    """From the typed command to the table in the channel, all that is between included."""
    slack, bot = everything.slack, psutil.Process(everything.processes["bot"].pid)
    for sort in SORTS:
        took, before = [], _cpu(bot)
        for _ in range(ASKS):
            began, before_it = time.monotonic(), len(slack.all_messages(slack.channel))
            outcome = await slack.slash("/runs", f"--sort {sort}")
            if outcome.error:
                raise RuntimeError(f"/runs was not acknowledged: {outcome.error}")
            await _until_more(slack, before_it)
            took.append(time.monotonic() - began)
        each = (_cpu(bot) - before) / ASKS
        shown = " ".join(f"{one:.2f}" for one in took)
        print(f"/runs --sort {sort} of {KNOWN_RUNS + RUNS:,} runs: {shown} s; {each:.2f} s of processor", flush=True)


async def _until_more(slack: Any, count: int) -> None:
    await slack.until(lambda: len(slack.all_messages(slack.channel)) > count, 60)


async def _fill(registry: Registry) -> None:
    """Runs of the last months, each with all its facts."""
    now = await registry.now()
    for n in range(KNOWN_RUNS):
        facts = {
            "state": ("finished", "crashed", "killed", "ended")[n % 4],
            "owner": f"person{n % 40}",
            "labels": {"team": f"team{n % 9}"},
            "world_size": 64,
            "last_step": n * 3,
            "total_steps": 90_000,
            "last_loss": 2.0 + n * 7919 % 1000 / 1000,
            "last_grad_norm": 0.9,
            "last_lr": 1e-4,
            "step_seconds": 1.25,
            "tokens_per_second": 123_456.0,
            "last_progress": now - 86_400.0 - 60.0 * n,
            "attempt": n % 3,
            "log": "/logs/train.log",
            "dialect": "megatron",
        }
        await registry.runs.see(f"old-{n:05}", **facts)
    await registry._door.many([("ZADD", keys.RUNS, now - 86_400 - 60 * n, f"old-{n:05}") for n in range(KNOWN_RUNS)])  # noqa: SLF001 - as if heard of then


async def _part(everything: Whole, part: int, watchers: int) -> asyncio.subprocess.Process:
    url = everything.environment["REDIS_URL"]
    share = watchers // PROCESSES
    words = [url, str(part * share), str(share), str(watchers // RUNS)]
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "benchmarks.crowd_watchers", *words)


async def _calls(client: Any) -> dict[str, int]:
    told = await client.info("commandstats")
    return {name.removeprefix("cmdstat_"): int(stat["calls"]) for name, stat in told.items()}


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def main() -> None:
    """For `make bench`."""
    asyncio.run(measure())


if __name__ == "__main__":
    main()
