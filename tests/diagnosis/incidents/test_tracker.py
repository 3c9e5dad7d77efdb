"""One trouble of one run is one incident, whoever cries and however often."""

import pytest

from diagnosis.findings import Cleared, Severity
from diagnosis.incidents import Habits, Mute, Noted, Opened, Reason, Reminded, Resolved, Tracker, Updated
from diagnosis.observations import Origin
from tests.diagnosis.incidents.conftest import START

HOUR = 3600.0


def only(said):
    assert len(said) == 1, said
    return said[0]


def test_a_critical_finding_is_announced_at_once(tracker, finding):
    """NaN needs no patience."""
    opened = only(tracker.receive("e1", finding(), START))

    assert isinstance(opened, Opened)
    assert opened.incident.trouble == "nan_inf"
    assert opened.events == ("e1",)


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.CRITICAL])
@pytest.mark.parametrize("later", [30.0, HOUR])
def test_a_loss_that_follows_its_grad_norm_heads_the_thread(tracker, finding, severity, later):
    """The root tells the worse state, one reply says so, and further ranks add none."""
    tracker.receive("e1", finding("nonfinite_grad_norm", severity=severity, step=119), START)
    tracker.tick(START + 20.0)

    said = only(tracker.receive("e2", finding(step=120), START + later))
    again = only(tracker.receive("e3", finding(step=120, rank=4), START + later + 1))

    assert (said.incident.head.kind, said.incident.head.step) == ("nonfinite_loss", 120)
    assert said.reason in (Reason.WORSE, Reason.NEWS, Reason.NEW)
    assert again.incident.head == said.incident.head
    assert again.reason is Reason.JOINED


def test_a_loss_that_was_bad_before_its_grad_norm_is_told_beside_it(tracker, finding):
    """It came late to us; the trouble did not go on to it."""
    tracker.receive("e1", finding("nonfinite_grad_norm", step=121), START)

    said = only(tracker.receive("e2", finding(step=120), START + HOUR))
    assert (said.incident.head.kind, said.reason) == ("nonfinite_grad_norm", Reason.NEWS)


def test_a_lesser_finding_waits_for_company(tracker, finding):
    """A warning is announced after the group wait, with everyone who joined meanwhile."""
    spike = Severity.WARNING
    assert tracker.receive("e1", finding("loss_spike", severity=spike, rank=1), START) == []
    assert tracker.receive("e2", finding("loss_spike", severity=spike, rank=2), START + 1) == []
    assert tracker.tick(START + 4) == []

    opened = only(tracker.tick(START + 5))

    assert isinstance(opened, Opened)
    assert opened.events == ("e1", "e2")
    assert opened.incident.ranks == (1, 2)


def test_the_same_finding_twice_changes_nothing(tracker, finding):
    """A finding that is delivered again after a crash is settled without a word."""
    before = only(tracker.receive("e1", finding(), START)).incident

    said = only(tracker.receive("e1", finding(), START + 60))

    assert said == Noted(("e1",), Reason.KNOWN, before)
    assert tracker.get(before.id) == before


def test_five_hundred_ranks_are_one_incident(tracker, finding):
    """Ranks gather by editing the root; nobody gets a message of their own."""
    opened = only(tracker.receive("e0", finding(rank=0), START))
    updates = [only(tracker.receive(f"e{n}", finding(rank=n), START + n / 100)) for n in range(1, 512)]

    assert not any(update.speaks for update in updates)
    assert {update.incident.id for update in updates} == {opened.incident.id}
    assert len(updates[-1].incident.ranks) == 512


def test_a_million_repeats_cost_no_message(tracker, finding):
    """The same trouble of the same rank again is counted, never said."""
    tracker.receive("e0", finding(), START)
    said = [only(tracker.receive(f"e{n}", finding(step=41_200 + n), START + n)) for n in range(1, 200)]

    assert all(isinstance(noted, Noted) for noted in said)
    assert tracker.open_of("run42")[0].repeats == 199


