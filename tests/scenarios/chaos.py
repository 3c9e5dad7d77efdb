"""A bad night on the whole product: alerts flow, everything is killed, Slack lies; what was lost, what came twice?

Every part is a process of its own and the one that users run. The full count of the promise (`make chaos`):

    python -m tests.scenarios.chaos --findings 3000 --bot-kills 200 --redis-kills 40 --watcher-kills 40

A negative control takes a protection away, and must then lose or repeat: `--without look` (see `without.py`).
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.scenarios import jumping
from tests.scenarios.episodes import Entry, Story, script, story
from tests.scenarios.nursery import Nursery
from tests.scenarios.options import asked_for, live, say
from tests.scenarios.oracle import Judgement, judge
from tests.scenarios.product import ROOT, Product
from tests.scenarios.room import Room

FAULTS = (
    # Seven ways in which Slack answers wrongly; three of them after it did what was asked.
    {"fault": "http_error", "with": {"status": 500}},
    {"fault": "http_error", "with": {"status": 503, "done": True}},
    {"fault": "html", "with": {"status": 502, "done": True}},
    {"fault": "cut_before"},
    {"fault": "cut_after"},
    {"fault": "slow", "with": {"seconds": 3.0, "done": True}},
    {"fault": "rate_limited", "with": {"retry_after": 1}},
)
TELLING = ["chat.postMessage", "chat.update", "conversations.history", "conversations.replies", "conversations.list"]
"""The calls an alert depends on; charts come when they can."""
REST_SECONDS = 8.0
"""So long nothing more may come after everything was told: longer than any call, look or wait in between."""
PAUSE_SECONDS = (7.0, 10.0)
"""Longer than the lease of these bots, so that another one takes over meanwhile."""
BLACKOUT_SECONDS = 4.0
"""Longer than a watcher waits before it writes down how far it has read its logs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much happens, and what is harmed how often."""

    findings: int = 80
    runs: int = 40
    watchers: int = 2
    bots: int = 2
    bot_kills: int = 3
    redis_kills: int = 2
    watcher_kills: int = 1
    pauses: int = 0
    """Bots that are stopped for longer than their lease, and wake up."""
    flushes: int = 0
    """Times that Redis loses everything."""
    blackouts: int = 0
    """Times that a watcher is killed while Redis is away: what it found then is on its own disk and nowhere else."""
    jumps: int = 0
    """Times that the clock of a bot or a watcher jumps by minutes or a day; needs libfaketime."""
    faults: float = 0.25
    """Share of Slack's answers that are wrong."""
    only_fault: str = ""
    """The one way in which they are; empty: all seven."""
    pace_seconds: float = 2.0
    """Average time from one harm to the next; the findings flow for as long as there is harm."""
    progress_seconds: float = 0.0
    """How long a harm waits, at most, for something to be told since the last one: a slow machine is not to be a lock."""
    limit_seconds: float = 90.0
    """How long nothing new may be told before what is missing is called lost."""
    seed: int = 1
    without: str = ""
    forked: bool = False
    """Whether bots and watchers are forks of a process that has their modules loaded; see `nursery.py`."""
    say_every_seconds: float = 0.0
    """How often it is printed how far the night is; 0: never."""

    @property
    def harm(self) -> int:
        """How many acts of harm there are."""
        killed = self.bot_kills + self.redis_kills + self.watcher_kills
        return killed + self.pauses + self.flushes + self.blackouts + self.jumps


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    judgement: Judgement
    findings: int
    seconds: float
    harm: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    calls: int = 0

    def __str__(self) -> str:
        told = self.judgement
        return (
            f"{self.findings} findings, {told.entries} messages: lost {len(told.lost)}, twice {len(told.twice)}, "
            f"made up {len(told.strange)}, ids repeated {told.repeats}, marked as possible repeat {told.labelled}; "
            f"{told.charts} charts; harm {dict(self.harm)}; {self.faults} wrong answers of Slack; "
            f"{self.seconds:.0f} s; said besides: {dict(told.other)}"
        )


