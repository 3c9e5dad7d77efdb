"""Fifty people type /loss at once: when is each acknowledged, when is each chart there?"""

import asyncio
import math
import time

from benchmarks.whole import spread, whole
from diagnosis.observations import Evidence, Origin, StepSample

AT_ONCE = 50
POINTS = 20_000


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


def pictures(slack: object) -> list[object]:
    """Messages of the channel with a PNG in them."""
    messages = slack.all_messages(slack.channel)  # type: ignore[attr-defined]
    return [message for message in messages if message.get("files")]


def main() -> None:
    """Print the figures."""
    times, last, charts = asyncio.run(measure())
    print(f"{AT_ONCE} × /loss at once: acknowledged {spread(times)}; {charts} charts, the last after {last:.1f} s")


if __name__ == "__main__":
    main()