def test_the_earliest_step_heads_the_message(tracker, finding):
    """The root tells where it began, not who was heard first."""
    tracker.receive("e1", finding(rank=3, step=41_201), START)

    update = only(tracker.receive("e2", finding(rank=7, step=41_200), START + 1))

    assert update.incident.head.origin.rank == 7


def test_two_runs_never_share_an_incident(tracker, finding):
    """The key is the run and the trouble."""
    first = only(tracker.receive("e1", finding(), START))
    second = only(tracker.receive("e2", finding(run="run7"), START))

    assert isinstance(second, Opened)
    assert first.incident.id != second.incident.id


def test_info_never_opens_a_thread(tracker, finding):
    """Info alone is recorded and nothing more."""
    said = only(tracker.receive("e1", finding("grad_norm_lead", severity=Severity.INFO), START))

    assert said == Noted(("e1",), Reason.NOTE)
    assert tracker.tick(START + HOUR) == []


def test_info_is_one_line_in_an_open_thread(tracker, finding):
    """Info of the same trouble is noted once in the thread that is open anyway."""
    tracker.receive("e1", finding(), START)
    info = finding("loss_scale_drop", severity=Severity.INFO)

    first = only(tracker.receive("e2", info, START + 1))
    second = only(tracker.receive("e3", info, START + 2))

    assert (first.reason, first.speaks) == (Reason.NOTE, True)
    assert (second.reason, second.speaks) == (Reason.JOINED, False)


def test_worse_is_said_in_the_thread(tracker, finding):
    """A warning that turns critical gets a reply."""
    tracker.receive("e1", finding("loss_spike", severity=Severity.WARNING), START)
    tracker.tick(START + 6)

    update = only(tracker.receive("e2", finding("divergence"), START + 9))

    assert (update.reason, update.speaks) == (Reason.WORSE, True)
    assert update.incident.severity is Severity.CRITICAL


@pytest.mark.parametrize(("later", "reason"), [(2.0, Reason.JOINED), (120.0, Reason.NEWS)])
def test_a_further_kind_is_news_only_after_things_settled(tracker, finding, later, reason):
    """Loss and grad norm turning NaN together are one message."""
    tracker.receive("e1", finding("nonfinite_loss"), START)

    update = only(tracker.receive("e2", finding("nonfinite_grad_norm"), START + later))

    assert update.reason is reason


def test_reminders_widen_and_stop_when_someone_has_it(tracker, finding):
    """30 min, 2 h, 6 h, then daily; an acknowledged incident is not repeated."""
    incident = only(tracker.receive("e1", finding(), START)).incident
    due = [0.5 * HOUR, 2 * HOUR, 6 * HOUR, 24 * HOUR, 48 * HOUR]
    for seconds in due[:3]:
        assert tracker.tick(START + seconds - 1) == []
        assert isinstance(only(tracker.tick(START + seconds)), Reminded)

    said = only(tracker.acknowledge(incident.id, "U1", START + 7 * HOUR))

    assert (said.reason, said.incident.acknowledged_by) == (Reason.ACKNOWLEDGED, "U1")
    assert tracker.tick(START + 10 * HOUR) == []


def test_a_bot_that_slept_reminds_once(tracker, finding):
    """Missed reminders are one reminder, not five."""
    tracker.receive("e1", finding(), START)

    assert len(tracker.tick(START + 30 * HOUR)) == 1
    assert tracker.tick(START + 30 * HOUR + 1) == []


def test_only_the_first_to_acknowledge_has_it(tracker, finding):
    """A second person's click changes nothing."""
    incident = only(tracker.receive("e1", finding(), START)).incident
    tracker.acknowledge(incident.id, "U1", START + 1)

    assert tracker.acknowledge(incident.id, "U2", START + 2) == []
    assert tracker.get(incident.id).acknowledged_by == "U1"


