"""What only the whole run can know: said after it stood twice, taken back when it is over."""

from dataclasses import replace

import pytest

from bot import judging
from bot.judging import RunJudge
from diagnosis.findings import Cleared, Finding
from diagnosis.incidents import Tracker
from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import Evidence, Heartbeat, Origin, Phase, ProcessSample, RankProgress, StepSample
from diagnosis.thresholds import Thresholds
from handlers.command import Desk
from handlers.messages.languages import speaking
from handlers.messages.phrase import Clause
from registry import RegistryAway, keys
from registry.facts import pack
from tests.bot.chinese import english_in
from tests.bot.test_nodes import a_node

LIMITS = Thresholds(stall_after=10.0, stall_min=5.0, stall_max=20.0, stall_phase=60.0, watcher_silent_after=30.0)


@pytest.fixture
def ask_seconds():
    """How long nodes are waited for; where one answers, as long as a busy machine takes."""
    return 0.2


@pytest.fixture
def judge(registry, ask_seconds):
    async def no_chart(*_args, **_kwargs):
        raise AssertionError("a judge draws nothing")

    desk = Desk(registry, no_chart, lambda: "T1", ask_deadline_seconds=ask_seconds, thresholds=LIMITS)
    return RunJudge(registry, desk, LIMITS, idle_after_seconds=3600.0)


@pytest.fixture
def world(registry):
    """Sets how the run looks: seconds since progress, phases, heartbeats."""

    async def set_up(quiet=1.0, *, ranks=4, phase=Phase.TRAINING, processes=(), nodes=("n1",), step=100, **facts):
        now = await registry.now()
        for node in nodes:
            await registry.heartbeats.beat(Heartbeat(node, node, now, runs=("run42",)), processes=processes, ttl=3600)
        await registry.runs.see("run42", **({"last_step": step, "dialect": "plain"} | facts))
        progress = [
            RankProgress(Origin("run42", "n1", number, number), step, now - quiet, now - quiet, phase)
            for number in range(ranks)
        ]
        await registry.ranks.update("run42", progress)
        return now

    return set_up


async def judged(judge, now, tracker=None):
    """What one look gives, once the nodes that were asked had their time."""
    said = list(await judge.judge(now, tracker or Tracker()))
    await judge.until_explained()
    return said


async def test_a_stall_is_said_when_it_stood_twice(judge, world):
    """One look is no stall; two are, once."""
    now = await world(quiet=60)

    assert await judged(judge, now) == []
    (found,) = await judged(judge, now + 2)

    assert isinstance(found, Finding)
    assert (found.kind, found.severity, found.step) == ("stalled", "critical", 100)
    assert found.text.startswith("stalled at step 100, no progress for 62 s")
    assert await judged(judge, now + 4) == []


async def test_progress_takes_it_back(judge, world):
    """The trouble is over when there is a new step."""
    now = await world(quiet=60)
    await judged(judge, now)
    await judged(judge, now + 2)

    later = await world(quiet=0.5, step=101)
    (over,) = await judged(judge, later)

    assert isinstance(over, Cleared)
    assert (over.kind, over.text) == ("stalled", "progress again, at step 101")


async def test_a_stall_whose_processes_die_goes_over_into_a_run_that_is_down(judge, world):
    """Not over: the thread goes on with the end of the run, and only new steps end it."""
    tracker = Tracker()
    gone = ProcessSample("n1", 7, 0.0, "python", "gone", rank=0)
    now = await world(quiet=60)
    await judged(judge, now)
    said = await judged(judge, now + 2)
    tracker.receive("monitor/x/1", said[0], now + 2)

    await world(quiet=60, processes=[gone])
    assert await judged(judge, now + 4) == []
    (down,) = await judged(judge, now + 6)
    tracker.receive("monitor/x/2", down, now + 6)

    assert down.kind == "run_down"
    assert down.text.startswith("the run is down at step 100: its processes are gone")
    assert down.text.endswith("it had stalled at step 100 before that")
    (incident,) = tracker.open_of("run42")
    assert (incident.trouble, incident.head.kind) == ("run_down", "run_down")
    later = await world(quiet=0.5, step=101)
    over = await judged(judge, later)
    assert {one.text for one in over} == {"progress again, at step 101"}


