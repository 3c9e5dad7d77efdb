"""A cause and what comes of it are one incident, whichever is found first."""

import pytest

from diagnosis.findings import Severity
from diagnosis.incidents import Opened, Reason, Resolved, Updated
from tests.diagnosis.incidents.conftest import START
from tests.diagnosis.incidents.test_tracker import HOUR, only


def test_a_cause_hides_its_consequences_and_counts_them(tracker, finding):
    """One out-of-memory and 511 watchdog timeouts are one root message."""
    tracker.receive("e0", finding("cuda_oom", rank=77, details={"category": "gpu_oom"}), START)
    timeouts = [
        only(tracker.receive(f"e{n}", finding("t", rank=n, details={"category": "collective_hang"}), START + n / 10))
        for n in range(1, 512)
    ]

    assert {update.reason for update in timeouts} == {Reason.CONSEQUENCE}
    assert not any(update.speaks for update in timeouts)
    assert tracker.open_of("run42")[0].consequences == {"collective_hang": 511}


def test_what_others_print_in_consequence_is_counted_without_a_word(tracker, finding):
    """A launcher that ends the other ranks tells nothing new."""
    tracker.receive("e0", finding("cuda_oom", rank=77, details={"category": "gpu_oom"}), START)
    said = finding("rank_crash", severity=Severity.INFO, details={"category": "rank_crash", "follows": "yes"})

    updates = [only(tracker.receive(f"e{n}", said, START + n)) for n in (1, 2)]

    assert [update.reason for update in updates] == [Reason.CONSEQUENCE] * 2
    assert not any(update.speaks for update in updates)
    assert tracker.open_of("run42")[0].consequences == {"aftermath": 2}


def test_a_killed_process_explains_that_the_run_stands_still(tracker, finding):
    """One thread, not two."""
    tracker.receive("e0", finding("killed", rank=1, details={}), START)

    update = only(tracker.receive("e1", finding("stalled", rank=None, details={}), START + 10))

    assert update.reason is Reason.CONSEQUENCE
    assert tracker.open_of("run42")[0].trouble == "rank_crash"


@pytest.mark.parametrize(
    ("category", "is_explained"), [("preempted", True), ("node_lost", True), ("gpu_oom", False), ("rank_crash", False)]
)
def test_a_node_that_is_gone_explains_its_silent_watcher(tracker, finding, category, is_explained):
    """A crash does not: whether anybody looks at the next attempt must be told."""
    tracker.receive("e0", finding("end", details={"category": category}), START)

    tracker.receive("e1", finding("watcher_silent", rank=None, details={}), START + 90)

    assert [one.trouble for one in tracker.open_of("run42")] == [
        category,
        *([] if is_explained else ["watcher_silent"]),
    ]


def test_a_cause_that_comes_late_takes_over_the_thread(tracker, finding):
    """Timeouts opened the thread; the out-of-memory behind them heads it, with one reply."""
    opened = only(tracker.receive("e1", finding("t", rank=5, details={"category": "collective_hang"}), START))

    update = only(tracker.receive("e2", finding("cuda_oom", rank=77, details={"category": "gpu_oom"}), START + 2))

    assert update.reason is Reason.CAUSE_FOUND
    assert update.speaks
    assert update.incident.id == opened.incident.id
    assert (update.incident.trouble, update.incident.head.origin.rank) == ("gpu_oom", 77)
    assert update.incident.consequences == {"collective_hang": 1}


@pytest.mark.parametrize(("found", "is_kept"), [("storage_stall", True), ("none", False)])
def test_a_stalled_run_that_goes_down_keeps_the_cause_that_was_found(tracker, finding, found, is_kept):
    """While it stood the nodes could tell why; once the processes are gone they can tell less. Nothing found is not kept."""
    told = {"cause": found, "more": "a file lock holds it", "next": "Find who holds it."}
    tracker.receive("e1", finding("stalled", rank=2, details=told), START)

    tracker.receive(
        "e2", finding("run_down", rank=1, details={"cause": "collective_hang", "more": "other"}), START + 60
    )

    (incident,) = tracker.open_of("run42")
    assert (incident.trouble, incident.head.kind) == ("run_down", "run_down")
    assert (incident.head.details["cause"] == found) is is_kept
    assert (incident.head.details["more"] == "a file lock holds it") is is_kept
    assert incident.head.origin.rank == (2 if is_kept else 1)


def test_a_late_cause_explains_every_open_consequence(tracker, finding):
    """Two threads with one cause: the older one is headed by it, the younger one is closed as explained."""
    tracker.receive("e1", finding("t", details={"category": "collective_hang"}), START)
    tracker.receive("e2", finding("run_down"), START + 2 * HOUR)
    assert len(tracker.open_of("run42")) == 2

    said = tracker.receive("e3", finding("lost", details={"category": "node_lost"}), START + 2 * HOUR + 1)

    assert [type(item) for item in said] == [Updated, Resolved]
    assert said[0].reason is Reason.CAUSE_FOUND
    assert said[1].reason is Reason.EXPLAINED
    assert len(tracker.open_of("run42")) == 1


def test_a_stale_cause_hides_nothing(tracker, finding):
    """An old open incident must not silence tonight's hang."""
    tracker.receive("e1", finding("cuda_oom", details={"category": "gpu_oom"}), START)

    later = only(tracker.receive("e2", finding("t", details={"category": "collective_hang"}), START + 2 * HOUR))

    assert isinstance(later, Opened)


def test_a_loud_consequence_raises_a_quiet_cause(tracker, finding):
    """A critical consequence of a cause that still waits is said at once, under the cause."""
    quiet = finding("mount", severity=Severity.WARNING, details={"category": "storage_stall"})
    assert tracker.receive("e1", quiet, START) == []

    opened = only(tracker.receive("e2", finding("t", details={"category": "collective_hang"}), START + 1))

    assert isinstance(opened, Opened)
    assert (opened.incident.trouble, opened.incident.severity) == ("storage_stall", Severity.CRITICAL)
    assert opened.events == ("e1", "e2")
