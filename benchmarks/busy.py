"""Twenty thousand lines a second over twenty followed logs, a NaN in one of them each second: when is it read?

`python -m benchmarks.busy --seconds 20` is a short one, RELIABILITY's A12 five minutes. The NaN stands in the midst of
the lines of a busy log, whose run is well again at once; each is an incident of its own. The channel's pace is not
measured: with the words that it is over, there are more messages than the one a second that Slack takes.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from benchmarks.whole import Whole, percentile, spread, whole
from bot import records

SECONDS, LINES_PER_SECOND = 300, 20_000
LOGS = 20
QUIET_SECONDS = 10.0
"""The load alone, before the first NaN."""
LATE_SECONDS = 60.0
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Told:
    """What came of it."""

    seconds: Sequence[float]
    """From the line's write to its message, one for each NaN."""
    seen: Sequence[float]
    """Of these, until the watcher read the line."""
    lines: int
    """How many lines were written in all."""
    took: float
    """How long the writing took (seconds)."""
    watcher_share: float
    """Of one core."""


async def measure(seconds: int = SECONDS, rate: int = LINES_PER_SECOND, logs: int = LOGS) -> Told:
    """Let it all flow; every NaN must have its root.

    Raises:
        RuntimeError: One was not told, or twice.
    """
    async with whole(bot=False) as everything:
        await everything.start("bot", ["bot"], RUNWATCH_REOPEN_WITHIN="0s")
        await everything.slack.connected(60.0)
        folder = everything.home / "logs"
        folder.mkdir()
        config = everything.home / "runs.toml"
        names = [f"run{n:02}" for n in range(logs)]
        config.write_text("".join(f'[[runs]]\nname = "{name}"\nlogs = ["{folder}/{name}.log"]\n' for name in names))
        words = ["watch", "--config", str(config), "--state-dir", str(everything.home / "state")]
        watcher = psutil.Process((await everything.start("watcher", words)).pid)
        writer = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.busy_writer", str(folder), str(logs), str(rate)),
            *(str(QUIET_SECONDS), str(seconds)),
            stdout=asyncio.subprocess.PIPE,
        )
        everything.processes["writer"] = writer
        began = _used(watcher)
        said = (await writer.communicate())[0].decode().split("\n")
        lines, took = said[-2].split()
        share = (_used(watcher) - began) / float(took)
        written: dict[str, list[float]] = {}
        for line in said[:-2]:
            name, at = line.split()
            written.setdefault(name, []).append(float(at))
        stood = await _roots(everything, written)
        waits, looks = (_after(written, later) for later in (stood, await _seen(everything)))
        return Told(waits, looks, int(lines), float(took), share)


async def _roots(everything: Whole, written: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Run → when each of its roots stood in the channel (Unix seconds), oldest first."""
    slack = everything.slack

    def found() -> dict[str, list[float]]:
        stood: dict[str, list[float]] = {name: [] for name in written}
        for root in slack.messages(slack.channel):
            name = next(word for word in str(root["text"]).replace("*", " ").split() if word in written)
            stood[name].append(float(root["ts"]))
        return stood

    with suppress(TimeoutError):
        await slack.until(lambda: all(len(at) >= len(written[name]) for name, at in found().items()), LATE_SECONDS)
    wrong = {name: len(at) - len(written[name]) for name, at in found().items() if len(at) != len(written[name])}
    if wrong:
        raise RuntimeError(f"roots too many (+) or too few (-): {wrong}")
    return found()


async def _seen(everything: Whole) -> dict[str, list[float]]:
    """Run → when the watcher read each of its NaNs (Unix seconds), oldest first."""
    seen: dict[str, list[float]] = {}
    for fields in (await everything.registry.incidents.recent(MOST)).values():
        record = records.read(fields)
        if record is not None:
            seen.setdefault(record.incident.run, []).append(record.incident.head.seen_at or 0.0)
    return {name: sorted(at) for name, at in seen.items()}


def _after(written: Mapping[str, Sequence[float]], later: Mapping[str, Sequence[float]]) -> list[float]:
    return [then - at for name in written for at, then in zip(written[name], later[name], strict=True)]


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def main(words: Sequence[str] = ()) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy", description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="one NaN in each of them (default 300)")
    parser.add_argument("--lines", type=int, default=LINES_PER_SECOND, help="lines a second in all (default 20000)")
    parser.add_argument("--logs", type=int, default=LOGS, help="how many logs (default 20)")
    asked = parser.parse_args(words)
    load = os.getloadavg()[0]
    told = asyncio.run(measure(asked.seconds, asked.lines, asked.logs))
    print(
        f"{told.lines:,} lines in {told.took:.0f} s ({told.lines / told.took:,.0f} a second) over {asked.logs} logs; "
        f"the watcher took {told.watcher_share:.0%} of a core; load average {load:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after"
    )
    print(f"{len(told.seconds)} NaNs, each told once; line written → message: {spread(told.seconds)}")
    print(f"of that, until the watcher read it: {spread(told.seen)}")
    print(f"told within 1 s: {sum(one <= 1 for one in told.seconds)}, p90 {percentile(told.seconds, 0.9):.3f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