async def test_the_last_step_of_a_dead_run_is_told_once_it_is_read(judge, world):
    """Its processes are gone before its watcher has read to the end: the thread names the step that /runs names."""
    gone = [ProcessSample("n1", 7, 0.0, "python", "gone", rank=0)]
    now = await world(quiet=1, step=429, processes=gone)
    assert await judged(judge, now) == []
    await world(quiet=0.5, step=434, processes=gone)

    assert await judged(judge, now + 2) == []
    (down,) = await judged(judge, now + 4)

    assert (down.kind, down.step) == ("run_down", 434)
    assert down.text.startswith("the run is down at step 434")


async def test_a_log_that_grows_for_ever_does_not_hide_a_dead_run(judge, world):
    """Somebody else may write it."""
    gone = [ProcessSample("n1", 7, 0.0, "python", "gone", rank=0)]
    said = []
    for turn in range(20):
        now = await world(quiet=1, step=429 + turn, processes=gone)
        said += await judged(judge, now + 2 * turn)

    assert [one.kind for one in said] == ["run_down"]


async def test_nothing_is_over_while_nobody_looks(judge, world, registry, monkeypatch):
    """Its watcher left: the stall stays open, and the watcher's silence is said."""
    now = await world(quiet=60)
    await judged(judge, now)
    await judged(judge, now + 2)

    (beat,) = await registry.heartbeats.of_run("run42")

    async def old(*_):
        return (replace(beat, age_seconds=100.0),)

    monkeypatch.setattr(judging, "beats_of", old)
    said = await judged(judge, now + 4) + await judged(judge, now + 6) + await judged(judge, now + 8)

    assert [(type(one), one.kind) for one in said] == [(Finding, "watcher_silent")]


@pytest.mark.parametrize(
    ("ages", "said"),
    [
        ({"n1": 25.0}, []),
        ({"n1": 25.0, "n2": 1.0}, []),
        ({"n1": 25.0, "n2": 1_000.0}, [("warning", "n2")]),
        ({"n1": 100.0}, [("warning", None)]),
        ({"n1": 100.0, "n2": 1.0}, [("critical", None), ("warning", "n1")]),
        ({}, [("warning", None)]),
    ],
)
async def test_a_silent_watcher_is_never_told_as_a_stall(judge, world, registry, monkeypatch, *, ages, said):
    """Its steps are unread, not missing; where others are heard, the node may have taken the run with it."""
    now = await world(quiet=ages.get("n1", 100.0) + 5.0)
    (beat,) = await registry.heartbeats.of_run("run42")

    async def old(*_):
        return tuple(
            replace(beat, heartbeat=replace(beat.heartbeat, node=node, watcher=node), age_seconds=age)
            for node, age in ages.items()
        )

    monkeypatch.setattr(judging, "beats_of", old)
    found = await judged(judge, now) + await judged(judge, now + 2)

    assert {one.kind for one in found} <= {"watcher_silent"}
    assert [(one.severity, one.origin.node) for one in found] == said
    with speaking("zh"):
        assert not [one.text for one in found if english_in(Clause(one.text.replace("n1", "节点")).plain)]


async def test_other_limits_take_a_stall_back_without_claiming_progress(judge, world):
    """It is still at the step at which it was called stalled."""
    now = await world(quiet=30)
    await judged(judge, now)
    await judged(judge, now + 2)

    await world(quiet=31, phase=Phase.SAVING)
    (over,) = await judged(judge, now + 4)

    assert over.text == "still at step 100, but 60 s without a step are allowed now"


