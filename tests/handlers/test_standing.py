"""What the registry and the nodes know becomes one picture, and the picture one sentence."""

from dataclasses import replace

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Tracker
from diagnosis.observations import Category, Evidence, GpuSample, Origin, Phase, ProcessSample, RankProgress
from diagnosis.root_cause import Diagnosis
from diagnosis.stall import Outcome
from diagnosis.thresholds import Thresholds
from handlers.ask_nodes import reading_of
from handlers.messages.blocks import weight
from handlers.messages.stall import sentence, stall_answer
from handlers.messages.stall_rows import telling_rows
from handlers.standing import NodeView, picture_of
from registry import Run

NOW = 1_000_000.0
LIMITS = Thresholds()


def rank(number, *, step=100, quiet=5.0, phase=Phase.TRAINING, heard=None):
    where = Origin("run42", "n1", number, number % 8)
    return RankProgress(where, step, NOW - quiet, NOW - (quiet if heard is None else heard), phase)


def node(name="n1", *, silent=False, states=("running",), gpus=(), **more):
    processes = tuple(
        ProcessSample(name, 100 + at, NOW, "python", state, rank=at, local_rank=at, gpu_indices=(at,))
        for at, state in enumerate(states)
    )
    samples = tuple(
        GpuSample(
            name,
            at,
            NOW,
            utilization_percent=util,
            power_watts=power,
            power_limit_watts=700.0,
            memory_used_bytes=60 << 30,
            pids=(100 + at,),
        )
        for at, (util, power) in enumerate(gpus)
    )
    age = 240.0 if silent else 2.0
    return NodeView(name, age, silent, samples, reading_of(samples, name), processes, **more)


def picture(ranks, nodes=None, *, run=None, intervals=()):
    known = run or Run("run42", dialect="plain", first_seen=NOW - 5000, last_step=100)
    return picture_of(
        known, tuple(ranks), tuple([node()] if nodes is None else nodes), tuple(intervals), limits=LIMITS, now=NOW
    )


@pytest.mark.parametrize(
    ("quiet", "state", "loudest", "said"),
    [
        (700, "stalled", Severity.CRITICAL, "🔴 *run42* has been stalled for 12 min at step 100."),
        (700, "crashed", Severity.CRITICAL, "🔴 *run42* stopped at step 100 (crashed), last progress 12 min ago."),
        (700, "down", None, "🔴 *run42* stopped at step 100 (down), last progress 12 min ago."),
        (5, "running", None, "🟢 *run42* trains at step 100"),
        (5, "running", Severity.WARNING, "🟠 *run42* trains at step 100"),
        (5, "running", Severity.CRITICAL, "🔴 *run42* trains at step 100"),
    ],
)
def test_the_sentence_agrees_with_the_list_of_runs(quiet, state, loudest, said):
    """What /runs calls crashed is not stalled here, and what trains on NaN gets no green light."""
    found = picture([rank(0, quiet=quiet)])

    assert sentence("run42", found, state, loudest).mrkdwn.startswith(said)


