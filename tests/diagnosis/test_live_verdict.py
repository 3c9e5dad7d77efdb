"""What the whole run adds: a node that fell silent when it stopped, and who fell silent first."""

import pytest

from diagnosis.live_verdict import Silence, Whole, complete, silence_order
from diagnosis.observations import Category, Origin, RankProgress
from diagnosis.root_cause import Diagnosis

STOPPED = 5000.0
HANG = Diagnosis(Category.COLLECTIVE_HANG, "low", unknown=("no GPU readings",))


def ranks(count=8, per_node=4, early=None):
    return tuple(
        RankProgress(
            Origin("run42", f"n{rank // per_node}", rank, rank % per_node),
            900,
            STOPPED,
            STOPPED - (60.0 if rank == early else 0.0),
        )
        for rank in range(count)
    )


def whole(silent=(), *, nodes=2, count=8, per_node=4, early=None):
    known = ranks(count, per_node, early)
    return Whole(dict(silent), nodes, STOPPED, known, dict.fromkeys(range(count), 2.0))


def test_a_node_that_fell_silent_when_the_run_stopped_is_what_the_others_wait_for():
    """Named with what speaks for it; its ranks are the suspects."""
    said = complete(HANG, whole({"n1": STOPPED + 4.0}))

    assert (said.category, said.culprit_node, said.confidence) == (Category.NODE_LOST, "n1", "medium")
    assert said.suspects == (4, 5, 6, 7)
    assert said.because[0].startswith("the watcher of n1 was last heard 4 s after the last progress")
    assert "only the watcher" in said.runner_up


@pytest.mark.parametrize("heard", [STOPPED - 900.0, STOPPED + 900.0])
def test_a_watcher_that_fell_silent_at_another_time_accuses_no_node(heard):
    """The run trained on without it, or stood already."""
    assert complete(HANG, whole({"n1": heard})).category is Category.COLLECTIVE_HANG


def test_most_nodes_silent_is_no_lost_node():
    """Then it is the network, or Redis."""
    said = complete(HANG, whole({"n0": STOPPED, "n1": STOPPED}))

    assert said.culprit_node is None


def test_a_sure_finding_is_not_overruled_by_silence():
    """A rank that printed its own error is named, whatever a watcher does."""
    sure = Diagnosis(Category.GPU_OOM, "high", culprit_rank=2)

    said = complete(sure, whole({"n1": STOPPED}))

    assert (said.category, said.culprit_rank, said.culprit_node, said.culprit_local_rank) == ("gpu_oom", 2, "n0", 2)


def test_silence_alone_is_said_with_low_confidence_and_names_only_a_suspect():
    """It is the weakest sign."""
    said = complete(HANG, whole(early=1))

    assert said.culprit_rank is None
    assert (said.suspects, said.confidence) == ((1,), "low")


@pytest.mark.parametrize(
    ("lead", "gap", "uncertainty", "named"),
    [(40.0, 2.0, 1.0, True), (4.0, 2.0, 1.0, False), (40.0, 20.0, 1.0, False), (40.0, 2.0, 60.0, False)],
)
def test_silence_names_a_rank_only_beyond_its_habit_and_the_clocks(lead, gap, uncertainty, named):
    """Three of its own gaps, the clocks' uncertainty, and five seconds."""
    silences = [Silence(rank, 1000.0 - (lead if rank == 4 else 0.0), gap) for rank in range(8)]

    assert (silence_order(silences, uncertainty) is not None) is named


def test_a_rank_that_prints_rarely_is_not_compared():
    """Rank 7 prints once an hour; its silence means nothing."""
    silences = [Silence(rank, 1000.0, 2.0) for rank in range(7)] + [Silence(7, 100.0, 3600.0)]

    assert silence_order(silences, 1.0) is None
