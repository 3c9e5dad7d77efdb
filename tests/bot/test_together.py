"""A watcher that falls silent and has several runs is one thread, that names them all."""

import re
from dataclasses import replace

import pytest

from bot import judging
from bot.judging import RunJudge
from diagnosis.incidents import Mute, Tracker
from diagnosis.observations import Heartbeat, Origin, Phase, RankProgress
from diagnosis.thresholds import Thresholds
from handlers.command import Desk
from handlers.messages.incident import NO_FACTS, root
from handlers.messages.languages import speaking
from handlers.messages.phrase import Clause
from tests.bot.chinese import english_in

LIMITS = Thresholds(stall_after=600.0, stall_min=600.0, watcher_silent_after=30.0)
HEARD, SILENT = 1.0, 100.0


class Company:
    """Runs with their nodes, and how long ago each node was heard."""

    def __init__(self, registry, judge_of):
        self.registry, self.judge_of = registry, judge_of
        self.judge, self.tracker = judge_of(), Tracker()
        self.nodes, self.ages, self.now, self.told = {}, {}, 0.0, 0
        self.beat = None

    async def trains(self, run, *nodes, **facts):
        """This run trains on these nodes."""
        self.now = await self.registry.now()
        await self.registry.heartbeats.beat(Heartbeat(nodes[0], nodes[0], self.now, runs=(run,)), ttl=3600)
        (beat,) = await self.registry.heartbeats.of_run(run)
        self.beat = self.beat or beat
        await self.registry.runs.see(run, last_step=100, dialect="plain", **facts)
        await self.registry.ranks.update(
            run, [RankProgress(Origin(run, nodes[0], 0, 0), 100, self.now, self.now, Phase.TRAINING)]
        )
        self.nodes[run] = nodes
        self.ages |= dict.fromkeys(nodes, HEARD)

    async def beats_of(self, _desk, run):
        """What `judging.beats_of` gives."""
        return tuple(
            replace(
                self.beat, heartbeat=replace(self.beat.heartbeat, node=node, watcher=node), age_seconds=self.ages[node]
            )
            for node in self.nodes[run]
        )

    async def look(self, times=3):
        """Judge so often; what was said, each thing heard by the tracker."""
        said = []
        for _ in range(times):
            self.now += 2
            new = list(await self.judge.judge(self.now, self.tracker))
            for one in new:
                self.told += 1
                self.tracker.receive(f"bot/monitor/x/{self.told}", one, self.now)
            said += new
        return said

    def threads(self):
        """Runs with an open thread, and whom each speaks for."""
        opened = [one for run in self.nodes for one in self.tracker.open_of(run)]
        return {one.run: one.head.details.get("more", "").removeprefix("The same goes for ")[:-1] for one in opened}


@pytest.fixture
def company(registry, monkeypatch):
    async def no_chart(*_args, **_kwargs):
        raise AssertionError("a judge draws nothing")

    desk = Desk(registry, no_chart, lambda: "T1", ask_deadline_seconds=0.2, thresholds=LIMITS)
    made = Company(registry, lambda: RunJudge(registry, desk, LIMITS, idle_after_seconds=3600.0))
    monkeypatch.setattr(judging, "beats_of", made.beats_of)
    return made


@pytest.mark.parametrize(
    ("runs", "threads"),
    [
        ({"a": ("n1",)}, {"a": ""}),
        ({"a": ("n1",), "b": ("n1",)}, {"a": "b"}),
        ({"a": ("n1",), "b": ("n1",), "c": ("n1", "n2")}, {"a": "2 more runs: b, c"}),
        ({"a": ("n1",), "b": ("n2",)}, {"a": ""}),
        (
            {f"r{n:02}": ("n1",) for n in range(13)},
            {"r00": f"12 more runs: {', '.join(f'r{n:02}' for n in range(1, 7))}, …"},
        ),
    ],
)
async def test_one_silent_watcher_is_one_thread(company, runs, threads):
    """The first of its runs tells, and names the others; a run of another watcher has no part in it."""
    for run, nodes in runs.items():
        await company.trains(run, *nodes)
    assert await company.look() == []

    company.ages["n1"] = SILENT
    said = await company.look()

    assert company.threads() == threads
    (incident,) = company.tracker.open_of("a") + company.tracker.open_of("r00")
    assert all(f"goes for {names}" in str(root(incident, NO_FACTS).blocks) for names in threads.values() if names)
    with speaking("zh"):
        shown = " ".join(Clause(text).plain for one in said for text in (one.text, one.details.get("more", "")))
    assert not english_in(re.sub(r"\b(n1|r\d\d|[a-d])\b", "某", shown))


async def test_heard_again_it_is_over_for_all(company):
    """One thread was opened, and it ends."""
    for run in ("a", "b", "c"):
        await company.trains(run, "n1")
    await company.look()
    company.ages["n1"] = SILENT
    await company.look()

    company.ages["n1"] = HEARD
    await company.look()

    assert company.threads() == {}
    company.ages["n1"] = SILENT
    await company.look()
    assert company.threads() == {"a": "2 more runs: b, c"}


async def test_each_channel_hears_of_its_own_runs(company):
    """Nobody reads of a run of another team, and nobody misses one of their own."""
    for run, channel in (("a", "#x"), ("b", "#y"), ("c", "#x"), ("d", "#y")):
        await company.trains(run, "n1", channel=channel)
    await company.look()

    company.ages["n1"] = SILENT
    await company.look()

    assert company.threads() == {"a": "c", "b": "d"}


async def test_when_the_one_that_speaks_ends_another_one_speaks(company):
    """Its thread is over with its run; the others are still unseen."""
    for run in ("a", "b", "c"):
        await company.trains(run, "n1")
    await company.look()
    company.ages["n1"] = SILENT
    await company.look()

    await company.registry.runs.see("a", state="finished")
    await company.look()

    assert company.threads() == {"b": "c"}


async def test_the_next_bot_says_nothing_again(company):
    """Who speaks for whom is read from the threads."""
    for run in ("a", "b", "c"):
        await company.trains(run, "n1")
    await company.look()
    company.ages["n1"] = SILENT
    await company.look()

    company.judge = company.judge_of()

    assert await company.look() == []
    company.ages["n1"] = HEARD
    await company.look()
    assert company.threads() == {}


async def test_who_is_muted_speaks_for_nobody(company):
    """Else the others would be unseen and unsaid."""
    for run in ("a", "b", "c"):
        await company.trains(run, "n1")
    company.tracker.set_mutes([Mute("a", company.now + 3600, "U1")], company.now)
    await company.look()

    company.ages["n1"] = SILENT
    await company.look()

    assert company.threads() == {"a": "", "b": "c"}


async def test_a_run_that_is_gone_meanwhile_ends_no_bot(company, monkeypatch):
    """Redis was emptied in the midst of a look: what was found is said, each for itself."""
    for run in ("a", "b"):
        await company.trains(run, "n1")
    await company.look()
    company.ages["n1"] = SILENT
    many, routes_of, gone = company.registry.runs.many, company.registry.routes.all, []

    async def emptied():
        gone.append(True)
        return await routes_of()

    async def left(names):
        return [] if gone and gone.pop() else await many(names)

    monkeypatch.setattr(company.registry.routes, "all", emptied)
    monkeypatch.setattr(company.registry.runs, "many", left)
    await company.look()

    assert company.threads() == {"a": "", "b": ""}