@pytest.mark.parametrize(
    ("case", "outcome", "said"),
    [
        ({"ranks": [rank(0)]}, Outcome.FINE, "*run42* trains at step 100, last progress 5 s ago."),
        ({"ranks": [rank(0, quiet=700)]}, Outcome.STALLED, "*run42* has been stalled for 12 min at step 100."),
        ({"ranks": [rank(0, quiet=700, phase=Phase.SAVING)]}, Outcome.FINE, "pauses lawfully (saving) at step 100, last progress 12 min ago; that is no stall."),
        ({"ranks": [rank(0, quiet=700, phase=Phase.FINISHED)]}, Outcome.ENDED, "has ended at step 100; it is not stalled."),
        ({"ranks": [rank(0, quiet=700)], "run": Run("run42", state="killed")}, Outcome.ENDED, "has ended at step 100"),
        ({"ranks": [rank(0, quiet=60)], "nodes": [node(states=("gone",))]}, Outcome.RUN_DOWN, "is down at step 100"),
        ({"ranks": [rank(0)], "nodes": [node(silent=True)]}, Outcome.WATCHER_SILENT, "I cannot tell whether it is stalled, because the watcher on n1, which reads its steps, was last heard 4 min ago."),
        ({"ranks": [rank(0, quiet=700)], "nodes": [node("n2"), node(silent=True)]}, Outcome.WATCHER_SILENT, "I cannot tell whether it is stalled, because the watcher on n1, which reads its steps, was last heard 4 min ago. Last progress 12 min ago at step 100."),
        ({"ranks": [rank(0, quiet=700)], "nodes": []}, Outcome.WATCHER_SILENT, "because no watcher of it is heard any more. Last progress 12 min ago at step 100."),
        ({"ranks": [rank(0)], "nodes": [node(), node("n2", silent=True)]}, Outcome.WATCHER_SILENT, "is not fully watched"),
        ({"ranks": [], "run": Run("run42")}, Outcome.PROGRESS_UNKNOWN, "I cannot tell whether it is stalled"),
    ],
)  # fmt: skip
def test_each_outcome_has_its_sentence(case, outcome, said):
    """Stalled, down, unwatched, pausing, unknown and ended are told apart in words."""
    found = picture(**case)

    assert found.outcome is outcome
    assert said in sentence("run42", found).mrkdwn


HANG = Diagnosis(
    Category.STORAGE_STALL,
    "high",
    culprit_rank=5,
    culprit_node="n1",
    culprit_local_rank=5,
    evidence=Evidence("/logs/rank5.log", 41, "last words"),
    because=("rank 5 waits in the kernel for storage (nfs_wait) (/logs/rank5.log:41)",),
    next=("look at the mount", "one", "two", "three"),
    unknown=("n1: no NVIDIA driver here",),
    runner_up="the network of n1",
)


def test_the_first_rank_is_named_with_its_confidence_and_its_line():
    """What, who, how sure, why, where to check it, what else it could be, and three steps at most."""
    found = replace(picture([rank(n, quiet=700) for n in range(8)]), diagnosis=HANG)

    message = stall_answer("run42", found, NOW, 1, 1)

    whole = str(message.blocks)
    assert "Storage or a file lock holds it up: rank 5 (n1) stopped first · confidence: high." in message.text
    assert "• rank 5 waits in the kernel for storage (nfs_wait) (rank5.log:41)" in whole
    assert "`rank5.log:41`" in whole
    assert "Or else: the network of n1." in whole
    assert "• Look at the mount" in whole
    assert "three" not in whole
    assert "1 of 1 nodes answered" in whole


def test_nobody_is_accused_without_evidence():
    """All alike: cannot be told, and what is missing."""
    blind = Diagnosis(Category.COLLECTIVE_HANG, "low", unknown=("no GPU readings", "no process states"))
    found = replace(picture([rank(n, quiet=700) for n in range(8)]), diagnosis=blind)

    said = sentence("run42", found).mrkdwn

    assert "Which rank stopped first cannot be told, because nothing that the nodes told tells the ranks apart" in said
    assert "(no GPU readings, no process states)" in said


def test_silent_nodes_are_named_first():
    """Whatever is said of the others is said without them."""
    found = replace(
        picture([rank(0, quiet=700)], [node(), node("n2", silent=True)]), diagnosis=Diagnosis(Category.NONE, "low")
    )

    blocks = stall_answer("run42", found, NOW, 1, 2).blocks

    assert blocks[1]["text"]["text"].startswith("Not heard, and so not looked at: n2 (4 min)")


def test_what_a_silent_node_said_last_is_no_look_at_its_processes():
    """Its ranks stand in the table with their steps; that a process sleeps is not known any more."""
    seen, unseen = (telling_rows(picture([rank(0, quiet=700)], [node(silent=silent)]), NOW) for silent in (False, True))

    assert [row[5] for row in seen] == ["running"]
    assert [row[2:] for row in unseen] == [("100", "12 min ago", "–", "–")]