class Night:
    """One run of a plan."""

    def __init__(self, plan: Plan, home: Path) -> None:
        self._plan = plan
        self._chance = random.Random(plan.seed)
        self._product = Product(home)
        self._logs = home / "logs"
        self._stories = stories(plan)
        self._harm: Counter[str] = Counter()
        self._is_over = threading.Event()
        self._seen = 0
        """How many messages there were at the last harm."""

    def tell(self) -> Outcome:
        """Live through it."""
        began = time.monotonic()
        with self._product as product:
            product.nursery = Nursery() if self._plan.forked else None
            product.open()
            self._logs.mkdir()
            if self._plan.faults:
                faults = [one for one in FAULTS if self._plan.only_fault in ("", one["fault"])]
                product.slack.change(
                    "faults", share=self._plan.faults, faults=faults, methods=TELLING, seed=self._plan.seed
                )
            for name in self._bots():
                product.start_bot(name, **self._how(name))
            for name, runs in self._watched().items():
                product.start_watcher(name, {run: str(self._logs / f"{run}.log") for run in runs}, **self._how(name))
            product.connected(len(self._bots()))
            if self._plan.say_every_seconds:
                threading.Thread(target=self._say, args=(began,), daemon=True).start()
            with self._writer() as writer:
                self._do_harm()
                writer.wait()
            self._wait_until_told()
            time.sleep(REST_SECONDS)
            wrong = product.slack.look("state")["faults"]["met"]
            judgement = judge(product.slack.written(), self._expected())
            self._is_over.set()
        findings = sum(one.findings for one in self._stories.values())
        return Outcome(judgement, findings, time.monotonic() - began, self._harm, wrong)

    def _bots(self) -> list[str]:
        return [f"bot{number}" for number in range(self._plan.bots)]

    def _watched(self) -> dict[str, list[str]]:
        nodes: dict[str, list[str]] = {f"node{number}": [] for number in range(self._plan.watchers)}
        for number, one in enumerate(self._stories.values()):
            nodes[f"node{number % self._plan.watchers}"].append(one.run)
        return nodes

    def _how(self, name: str) -> dict[str, object]:
        """How a bot or a watcher is started, where it is not as by a user."""
        words = (self._plan.without,) if self._plan.without else ()
        if self._plan.jumps:
            return {"module": "tests.scenarios.jumping", "words": words, **jumping.environment(self._clock_of(name))}
        return {"module": "tests.scenarios.without", "words": words} if words else {}

    def _clock_of(self, name: str) -> Path:
        return self._product.home / f"{name}.clock"

    def _expected(self) -> set[Entry]:
        return {entry for one in self._stories.values() for entry in one.entries}

    def _writer(self) -> subprocess.Popen[bytes]:
        writer = subprocess.Popen(
            [sys.executable, "-m", "tests.scenarios.writer", str(self._logs)], cwd=ROOT, stdin=subprocess.PIPE
        )
        # The script is longer than a pipe holds, and the writer reads it at its own pace.
        lines = "".join(f"{line}\n" for line in script(self._stories)).encode()
        threading.Thread(target=_feed, args=(writer, lines), daemon=True).start()
        return writer

    def _say(self, began: float) -> None:
        """Say now and then how far it is, until there is nothing more to say it of."""
        room = self._another_look()
        while not self._is_over.is_set():
            left = len(judge(room.written(), self._expected()).lost)
            sys.stdout.write(
                f"{time.monotonic() - began:6.0f} s: {self._harm.total()} of {self._plan.harm} harms, "
                f"{left} of {len(self._expected())} messages not yet told, load {os.getloadavg()[0]:.1f}\n"
            )
            sys.stdout.flush()
            self._is_over.wait(self._plan.say_every_seconds)

    def _another_look(self) -> Room:
        """For whoever looks at the workspace from a thread of his own."""
        return Room(self._product.slack.page, self._product.slack.folder)

    def _wait_until_told(self) -> None:
        expected, missing, since = self._expected(), -1, time.monotonic()
        while missing and time.monotonic() - since < self._plan.limit_seconds:
            left = len(judge(self._product.slack.written(), expected).lost)
            if left != missing:
                missing, since = left, time.monotonic()
            time.sleep(0.5)

    # -- harm

    def _do_harm(self) -> None:
        """All the harm of the plan in random order, at random moments."""
        plan = self._plan
        self._eyes = self._another_look()
        acts: list[tuple[str, Callable[[], None]]] = []
        acts += [("bot killed", lambda: self._kill(self._chance.choice(self._bots())))] * plan.bot_kills
        acts += [
            ("watcher killed", lambda: self._kill(self._chance.choice(list(self._watched()))))
        ] * plan.watcher_kills
        acts += [("Redis killed", lambda: self._product.kill_redis(self._chance.uniform(0, 0.5)))] * plan.redis_kills
        acts += [("bot asleep", self._sleep)] * plan.pauses
        acts += [("Redis emptied", self._flush)] * plan.flushes
        acts += [("watcher killed in a blackout", self._black_out)] * plan.blackouts
        acts += [("clock jumped", self._jump)] * plan.jumps
        self._chance.shuffle(acts)
        for what, act in acts:
            time.sleep(self._chance.uniform(0.4, 1.6) * plan.pace_seconds)
            self._wait_for_progress()
            act()
            self._harm[what] += 1

    def _wait_for_progress(self) -> None:
        ends = time.monotonic() + self._plan.progress_seconds
        while len(self._eyes.written()) == self._seen and time.monotonic() < ends:
            time.sleep(0.1)
        self._seen = len(self._eyes.written())

    def _kill(self, name: str) -> None:
        self._product.kill(name)
        self._product.again(name)

    def _jump(self) -> None:
        name = self._chance.choice([*self._bots(), *self._watched()])
        jumping.jump(self._clock_of(name), self._chance.choice(jumping.OFFSETS))

    def _sleep(self) -> None:
        self._product.pause(self._chance.choice(self._bots()), self._chance.uniform(*PAUSE_SECONDS))

    def _black_out(self) -> None:
        with self._product.redis_away(BLACKOUT_SECONDS):
            for name in self._watched():
                self._kill(name)

    def _flush(self) -> None:
        with self._product.redis.client() as client:
            client.flushall()


def stories(plan: Plan) -> dict[str, Story]:
    """Every run's story by its log file: together the findings of the plan, spread over the time of the harm."""
    lasts = max(5.0, plan.harm * plan.pace_seconds)
    troubles = max(1, plan.findings // plan.runs - 1)
    every = lasts / troubles
    chance = random.Random(plan.seed)
    return {
        f"run{number}.log": story(f"run{number}", troubles, 2.0 + chance.uniform(0, every), every)
        for number in range(plan.runs)
    }


def night(plan: Plan) -> Outcome:
    """Live through a plan in a place of its own."""
    return live(lambda home: Night(plan, home).tell(), None)


def _feed(writer: subprocess.Popen[bytes], lines: bytes) -> None:
    assert writer.stdin is not None
    try:
        writer.stdin.write(lines)
        writer.stdin.close()
    except BrokenPipeError:
        pass


def main() -> int:
    """Run the plan of the command line and print what came of it."""
    plan, keep = asked_for(Plan(), __doc__)
    sys.stdout.write(f"{plan}\n")
    sys.stdout.flush()
    outcome = live(lambda home: Night(plan, home).tell(), keep)
    say(outcome)
    return 0 if outcome.judgement.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
