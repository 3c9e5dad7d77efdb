"""One trouble of a run is one page: what comes of it, or comes with it, is told in its thread, and nothing is lost."""

from dataclasses import replace

import pytest

from diagnosis.findings import Cleared, Severity
from diagnosis.incidents import Habits, Mute, Opened, Reason, Resolved, Tracker, Updated
from diagnosis.observations import Origin
from registry import wire
from tests.diagnosis.incidents.conftest import START

MINUTE, HOUR = 60.0, 3600.0


def only(said):
    assert len(said) == 1, said
    return said[0]


@pytest.fixture
def stalled(finding):
    return finding("stalled", node="node02", rank=5, step=41_205, details={"more": "rank 5 stopped first"})


@pytest.mark.parametrize("first", ["nonfinite_loss", "divergence"])
@pytest.mark.parametrize("then", ["stalled", "run_down", "rank_crash", "collective_timeout"])
def test_what_comes_of_bad_numbers_is_told_in_their_thread(tracker, finding, first, then):
    """One page: the numbers went bad, then the run stood, crashed or ended."""
    opened = only(tracker.receive("e1", finding(first), START))

    told = only(tracker.receive("e2", finding(then), START + 10 * MINUTE))

    assert (told.reason, told.speaks) == (Reason.FOLLOWED, True)
    assert told.incident.id == opened.incident.id
    assert told.incident.head.kind == first
    assert [found.kind for found in told.incident.beside.values()] == [then]


def test_the_place_of_a_trouble_is_its_own(tracker, finding, stalled):
    """Who was NaN and who stopped first are two questions."""
    tracker.receive("e1", finding(rank=3), START)

    incident = only(tracker.receive("e2", stalled, START + 10 * MINUTE)).incident

    assert (incident.ranks, incident.nodes) == ((3,), ("node17",))
    assert incident.troubles == ("nan_inf", "stall")


def test_numbers_that_are_heard_of_late_stand_in_the_stall_s_thread(tracker, finding, stalled):
    """A node's spool came late: still one story."""
    tracker.receive("e1", stalled, START)

    assert only(tracker.receive("e2", finding(), START + 10 * MINUTE)).reason is Reason.FOLLOWED


@pytest.mark.parametrize(
    ("first", "later", "more"),
    [
        ({}, 2 * HOUR, {}),
        ({"kind": "loss_spike", "severity": Severity.WARNING}, 10 * MINUTE, {}),
        ({"kind": "plateau", "severity": Severity.WARNING}, 10 * MINUTE, {}),
        ({"attempt": 0}, 10 * MINUTE, {"attempt": 1}),
        ({"run": "run7"}, 10 * MINUTE, {}),
        ({}, 10 * MINUTE, {"kind": "disk_forecast"}),
    ],
    ids=["hours ago", "called nobody", "plateau", "attempt before", "another run", "nothing to do with it"],
)
def test_what_is_no_part_of_the_story_has_a_page_of_its_own(tracker, finding, first, later, more):
    """An old incident, a mere warning, an earlier attempt or another run never swallow tonight's stall."""
    tracker.receive("e1", finding(**first), START)
    tracker.tick(START + MINUTE)

    opened = only(tracker.receive("e2", finding(**({"kind": "stalled"} | more)), START + later))

    assert isinstance(opened, Opened)


@pytest.mark.parametrize("scope", [{"trouble": "nan_inf"}, {"incident": True}])
def test_a_mute_of_one_trouble_hides_no_other(tracker, finding, stalled, scope):
    """Whoever asked for quiet about the NaN did not know of the stall."""
    incident = only(tracker.receive("e1", finding(), START)).incident
    scope = {"incident": incident.id} if "incident" in scope else scope
    tracker.set_mutes([Mute("run42", START + HOUR, "U1", **scope)], START + MINUTE)

    opened = only(tracker.receive("e2", stalled, START + 10 * MINUTE))

    assert isinstance(opened, Opened)
    assert opened.incident.trouble == "stall"


@pytest.mark.parametrize(("later", "is_one"), [(20.0, True), (40.0, False)])
def test_several_reasons_within_half_a_minute_are_one_incident(tracker, finding, later, is_one):
    """Whatever they are: a run that breaks breaks in many places at once."""
    first = only(tracker.receive("e1", finding("cuda_oom", details={"category": "gpu_oom"}), START))

    said = only(tracker.receive("e2", finding("nonfinite_loss"), START + later))

    assert (said.incident.id == first.incident.id) is is_one
    assert said.speaks


def test_the_louder_of_two_heads_the_thread(tracker, finding):
    """A forecast was told when the NaN came: people are called, and the forecast stands beside it."""
    tracker.receive("e1", finding("disk_forecast", severity=Severity.WARNING, rank=None), START)
    opened = only(tracker.tick(START + 6))

    worse = only(tracker.receive("e2", finding(), START + 10))

    assert (worse.reason, worse.incident.id) == (Reason.WORSE, opened.incident.id)
    assert (worse.incident.trouble, worse.incident.severity) == ("nan_inf", Severity.CRITICAL)
    assert [found.kind for found in worse.incident.beside.values()] == ["disk_forecast"]
    assert worse.incident.nodes == ("node17",)


