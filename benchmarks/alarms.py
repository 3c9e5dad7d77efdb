"""A hundred alarms at once over twenty runs, at the pace that Slack really allows: one post a second in a channel.

Real processes; the workspace says 429 to whoever is faster. Every other run is in critical trouble, the alarms come in
any order, five ranks of each run.
"""

import asyncio
import os
import random
import time

from benchmarks.whole import Whole, percentile, whole
from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin
from registry import wire
from registry.keys import StreamId

RUNS, EACH = 20, 5
TRIALS = 5
LONGEST_SECONDS = 120.0


async def measure() -> tuple[list[float], list[float]]:
    """When each root of a critical run stood there, and each other one, in seconds after the alarms."""
    critical: list[float] = []
    others: list[float] = []
    for trial in range(TRIALS):
        async with whole(bot=False, rate_limit=True) as everything:
            # As a bot runs that nobody configured: only the workspace's own pace counts.
            await everything.start("bot", ["bot"], RUNWATCH_CHANNEL_INTERVAL="1s")
            await everything.slack.connected(180.0)
            await _sound(everything, random.Random(trial))
            stood = await _roots(everything, time.monotonic())
            refused = len([call for call in everything.slack.calls if call.error == "ratelimited"])
            first, last = [stood[run] for run in range(1, RUNS, 2)], [stood[run] for run in range(0, RUNS, 2)]
            is_first = max(first) < min(last)
            print(
                f"trial {trial + 1}: criticals by {max(first):.1f} s, all {RUNS} by {max(last):.1f} s, "
                f"criticals first: {'yes' if is_first else 'NO'}, 429 met: {refused}, "
                f"load average {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            critical, others = critical + first, others + last
    return critical, others


async def _sound(everything: Whole, chance: random.Random) -> None:
    """All alarms, from one node, in one go."""
    alarms = [_alarm(number, rank) for number in range(RUNS) for rank in range(EACH)]
    chance.shuffle(alarms)
    stream = StreamId("node17", "bench")
    await everything.registry.events.register(stream)
    numbered = [(n, alarm.key, wire.encode(alarm)) for n, alarm in enumerate(alarms, 1)]
    await everything.registry.events.publish_all(stream, numbered)


def _alarm(number: int, rank: int) -> Finding:
    is_critical, run = number % 2 == 1, f"run{number:02}"
    kind, text = ("nonfinite_loss", "loss is NaN") if is_critical else ("spike", "loss spikes from 2.3 to 6.1")
    line = Evidence(f"rank{rank}.log", 7, "step=41200 loss=nan")
    severity = Severity.CRITICAL if is_critical else Severity.WARNING
    return Finding(kind, severity, Origin(run, "node17", rank, rank), f"{text} at step 41,200", (line,), 41_200)


async def _roots(everything: Whole, began: float) -> dict[int, float]:
    """Run → when its one root stood there; its five ranks stand in it at the end, and nothing stands there twice."""
    slack, stood = everything.slack, dict[int, float]()
    while time.monotonic() - began < LONGEST_SECONDS:
        for number in set(range(RUNS)) - stood.keys():
            if any(f"*run{number:02} " in str(root["text"]) for root in slack.messages(slack.channel)):
                stood[number] = time.monotonic() - began
        whole_ones = [root for root in slack.messages(slack.channel) if f"{EACH} ranks" in str(root["text"])]
        if len(stood) == len(whole_ones) == RUNS:
            break
        await asyncio.sleep(0.02)
    if len(slack.messages(slack.channel)) != RUNS or len(stood) != RUNS:
        raise RuntimeError(f"{len(slack.messages(slack.channel))} messages about {len(stood)} runs, not {RUNS}")
    return stood


def main() -> None:
    """Print the figures."""
    critical, others = asyncio.run(measure())
    print(
        f"{RUNS * EACH} alarms at once over {RUNS} runs, {TRIALS} trials: {RUNS} roots each, all ranks told, none twice"
    )
    for name, values in (("criticals", critical), ("warnings", others)):
        print(f"{name}: p50 {percentile(values, 0.5):.1f} s, last {max(values):.1f} s after the alarms")


if __name__ == "__main__":
    main()