@pytest.mark.parametrize("phase", [Phase.SAVING, Phase.EVALUATING])
async def test_a_lawful_pause_is_no_stall(judge, world, phase):
    """A checkpoint may take its time."""
    now = await world(quiet=40, phase=phase)

    assert await judged(judge, now) + await judged(judge, now + 2) + await judged(judge, now + 4) == []


@pytest.mark.parametrize("ask_seconds", [30.0])
async def test_the_finding_names_the_first_rank(judge, world, registry):
    """Three wait for their peers, one for a file lock: it heads the message, with what shows it and what to do."""

    async def facts(request):
        assert request.kind == "facts"
        steps = tuple(
            StepSample(
                Origin("run42", "n1", n, n), 100, "printed", 2.0, Evidence("train.log", n + 1, f"[rank{n}] step 100")
            )
            for n in range(4)
        )
        looks = tuple(
            ProcessSample(
                "n1", n, at, "python", "sleeping", 1.0, n, n, "sk_wait_data" if n != 2 else "flock_lock_inode_wait"
            )
            for n in range(4)
            for at in range(5)
        )
        told = NodeFacts(
            "n1", 5.0, logs=(LogAccount("train.log", steps, ranks=(0, 1, 2, 3), lines=4),), processes=looks
        )
        return {"node": "n1", "facts": pack(told)}

    now = await world(quiet=60)
    async with a_node(registry, facts, "n1"):
        await judged(judge, now)
        (found,) = await judged(judge, now + 2)

    assert (found.origin.rank, found.origin.node, found.origin.local_rank) == (2, "n1", 2)
    assert found.details["more"].startswith(
        "Storage or a file lock holds it up: rank 2 (n1) stopped first · confidence: high."
    )
    assert "flock_lock_inode_wait" in found.evidence[0].text
    assert 1 <= len(found.details["next"].splitlines()) <= 3


async def test_a_stall_is_said_although_no_node_answers(judge, world):
    """Without any evidence it names nobody and says what is missing."""
    now = await world(quiet=60)
    await judged(judge, now)

    (found,) = await judged(judge, now + 2)

    assert found.origin.rank is None
    assert "cannot be told" in found.details["more"]
    assert "its watcher did not answer in time" in found.details["unseen"]


async def test_gone_processes_are_a_run_that_is_down(judge, world):
    """Not stalled: there is nothing left to wait for."""
    gone = ProcessSample("n1", 7, 0.0, "python", "gone", rank=0)
    now = await world(quiet=40, processes=[gone])
    await judged(judge, now)

    (found,) = await judged(judge, now + 2)

    assert found.kind == "run_down"


async def test_a_finished_run_is_never_stalled(judge, world):
    """It said so itself."""
    now = await world(quiet=500, phase=Phase.FINISHED)

    assert await judged(judge, now) + await judged(judge, now + 2) == []


@pytest.mark.parametrize(
    ("ages", "quiet", "turns"),
    [({"n1": 1.0}, 1.0, 1), ({"n1": 1.0, "n2": 100.0}, 1.0, 1), ({"n1": 100.0}, 1.0, 0), ({"n1": 1.0}, 60.0, 0)],
    ids=["all are heard", "one is silent", "nobody is heard", "it stands"],
)
async def test_a_restart_is_a_turn(judge, world, registry, monkeypatch, *, ages, quiet, turns):
    """The next attempt trains: what ended the earlier one is over, also where another node's watcher is silent."""
    now = await world(quiet, attempt=0)
    (beat,) = await registry.heartbeats.of_run("run42")

    async def aged(*_):
        return tuple(
            replace(beat, heartbeat=replace(beat.heartbeat, node=node, watcher=node), age_seconds=age)
            for node, age in ages.items()
        )

    monkeypatch.setattr(judging, "beats_of", aged)
    await judged(judge, now)
    await registry.runs.update("run42", attempt=1)

    await judged(judge, now + 2)
    said = await judge.turns(now + 2, Tracker())

    assert [(turn.run, turn.attempt, turn.has_ended) for turn in said] == [("run42", 1, False)] * turns
    assert all("trains again in attempt 2" in turn.text for turn in said)
    assert await judge.turns(now + 3, Tracker()) == []


