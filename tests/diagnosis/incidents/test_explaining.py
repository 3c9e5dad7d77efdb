"""The search for a cause: the news of a crash waits for it a moment, and says whose it was in the same thread."""

from dataclasses import replace

import pytest

from diagnosis.findings import Severity
from diagnosis.incidents import Habits, Incident, Noted, Opened, Reason, Tracker, Updated
from diagnosis.incidents.explaining import ABOUT, EXPLANATION, asked_beside, asks_for_a_cause
from registry import wire
from tests.diagnosis.incidents.conftest import START

WAIT = 6.0


@pytest.fixture
def patient():
    return Tracker(Habits(cause_wait_seconds=WAIT))


@pytest.fixture
def timeouts(patient, finding):
    """511 ranks that waited; the incident is not announced yet."""
    for rank in range(511):
        said = patient.receive(f"e{rank}", finding("collective_timeout", rank=rank, severity=Severity.WARNING), START)
        assert said == []
    (incident,) = patient.open_of("run42")
    return incident


def explanation(finding, incident, category="", rank=None, **more):
    details = {"incident": incident.id}
    if category:
        details |= {"category": category, "more": "Because.", "next": "Do.", "cause": category}
    return finding(EXPLANATION, severity=Severity.WARNING, rank=rank, details=details, **more)


def only(said):
    assert len(said) == 1, said
    return said[0]


def test_the_cause_heads_the_first_message(patient, finding, timeouts):
    """One out of memory, 511 that waited: the first thing people read names the one, the rest is counted."""
    opened = only(patient.receive("x", explanation(finding, timeouts, "gpu_oom", rank=139), START + 3))

    assert isinstance(opened, Opened)
    assert opened.incident.trouble == "gpu_oom"
    assert opened.incident.head.origin.rank == 139
    assert opened.incident.ranks == (139,)
    assert opened.incident.consequences == {"collective_hang": 511}
    assert set(opened.events) >= {"e510", "x"}


def test_a_search_that_finds_nothing_ends_the_wait(patient, finding, timeouts):
    """What the lines said is told as it is."""
    opened = only(patient.receive("x", explanation(finding, timeouts), START + 3))

    assert isinstance(opened, Opened)
    assert opened.incident.trouble == "collective_hang"


def test_nobody_waits_longer_than_said(patient, timeouts):
    """A search that does not come back holds up nothing."""
    assert patient.tick(START + WAIT - 0.1) == []

    opened = only(patient.tick(START + WAIT))

    assert isinstance(opened, Opened)
    assert opened.incident.trouble == "collective_hang"


def test_news_of_the_numbers_never_waits(patient, finding):
    """A NaN is what it is."""
    assert isinstance(only(patient.receive("e1", finding(), START)), Opened)


def test_without_a_search_nothing_waits(tracker, finding):
    """A bot that does not search announces a crash at once."""
    assert isinstance(only(tracker.receive("e1", finding("rank_crash"), START)), Opened)


def test_a_rank_that_was_only_a_node_is_named_in_place(patient, finding):
    """The launcher names a local rank; the search knows the global one. One subject stays."""
    patient.receive("e1", finding("killed", rank=None), START)
    (incident,) = patient.open_of("run42")

    opened = only(patient.receive("x", explanation(finding, incident, "rank_crash", rank=11), START + 2))

    assert opened.incident.head.kind == "killed"
    assert opened.incident.ranks == (11,)
    assert len(opened.incident.subjects) == 1
    assert opened.incident.head.details["more"] == "Because."


def test_a_cause_found_after_the_announcement_is_said_once_in_the_thread(patient, finding, timeouts):
    """It takes over the root, and a reply says so."""
    patient.tick(START + WAIT)

    update = only(patient.receive("x", explanation(finding, timeouts, "host_oom", rank=7), START + 9))

    assert isinstance(update, Updated)
    assert update.reason is Reason.CAUSE_FOUND
    assert update.incident.trouble == "host_oom"


def test_a_stall_keeps_its_name_so_that_progress_ends_it(patient, finding):
    """Whatever held it up: it is over when the run goes on."""
    patient.receive("e1", finding("stalled", node=None, rank=None), START)
    (incident,) = patient.open_of("run42")

    update = only(patient.receive("x", explanation(finding, incident, "storage_stall", rank=2), START + 9))

    assert update.incident.trouble == "stall"
    assert update.incident.head.kind == "stalled"
    assert update.incident.head.origin.rank == 2


def test_timeouts_after_a_stall_are_counted_in_it(patient, finding):
    """The watchdog says ten minutes later what everybody knows."""
    patient.receive("e1", finding("stalled", node=None, rank=None), START)
    for rank in range(8):
        said = only(
            patient.receive(f"t{rank}", finding("collective_timeout", rank=rank, severity="warning"), START + 600)
        )
        assert not said.speaks

    (incident,) = patient.open_of("run42")

    assert incident.trouble == "stall"
    assert incident.consequences == {"collective_hang": 8}


def test_a_cause_for_an_incident_that_is_over_is_not_said(patient, finding, timeouts):
    """The run was started again in the meantime."""
    patient.tick(START + WAIT)
    patient.restarted("run42", 1, "it trains again", START + 7)

    said = only(patient.receive("x", explanation(finding, timeouts, "gpu_oom", rank=1), START + 9))

    assert isinstance(said, Noted)


@pytest.fixture
def died_after_nan(tracker, finding):
    """A run went NaN, and later one of its processes was killed; the incident."""
    tracker.receive("e1", finding(rank=None), START)
    tracker.receive("e2", finding("killed", rank=None, node="node18"), START + 600)
    (incident,) = tracker.open_of("run42")
    return incident


def test_a_death_beside_a_nan_is_asked_about(tracker, finding, died_after_nan):
    """Once; the NaN itself needs no search, nor does a stall, of which the judge asked when it was seen."""
    tracker.receive("e3", finding("stalled", node=None, rank=None), START + 700)

    assert asked_beside(only_open(tracker)) == ("rank_crash",)
    assert not asks_for_a_cause(died_after_nan)


def only_open(tracker):
    (incident,) = tracker.open_of("run42")
    return incident


def about(finding, incident, **more):
    said = explanation(finding, incident, **more)
    return replace(said, details={**said.details, ABOUT: "rank_crash"})


@pytest.mark.parametrize("category", ["rank_crash", "host_oom", "nan_inf"])
def test_what_is_found_of_it_is_a_line_in_the_thread(tracker, finding, died_after_nan, category):
    """Who died and why; the NaN goes on to head the thread, and nobody is asked again, by a later bot either."""
    said = only(tracker.receive("x", about(finding, died_after_nan, category=category, rank=2), START + 603))

    assert (said.reason, said.speaks) == (Reason.LOOKED_INTO, True)
    assert (said.finding.kind, said.finding.origin.rank, said.finding.details["more"]) == ("killed", 2, "Because.")
    assert said.incident.head.kind == "nonfinite_loss"
    assert said.incident.trouble == "nan_inf"
    assert asked_beside(said.incident) == ()
    later = Tracker()
    later.restore([wire.build(Incident, wire.load(wire.dump(said.incident)))])
    assert asked_beside(only_open(later)) == ()


def test_a_search_beside_that_finds_nothing_is_over_without_a_word(tracker, finding, died_after_nan):
    """Nobody is asked for ever."""
    said = only(tracker.receive("x", about(finding, died_after_nan), START + 603))

    assert isinstance(said, Noted)
    assert asked_beside(only_open(tracker)) == ()