def test_a_mute_keeps_quiet_but_records(tracker, finding):
    """Muted trouble is recorded; when the mute ends and it still fires, it is said."""
    tracker.set_mutes([Mute("run42", START + HOUR, "U1")], START)

    noted = only(tracker.receive("e1", finding(), START + 1))
    assert isinstance(noted, Noted)
    assert noted.reason is Reason.MUTED
    assert tracker.tick(START + 60) == []

    tracker.set_mutes([], START + HOUR)
    opened = only(tracker.tick(START + HOUR))

    assert isinstance(opened, Opened)


def test_a_mute_of_an_open_thread_stops_replies_and_reminders(tracker, finding):
    """After Mute 1 h the thread stays still, and the root says so."""
    tracker.receive("e1", finding("nonfinite_loss"), START)

    shown = only(tracker.set_mutes([Mute("run42", START + HOUR, "U1", "nan_inf")], START + 10))
    update = only(tracker.receive("e2", finding("nonfinite_grad_norm"), START + 600))

    assert (shown.reason, shown.speaks) == (Reason.MUTED, False)
    assert not update.speaks
    assert tracker.tick(START + 0.6 * HOUR) == []
    ended = tracker.set_mutes([], START + HOUR) + tracker.tick(START + HOUR)
    assert [item.reason for item in ended][:1] == [Reason.UNMUTED]


def test_unmuting_early_shows_at_once(tracker, finding):
    """A person who takes the quiet back sees it."""
    tracker.receive("e1", finding(), START)
    tracker.set_mutes([Mute("run42", START + HOUR, "U1")], START + 1)

    said = only(tracker.set_mutes([], START + 2))

    assert said.reason is Reason.UNMUTED
    assert said.incident.muted_until is None


def test_a_mute_of_another_trouble_changes_nothing(tracker, finding):
    """A mute covers the trouble it names."""
    tracker.set_mutes([Mute("run42", START + HOUR, "U1", "gpu_oom")], START)

    assert isinstance(only(tracker.receive("e1", finding(), START)), Opened)


def test_a_restored_tracker_goes_on_where_the_other_stopped(tracker, finding):
    """After a restart the shown incidents are known: no second root, new ranks still join."""
    shown = only(tracker.receive("e1", finding(rank=1), START)).incident
    other = Tracker(Habits())
    other.restore([shown])

    known = only(other.receive("e1", finding(rank=1), START + 5))
    joined = only(other.receive("e2", finding(rank=2), START + 6))

    assert known.reason is Reason.KNOWN
    assert (joined.reason, joined.incident.id) == (Reason.JOINED, shown.id)


def test_the_same_opening_finding_gives_the_same_incident(finding):
    """Two bots name an incident alike, so an intent of one can be finished by the other."""
    first = only(Tracker().receive("e1", finding(), START)).incident.id
    second = only(Tracker().receive("e1", finding(), START + 99)).incident.id

    assert first == second


def test_what_a_killed_bot_still_owed_is_said_by_the_next_one(tracker, finding):
    """The record was saved with the root; the word that it is over had no message yet. Said once, then known."""
    tracker.receive("e1", finding(), START)
    over = Cleared("nonfinite_loss", Origin("run42", "node17", 3, 3), "loss is finite again")
    shown = only(tracker.receive("e2", over, START + 1)).incident
    after = Tracker()
    after.restore([shown])

    said = only(after.receive("e2", over, START + 9))

    assert (type(said), said.reason, said.events, said.text) == (Resolved, Reason.RECOVERED, ("e2",), over.text)
    assert isinstance(only(after.receive("e2", over, START + 10)), Noted)


def test_a_further_kind_that_a_killed_bot_still_owed_is_said(finding):
    """It stands in the record because the root was posted after it came, and the root does not tell it."""
    tracker, after = Tracker(Habits(settle_seconds=0.0)), Tracker()
    tracker.receive("e1", finding(), START)
    norm = finding("nonfinite_grad_norm")
    shown = only(tracker.receive("e2", norm, START + 60)).incident
    after.restore([shown])

    said = only(after.receive("e2", norm, START + 90))

    assert (type(said), said.reason, said.finding) == (Updated, Reason.NEWS, norm)