async def test_a_stall_said_by_an_earlier_bot_is_taken_back_by_this_one(judge, world):
    """What is open and ours is remembered from the incidents."""
    tracker = Tracker()
    stalled = Finding("stalled", "critical", Origin("run42"), "stalled")
    now = await world(quiet=1)
    tracker.receive("monitor/x/1", stalled, now)

    (over,) = await judged(judge, now, tracker)

    assert isinstance(over, Cleared)


@pytest.mark.parametrize("arrived", [True, False])
async def test_what_never_arrived_is_said_again_in_the_next_reign(judge, world, arrived):
    """Redis was lost while it was said: what no incident knows is found anew, and nothing else."""
    tracker = Tracker()
    now = await world(quiet=60)
    await judged(judge, now)
    (found,) = await judged(judge, now + 2)
    if arrived:
        tracker.receive("monitor/x/1", found, now + 2)

    judge.begin()
    again = await judged(judge, now + 4, tracker) + await judged(judge, now + 6, tracker)

    assert [one.kind for one in again] == ([] if arrived else ["stalled"])


async def test_what_was_found_before_redis_was_lost_is_said_when_it_is_back(judge, world, registry, monkeypatch):
    """A look at all runs breaks off in their midst: what it found by then waits for the next one."""
    now = await world(quiet=60)
    await judged(judge, now)
    await registry.runs.see("other", last_step=1, dialect="plain")
    many, ranks_of, is_away = registry.runs.many, registry.ranks.all, [True]

    async def in_order(names):
        return await many(sorted(names, reverse=True))

    async def lost(name):
        if name == "other" and is_away[0]:
            raise RegistryAway("gone")
        return await ranks_of(name)

    monkeypatch.setattr(registry.runs, "many", in_order)
    monkeypatch.setattr(registry.ranks, "all", lost)
    with pytest.raises(RegistryAway):
        await judged(judge, now + 2)
    is_away[0] = False

    (found,) = await judged(judge, now + 4)

    assert found.kind == "stalled"


async def test_a_run_nobody_heard_of_for_long_is_left_alone(judge, world):
    """Last week's runs page nobody."""
    now = await world(quiet=60)

    assert await judged(judge, now + 7200) + await judged(judge, now + 7202) == []


async def test_a_silent_run_is_judged_behind_thousands_that_go_on(registry, judge, world):
    """Whoever falls silent stands last in the list of what was active; the newest thousand do not hide it."""
    now = await world(quiet=60)
    client = registry.runs._door
    others = [("HSET", keys.run(f"other{n}"), "state", b'"finished"') for n in range(1200)]
    await client.many([*others, *(("ZADD", keys.RUNS, now + n, f"other{n}") for n in range(1200))])
    assert await judged(judge, now) == []

    (found,) = await judged(judge, now + 2)

    assert (found.kind, found.origin.run) == ("stalled", "run42")


async def test_a_run_that_is_over_is_read_again_when_it_speaks(registry, judge, world, monkeypatch):
    """What ended and is silent costs no reading; a new attempt of it is judged at once."""
    now = await world(quiet=1, state="finished")
    await judged(judge, now)
    read, many = [], registry.runs.many

    async def reading(names):
        read.append(list(names))
        return await many(names)

    monkeypatch.setattr(registry.runs, "many", reading)
    await judged(judge, now + 2)
    await world(quiet=60, state="running", attempt=1)
    await judged(judge, now + 4)
    (found,) = await judged(judge, now + 6)

    assert read == [[], ["run42"], ["run42"]]
    assert found.kind == "stalled"
