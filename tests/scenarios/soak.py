"""Hours of an ordinary job market: logs flow, now and then a run turns NaN, each minute something fails.

What must not happen: a finding lost or told twice, or a process that grows. `make soak SOAK_MINUTES=120`, or

    python -m tests.scenarios.soak --minutes 20 --lines-per-second 200 --alert-every 10
"""

import os
import random
import statistics
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.scenarios.chaos import FAULTS, REST_SECONDS, TELLING
from tests.scenarios.episodes import BACK, HEALTHY, Entry, good, line
from tests.scenarios.options import asked_for, live, say
from tests.scenarios.oracle import Judgement, judge
from tests.scenarios.product import Product

MIB = 1 << 20
MEASURED = ("bot0", "node0")
"""These are never killed, so that what they gain in memory shows; their twins are."""
SAMPLE_SECONDS = 10.0
MOST_GROWTH = {"memory": 8.0, "descriptors": 8, "threads": 2}
"""How much more of each (memory in MiB) in the last quarter than in the second: the first one warms up."""


@dataclass(frozen=True, slots=True)
class Soak:
    """How long and how much."""

    minutes: float = 20.0
    runs: int = 20
    lines_per_second: float = 200.0
    """Of all runs together."""
    alert_every: float = 10.0
    """Seconds from one NaN to the next; it is over a few steps later."""
    fault_every: float = 60.0
    """Seconds from one fault to the next."""
    seed: int = 1


class Logs(threading.Thread):
    """Writes the logs of all runs at a steady pace, and knows what must be read of them."""

    def __init__(self, folder: Path, soak: Soak) -> None:
        super().__init__(daemon=True)
        self.expected: set[Entry] = set()
        self.paths = {f"run{number}": folder / f"run{number}.log" for number in range(soak.runs)}
        self.written = 0
        self._soak = soak
        self._is_over = threading.Event()

    def end(self) -> None:
        """Write no more."""
        self._is_over.set()
        self.join()

    def run(self) -> None:
        """Write until the end, each run in its turn."""
        soak, chance = self._soak, random.Random(self._soak.seed)
        files = {run: path.open("a", buffering=1) for run, path in self.paths.items()}
        steps = dict.fromkeys(files, 0)
        calm_from = dict.fromkeys(files, HEALTHY)
        began, alerts = time.monotonic(), 0
        while not self._is_over.is_set():
            for run, file in files.items():
                step = steps[run]
                is_due = (time.monotonic() - began) / soak.alert_every > alerts + 1
                if is_due and step >= calm_from[run] and chance.random() < 3 / soak.runs:
                    file.write(f"{line(step, 'nan', 'nan')}\n")
                    self.expected |= {Entry(run, step, "nan"), Entry(run, step + 1, "over")}
                    calm_from[run], alerts = step + 2 * HEALTHY, alerts + 1
                else:
                    file.write(f"{good(step)}\n")
                steps[run] += 1
                self.written += 1
            self._is_over.wait(max(0.0, began + self.written / soak.lines_per_second - time.monotonic()))
        for run, file in files.items():
            # What turned NaN just now comes back too.
            file.writelines(f"{good(steps[run] + more)}\n" for more in range(BACK + 1))
            file.close()


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    soak: Soak
    lines: int
    judgement: Judgement
    faults: int
    growth: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """Process and what of it → its median in the second quarter and in the last."""

    @property
    def grown(self) -> list[str]:
        """What grew too much, in words."""
        return [
            f"{what} of {name}: {before:.1f} → {after:.1f}"
            for (name, what), (before, after) in self.growth.items()
            if after - before > MOST_GROWTH.get(what, float("inf"))
        ]

    def __str__(self) -> str:
        told = self.judgement
        head = f"{self.soak.minutes:g} min, {self.lines:,} lines, {told.entries} messages: lost {len(told.lost)}"
        tail = f"made up {len(told.strange)}; {self.faults} faults; besides: {dict(told.other)}"
        rows = [f"{head}, twice {len(told.twice)}, {tail}"]
        for (name, what), (before, after) in sorted(self.growth.items()):
            rows.append(f"  {name:6} {what:12} {before:8.1f} → {after:8.1f}")
        return "\n".join(rows)