def big(ranks=1000, odd=()):
    """A run of many ranks, eight a node, whose GPUs all draw a little more or less."""
    nodes = [
        replace(
            node(states=("running",) * 8, gpus=[(100.0, 110.0 + (at + name) % 9) for at in range(8)]), node=f"n{name}"
        )
        for name in range(ranks // 8)
    ]
    known = [
        RankProgress(Origin("run42", f"n{n // 8}", n, n % 8), 99 if n in odd else 100, NOW - 700 - n % 3, NOW - 700)
        for n in range(ranks)
    ]
    return picture(known, nodes)


def test_a_big_run_shows_what_differs():
    """A thousand ranks are one row for all that are alike, and one for each that is not."""
    rows = telling_rows(big(odd={999}), NOW)

    assert [row[0] for row in rows] == ["999 ranks, 0 to 998", "999 (local 7)"]
    assert rows[0][1] == "125 nodes"


def test_many_that_differ_alike_are_one_row_too():
    """A node that stands elsewhere is not eight rows."""
    rows = telling_rows(big(odd=set(range(80, 88))), NOW)

    assert [row[0] for row in rows] == ["992 ranks, 0 to 999", "8 ranks, 80 to 87"]
    assert rows[1][1] == "n10"


def test_the_answer_for_a_thousand_ranks_stays_within_slacks_limits():
    """However many differ, however much could not be looked at."""
    found = replace(
        big(odd=set(range(0, 1000, 7))), diagnosis=HANG, blind=tuple(f"n{n}: no kernel log" for n in range(99))
    )

    answer = stall_answer("run42", found, NOW, 125, 125)

    assert len(answer.text) <= 4000
    assert weight(answer.blocks) <= 12_000
    assert len(answer.blocks) <= 50


def test_what_could_not_be_looked_at_is_listed():
    """Silent watchers and their problems are part of the answer."""
    found = picture([rank(0)], [node(), node("n2", silent=True), node("n3", problems=("no NVIDIA driver here",))])

    assert found.blind == ("n2: its watcher was last heard 240 s ago", "n3: no NVIDIA driver here")


@pytest.mark.parametrize("begins", [(), ("nonfinite_loss",)])
@pytest.mark.parametrize(("category", "is_same"), [(Category.RANK_CRASH, True), (Category.GPU_OOM, False)])
def test_an_answer_and_the_root_it_points_to_say_the_same_is_to_be_done(category, is_same, begins):
    """Where the look at the nodes finds what is known; where it finds something else, its own steps are news."""
    tracker, details = Tracker(), {"more": "the kernel log is here and shows no out-of-memory kill of it"}
    for kind in begins:
        tracker.receive(kind, Finding(kind, Severity.CRITICAL, Origin("run42", "n1", 0), "loss is NaN"), NOW)
    killed = Finding("killed", Severity.CRITICAL, Origin("run42", "n1", 1), "a process was killed", details=details)
    tracker.receive("e", killed, NOW)
    (incident,) = tracker.open_of("run42")
    found = replace(
        picture([rank(0, quiet=700)]), diagnosis=Diagnosis(category, "low", culprit_rank=1, next=("look at its pid",))
    )

    told = str(stall_answer("run42", found, NOW, 1, 1, known=incident).blocks)

    assert ("ask who sent kill -9" in told) is is_same
    assert ("Look at its pid" in told) is not is_same
    assert "Press Snapshot" not in told


@pytest.mark.parametrize(("state", "begins"), [("running", "Stop the run soon"), ("down", "Start again from")])
def test_an_answer_never_asks_to_stop_what_is_down(state, begins):
    """As little as the root does."""
    tracker = Tracker()
    tracker.receive("e", Finding("nonfinite_loss", Severity.CRITICAL, Origin("run42", "n1", 0), "loss is NaN"), NOW)
    (incident,) = tracker.open_of("run42")
    found = replace(picture([rank(0, quiet=700)]), diagnosis=Diagnosis(Category.NAN_INF, "high"))

    told = stall_answer("run42", found, NOW, 1, 1, state=state, known=incident)

    assert begins in str(told.blocks)
