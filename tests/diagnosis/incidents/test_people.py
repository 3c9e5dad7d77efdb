"""What people do to an incident: take it, give it back, write, close, reopen, ask for quiet."""

import pytest

from diagnosis.incidents import Act, Habits, Mute, Reason, Resolved, State, Tracker, Updated
from tests.diagnosis.incidents.conftest import START
from tests.diagnosis.incidents.test_tracker import HOUR, only


@pytest.fixture
def taken(tracker, finding):
    """An open incident that U1 has."""
    incident = only(tracker.receive("e1", finding(), START)).incident
    tracker.acknowledge(incident.id, "U1", START + 60)
    return incident.id


def test_the_owner_gives_it_back(tracker, taken):
    """It is free again, and whoever missed it meanwhile is not reminded twice."""
    said = only(tracker.act(taken, Act("release", "U1"), START + HOUR))

    assert (said.reason, said.by, said.incident.state) == (Reason.RELEASED, "U1", State.OPEN)
    assert said.incident.acknowledged_by == ""
    assert tracker.tick(START + HOUR + 1) == []
    assert only(tracker.tick(START + 2 * HOUR)).reason is Reason.STILL_OPEN


def test_an_owner_who_falls_silent_loses_it(tracker, taken):
    """After four hours without a word somebody else should look."""
    assert tracker.tick(START + 60 + 4 * HOUR - 1) == []

    said = only(tracker.tick(START + 60 + 4 * HOUR))

    assert (said.reason, said.by) == (Reason.LAPSED, "U1")
    assert said.incident.state is State.OPEN
    assert tracker.tick(START + 60 + 4 * HOUR + 1) == []
    assert only(tracker.acknowledge(taken, "U2", START + 5 * HOUR)).incident.acknowledged_by == "U2"


def test_a_note_of_the_owner_keeps_it_theirs(tracker, taken):
    """Whoever writes is there; a note of somebody else changes nothing for the owner."""
    tracker.act(taken, Act("note", "U1", "draining node17"), START + 3 * HOUR)
    tracker.act(taken, Act("note", "U2", "me too"), START + 6 * HOUR)

    assert tracker.tick(START + 7 * HOUR - 1) == []
    assert only(tracker.tick(START + 7 * HOUR)).reason is Reason.LAPSED


def test_a_claim_may_last_for_ever(finding):
    """Teams that want no time-out set it to nothing."""
    tracker = Tracker(Habits(claim_for_seconds=0.0))
    incident = only(tracker.receive("e1", finding(), START)).incident
    tracker.acknowledge(incident.id, "U1", START)

    assert tracker.tick(START + 99 * HOUR) == []


def test_a_note_stands_in_the_timeline(tracker, taken):
    """With who wrote it; an empty one is none."""
    said = only(tracker.act(taken, Act("note", "U2", "  batch 7 is broken  "), START + 90))

    assert isinstance(said, Updated)
    assert (said.reason, said.text, said.by) == (Reason.NOTED, "batch 7 is broken", "U2")
    assert said.incident.entries[-1].what == "noted"
    assert tracker.act(taken, Act("note", "U2", "   "), START + 91) == []


def test_a_person_closes_it(tracker, taken):
    """With what helped; a second close changes nothing."""
    said = only(tracker.act(taken, Act("resolve", "U2", "replaced node17"), START + HOUR))

    assert isinstance(said, Resolved)
    assert (said.reason, said.by) == (Reason.CLOSED_BY, "U2")
    assert (said.incident.resolved_by, said.incident.resolved_because) == ("U2", "replaced node17")
    assert tracker.act(taken, Act("resolve", "U1"), START + HOUR + 1) == []


def test_what_comes_back_after_a_person_closed_it_reopens(tracker, taken, finding):
    """Closing is no mute."""
    tracker.act(taken, Act("resolve", "U2"), START + HOUR)

    said = only(tracker.receive("e2", finding(rank=9), START + HOUR + 60))

    assert (said.reason, said.incident.id) == (Reason.REOPENED, taken)
    assert said.incident.resolved_by == ""


def test_a_person_reopens_it(tracker, taken):
    """Closed by mistake; nobody has it then."""
    tracker.act(taken, Act("resolve", "U2"), START + HOUR)

    said = only(tracker.act(taken, Act("reopen", "U1"), START + HOUR + 5))

    assert (said.reason, said.incident.state, said.incident.resolved_at) == (Reason.REOPENED_BY, State.OPEN, None)
    assert tracker.act(taken, Act("reopen", "U1"), START + HOUR + 6) == []


@pytest.mark.parametrize("act", [Act("acknowledge", "U1"), Act("note", "U1", "x"), Act("dance", "U1")])
def test_an_unknown_incident_or_act_changes_nothing(tracker, taken, act):
    """A click on a message older than all we keep."""
    assert tracker.act("nosuch", act, START) == []
    assert tracker.act(taken, Act("dance", "U1"), START) == []


def test_every_word_of_a_person_is_a_message_of_its_own(tracker, taken):
    """Two notes are two messages, in every process the same two."""
    first = only(tracker.act(taken, Act("note", "U1", "one"), START + 100))
    second = only(tracker.act(taken, Act("note", "U1", "two"), START + 200))

    assert first.key != second.key


def test_quiet_until_it_is_over_covers_this_incident_alone(tracker, taken, finding):
    """The next trouble of the run speaks."""
    tracker.set_mutes([Mute("run42", START + 99 * HOUR, "U1", incident=taken)], START + 100)

    assert tracker.get(taken).muted_scope == "incident"
    assert not only(tracker.receive("e2", finding("nonfinite_grad_norm"), START + HOUR)).speaks
    other = only(tracker.receive("e3", finding("cuda_oom", details={"category": "gpu_oom"}), START + HOUR))
    assert other.speaks


def test_a_muted_node_is_quiet_in_every_run(tracker, finding):
    """What concerns it alone; trouble on two nodes is said."""
    tracker.set_mutes([Mute("", START + HOUR, "U1", node="node17")], START)
    kind = {"details": {"category": "gpu_hardware"}}

    assert only(tracker.receive("e1", finding("xid", run="run1", **kind), START)).reason is Reason.MUTED
    assert only(tracker.receive("e2", finding("xid", run="run2", node="node18", **kind), START)).speaks


def test_a_mute_that_names_nothing_covers_nothing(tracker, finding):
    """Half a record must not silence everything."""
    tracker.set_mutes([Mute("", START + HOUR, "U1")], START)

    assert only(tracker.receive("e1", finding(), START)).speaks


def test_a_note_that_was_written_into_the_thread_is_not_said_again(tracker, taken):
    """Everybody has read it there; the root and the report keep it."""
    said = only(tracker.act(taken, Act("note", "U2", "batch 7", is_read=True), START + 90))

    assert not said.speaks
    assert said.incident.entries[-1].text == "batch 7"
