"""Fifty people type /loss at once: when is each acknowledged, when is each chart there?

And twenty commands at once beside two hundred runs, while Redis is busy with others (RELIABILITY's A23): when is each
acknowledged, when do its first words stand there?
"""

import asyncio
import math
import os
import sys
import time
from typing import Any

from redis.asyncio import Redis

from benchmarks.whole import Whole, spread, whole
from diagnosis.observations import Evidence, Origin, StepSample

AT_ONCE = 50
POINTS = 20_000
BUSY_AT_ONCE, BUSY_ROUNDS, RUNS, OPERATIONS = 20, 15, 200, 2_000
COMMANDS = ("/runs", "/loss", "/stall", "/runwatch")
LATE_SECONDS = 2.5


async def measure(at_once: int = AT_ONCE) -> tuple[list[float], float, int]:
    """Acknowledgement times, seconds until the last chart, charts that came."""
    async with whole() as everything:
        registry, slack = everything.registry, everything.slack
        await registry.runs.see("run42", node="node01")
        await registry.series.claim_writer("run42", "bench")
        evidence = Evidence("train.log", 1, "")
        samples = [
            StepSample(Origin("run42"), s, "printed", 2 + 3 * math.exp(-s / 900), evidence, 1.0, 1e-4, 1.7e9 + s)
            for s in range(1, POINTS)
        ]
        for start in range(0, POINTS, 2_000):
            await registry.series.append("run42", 0, samples[start : start + 2_000])
        await slack.slash("/loss", "run42")
        await slack.until(lambda: len(pictures(slack)) >= 1, 60)
        began = time.monotonic()
        people = [f"person{n}" for n in range(at_once)]
        for name in people:
            slack.add_member(name)
        outcomes = await asyncio.gather(*(slack.slash("/loss", "run42", user=name) for name in people))
        await slack.until(lambda: len(pictures(slack)) >= at_once + 1, 120)
        wrong = [outcome.error for outcome in outcomes if outcome.error]
        if wrong:
            raise RuntimeError(f"{len(wrong)} of {at_once} were not acknowledged: {wrong[0]}")
        return [outcome.seconds for outcome in outcomes], time.monotonic() - began, len(pictures(slack)) - 1


async def measure_busy() -> tuple[list[float], list[float], float]:
    """Acknowledgement times, seconds until the first words, and what Redis really did a second."""
    async with whole() as everything:
        slack, client = everything.slack, Redis.from_url(everything.environment["REDIS_URL"])
        await _register(everything)
        load = [sys.executable, "-m", "benchmarks.redis_load", everything.environment["REDIS_URL"], str(OPERATIONS)]
        everything.processes["load"] = await asyncio.create_subprocess_exec(*load)
        rooms = [slack.add_channel(f"room{n:02}") for n in range(BUSY_AT_ONCE)]
        await asyncio.sleep(3.0)
        acknowledged: list[float] = []
        words: list[float] = []
        before, began = await _done(client), time.monotonic()
        for turn in range(BUSY_ROUNDS):
            asked = [_ask(everything, room, turn * BUSY_AT_ONCE + n) for n, room in enumerate(rooms)]
            for acked, said in await asyncio.gather(*asked):
                acknowledged.append(acked)
                words.append(said)
            await asyncio.sleep(1.0)
        rate = (await _done(client) - before) / (time.monotonic() - began)
        await client.aclose()
        return acknowledged, words, rate


async def _ask(everything: Whole, room: str, number: int) -> tuple[float, float]:
    """One command in a room of its own."""
    slack, command = everything.slack, COMMANDS[number % len(COMMANDS)]
    text = {"/runs": "", "/runwatch": "health"}.get(command, f"run{number % RUNS:03}")
    began, before = time.monotonic(), _said(everything, room)
    outcome = await slack.slash(command, text, channel=room)
    if outcome.error:
        raise RuntimeError(f"{command} {text} was not acknowledged: {outcome.error}")
    await slack.until(lambda: _said(everything, room) > before, 60)
    return outcome.seconds, time.monotonic() - began


def _said(everything: Whole, room: str) -> int:
    whispered = [one for one in everything.slack.ephemerals() if one["channel"] == room]
    return len(whispered) + len(everything.slack.all_messages(room))


async def _register(everything: Whole) -> None:
    """Two hundred runs that train, each with a curve."""
    registry, evidence = everything.registry, Evidence("train.log", 1, "")
    now = await registry.now()
    for name in (f"run{n:03}" for n in range(RUNS)):
        await registry.runs.see(name, node="node01", state="running", last_step=500, last_loss=2.1, last_progress=now)
        await registry.series.claim_writer(name, "bench")
        origin = Origin(name, "node01", 0, 0)
        samples = [
            StepSample(origin, s, "printed", 2 + 3 / s, evidence, 1.0, 1e-4, now - 500 + s) for s in range(1, 500)
        ]
        await registry.series.append(name, 0, samples)


async def _done(client: Any) -> int:
    """How many commands the server has done."""
    return int((await client.info("stats"))["total_commands_processed"])


def pictures(slack: object) -> list[object]:
    """Messages of the channel with a PNG in them."""
    messages = slack.all_messages(slack.channel)  # type: ignore[attr-defined]
    return [message for message in messages if message.get("files")]


def main() -> None:
    """Print the figures."""
    times, last, charts = asyncio.run(measure())
    print(f"{AT_ONCE} × /loss at once: acknowledged {spread(times)}; {charts} charts, the last after {last:.1f} s")
    load = os.getloadavg()[0]
    acknowledged, words, rate = asyncio.run(measure_busy())
    print(
        f"{BUSY_ROUNDS} times {BUSY_AT_ONCE} commands at once ({', '.join(COMMANDS)}), {RUNS} runs, Redis at "
        f"{rate:,.0f} operations a second, {OPERATIONS:,} of them of others; load average {load:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after"
    )
    late = sum(one > LATE_SECONDS for one in acknowledged)
    print(f"acknowledged {spread(acknowledged)}; above {LATE_SECONDS} s: {late}")
    print(f"first words {spread(words)}")


if __name__ == "__main__":
    main()