class Life:
    """One run of a soak."""

    def __init__(self, soak: Soak, home: Path) -> None:
        self._soak = soak
        self._chance = random.Random(soak.seed)
        # A pace that people would run: edits are joined, posts keep their distance.
        self._product = Product(home, settings={"RUNWATCH_CHANNEL_INTERVAL": "200ms", "RUNWATCH_EDIT_INTERVAL": "3s"})
        self._logs = Logs(home, soak)
        self._samples: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._faults = 0

    def live(self) -> Outcome:
        """Live through it."""
        with self._product as product:
            product.open()
            for name in ("bot0", "bot1"):
                product.start_bot(name)
            paths = list(self._logs.paths.items())
            for number, name in enumerate(("node0", "node1")):
                product.start_watcher(name, {run: str(path) for run, path in paths[number::2]})
            product.connected(2)
            self._logs.start()
            self._go_on()
            self._logs.end()
            self._wait_until_told()
            judgement = judge(product.slack.written(), self._logs.expected)
            assert product.are_alive(*MEASURED), "a process that nobody killed has ended"
        quarter = len(self._samples["redis", "memory"]) // 4
        growth = {
            key: (statistics.median(values[quarter : 2 * quarter]), statistics.median(values[-quarter:]))
            for key, values in self._samples.items()
        }
        return Outcome(self._soak, self._logs.written, judgement, self._faults, growth)

    def _go_on(self) -> None:
        began = time.monotonic()
        ends, harmed_at = began + self._soak.minutes * 60, began
        while (now := time.monotonic()) < ends:
            self._sample()
            # The last minute is calm.
            if now - harmed_at >= self._soak.fault_every and ends - now > 60:
                self._chance.choice(self._faults_there_are())()
                self._faults, harmed_at = self._faults + 1, now
            time.sleep(SAMPLE_SECONDS)

    def _faults_there_are(self):
        product = self._product
        return (
            lambda: product.kill_redis(self._chance.uniform(0, 5)),
            lambda: self._kill("bot1"),
            lambda: self._kill("node1"),
            lambda: product.pause("bot0", 8),
            lambda: product.pause("node0", 8),
            lambda: product.slack.change("sockets", act="drop"),
            self._let_slack_lie,
        )

    def _kill(self, name: str) -> None:
        self._product.kill(name)
        self._product.again(name)

    def _let_slack_lie(self) -> None:
        self._product.slack.change("faults", share=0.5, faults=FAULTS, methods=TELLING, seed=self._faults)
        time.sleep(10)
        self._product.slack.change("faults", clear=True)

    def _sample(self) -> None:
        for name in MEASURED:
            process = self._product.members[name].process
            self._note(name, psutil.Process(process.pid))
        self._samples["redis", "memory"].append(psutil.Process(self._product.redis.pid).memory_info().rss / MIB)

    def _note(self, name: str, process: psutil.Process) -> None:
        for key, value in (
            ("memory", process.memory_info().rss / MIB),
            ("descriptors", process.num_fds()),
            ("threads", process.num_threads()),
        ):
            self._samples[name, key].append(value)

    def _wait_until_told(self) -> None:
        ends = time.monotonic() + 120
        while time.monotonic() < ends and judge(self._product.slack.written(), self._logs.expected).lost:
            time.sleep(1)
        time.sleep(REST_SECONDS)


def main() -> int:
    """Soak as the command line says and print what came of it."""
    soak, keep = asked_for(Soak(), __doc__)
    outcome = live(lambda home: Life(soak, home).live(), keep)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    besides = [f"  load at the end: {load} on {os.cpu_count()} cores"]
    say(outcome, [*besides, *(f"  grew: {grown}" for grown in outcome.grown)])
    return 0 if outcome.judgement.is_clean and not outcome.grown else 1


if __name__ == "__main__":
    sys.exit(main())