def test_what_still_gathers_is_told_together(tracker, finding):
    """Two warnings within the group wait are one root."""
    assert tracker.receive("e1", finding("loss_spike", severity=Severity.WARNING), START) == []
    assert tracker.receive("e2", finding("disk_forecast", severity=Severity.WARNING), START + 1) == []

    opened = only(tracker.tick(START + 6))

    assert opened.events == ("e1", "e2")
    assert opened.incident.troubles == ("loss_spike", "disk_forecast")


def test_a_part_that_is_over_is_said_and_the_rest_stays_open(tracker, finding, stalled):
    """The run goes on, still with NaN."""
    tracker.receive("e1", finding(), START)
    tracker.receive("e2", stalled, START + 10 * MINUTE)

    said = only(tracker.receive("e3", Cleared("stalled", Origin("run42"), "progress again"), START + 20 * MINUTE))

    assert (said.reason, said.text, said.speaks) == (Reason.PARTLY_OVER, "progress again", True)
    assert said.incident.is_open
    assert said.incident.firing_troubles == {"nan_inf"}
    assert isinstance(
        only(tracker.receive("e4", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + HOUR)), Resolved
    )


def test_what_is_left_heads_the_thread(tracker, finding, stalled):
    """Finite again, and standing: the root tells of the stall."""
    tracker.receive("e1", finding(), START)
    tracker.receive("e2", stalled, START + 10 * MINUTE)

    said = only(tracker.receive("e3", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + HOUR))

    assert said.reason is Reason.PARTLY_OVER
    assert (said.incident.trouble, said.incident.head.kind, said.incident.ranks) == ("stall", "stalled", (5,))
    assert list(said.incident.beside) == ["nan_inf"]


def test_a_part_that_comes_back_is_said_again(tracker, finding, stalled):
    """In the thread while that is fresh, later by a page of its own."""
    tracker.receive("e1", finding(), START)
    tracker.receive("e2", stalled, START + 10 * MINUTE)
    tracker.receive("e3", Cleared("stalled", Origin("run42"), "progress again"), START + 20 * MINUTE)

    soon = only(tracker.receive("e4", stalled, START + 30 * MINUTE))
    tracker.receive("e5", Cleared("stalled", Origin("run42"), "progress again"), START + 40 * MINUTE)
    late = only(tracker.receive("e6", stalled, START + 10 * HOUR))

    assert soon.reason is Reason.FOLLOWED
    assert isinstance(late, Opened)


def test_the_consequences_of_what_stands_beside_are_counted(tracker, finding, stalled):
    """The watchdog's timeouts only say again that the run stood."""
    tracker.receive("e1", finding(), START)
    tracker.receive("e2", stalled, START + 10 * MINUTE)

    said = only(tracker.receive("e3", finding("collective_timeout"), START + 30 * MINUTE))

    assert (said.reason, said.speaks) == (Reason.CONSEQUENCE, False)
    assert said.incident.consequences == {"collective_hang": 1}


def test_a_cause_that_takes_over_keeps_what_stands_beside(tracker, finding, stalled):
    """A stall with a NaN heard of late; then the node that was lost explains the stall, and nothing else."""
    tracker.receive("e1", stalled, START)
    tracker.receive("e2", finding(), START + 5 * MINUTE)

    said = only(
        tracker.receive("e3", finding("lost", rank=None, details={"category": "node_lost"}), START + 6 * MINUTE)
    )

    assert (said.reason, said.incident.trouble) == (Reason.CAUSE_FOUND, "node_lost")
    assert said.incident.firing_troubles == {"node_lost", "nan_inf"}


def test_a_bot_that_was_killed_still_owes_what_it_did_not_say(finding, stalled):
    """The record went before the messages: both are told by the next bot, each as what it is."""
    first, after = Tracker(Habits()), Tracker(Habits())
    back = Cleared("stalled", Origin("run42"), "progress again")
    first.receive("e1", finding(), START)
    first.receive("e2", stalled, START + 10 * MINUTE)
    kept = only(first.receive("e3", back, START + 20 * MINUTE)).incident

    after.restore([wire.build(type(kept), wire.load(wire.dump(wire.plain(kept))))])

    told = [only(after.receive("e2", stalled, START + HOUR)), only(after.receive("e3", back, START + HOUR))]
    assert [(type(one), one.reason) for one in told] == [(Updated, Reason.FOLLOWED), (Updated, Reason.PARTLY_OVER)]
    assert told[1].text == "progress again"


def test_a_record_of_an_earlier_version_goes_on(tracker, finding, stalled):
    """Subjects did not say whose they are: they are the incident's own."""
    incident = only(tracker.receive("e1", finding(), START)).incident
    old = replace(incident, subjects={key: replace(one, trouble="") for key, one in incident.subjects.items()})
    tracker.restore([old])

    after = only(tracker.receive("e2", stalled, START + 10 * MINUTE)).incident
    said = only(tracker.receive("e3", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + HOUR))

    assert (after.ranks, after.firing_troubles) == ((3,), {"nan_inf", "stall"})
    assert said.reason is Reason.PARTLY_OVER
