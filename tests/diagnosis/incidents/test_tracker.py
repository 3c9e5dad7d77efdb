"""One trouble of one run is one incident, whoever cries and however often."""

from dataclasses import replace

import pytest

from diagnosis.findings import Cleared, Severity
from diagnosis.incidents import Habits, Mute, Noted, Opened, Reason, Reminded, Resolved, State, Tracker, Updated
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


def test_recovery_of_everyone_resolves(tracker, finding):
    """The incident is over when its last rank is."""
    tracker.receive("e1", finding(rank=1), START)
    tracker.receive("e2", finding(rank=2), START)
    back = Cleared("nonfinite_loss", Origin("run42", "node17", 1), "finite again for 20 steps")

    first = only(tracker.receive("e3", back, START + 60))
    second = only(tracker.receive("e4", replace(back, origin=Origin("run42", "node17", 2)), START + 61))

    assert (first.reason, first.speaks) == (Reason.JOINED, False)
    assert isinstance(second, Resolved)
    assert (second.reason, second.text) == (Reason.RECOVERED, "finite again for 20 steps")
    assert second.incident.state is State.RESOLVED
    assert tracker.open_of("run42") == []


def test_a_word_for_the_whole_run_clears_every_rank(tracker, finding):
    """`Cleared` without node and rank concerns everyone."""
    for rank in range(4):
        tracker.receive(f"e{rank}", finding(rank=rank), START)

    said = only(tracker.receive("e9", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + 9))

    assert isinstance(said, Resolved)


def test_another_rank_may_be_heard_when_it_is_over(tracker, finding):
    """Ranks that print the same share one detector; whichever prints next says that it is over."""
    tracker.receive("e1", finding(rank=3), START)

    said = only(
        tracker.receive("e2", Cleared("nonfinite_loss", Origin("run42", "node18", 5), "finite again"), START + 9)
    )

    assert isinstance(said, Resolved)


def test_one_rank_never_speaks_for_several_others(tracker, finding):
    """With several in trouble, a word from a rank outside clears nobody."""
    tracker.receive("e1", finding(rank=3), START)
    tracker.receive("e2", finding(rank=4), START)

    said = only(
        tracker.receive("e3", Cleared("nonfinite_loss", Origin("run42", "node18", 5), "finite again"), START + 9)
    )

    assert said.reason is Reason.JOINED
    assert len(said.incident.firing) == 2


def test_a_short_warning_is_still_known(tracker, finding):
    """Trouble that was over before its group wait ended is opened and resolved, not swallowed."""
    tracker.receive("e1", finding("loss_spike", severity=Severity.WARNING), START)

    said = tracker.receive("e2", Cleared("loss_spike", Origin("run42"), "back at 2.3"), START + 1)

    assert [type(item) for item in said] == [Opened, Resolved]
    assert said[0].events == ("e1",)
    assert said[1].events == ("e2",)


def test_trouble_that_comes_back_soon_reopens_its_thread(tracker, finding):
    """Flapping does not open a thread each time."""
    opened = only(tracker.receive("e1", finding(), START))
    tracker.receive("e2", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + 60)

    again = only(tracker.receive("e3", finding(step=41_300), START + 120))

    assert (again.reason, again.speaks) == (Reason.REOPENED, True)
    assert again.incident.id == opened.incident.id
    assert again.incident.state is State.OPEN


def test_trouble_that_comes_back_late_is_a_new_incident(tracker, finding):
    """After the reopening time it is another story."""
    opened = only(tracker.receive("e1", finding(), START))
    tracker.receive("e2", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + 60)

    again = only(tracker.receive("e3", finding(step=90_000), START + 2 * HOUR))

    assert isinstance(again, Opened)
    assert again.incident.id != opened.incident.id


@pytest.mark.parametrize("later", [0.0, -0.2, 1.0])
def test_without_a_reopening_time_each_trouble_has_its_own_thread(finding, later):
    """Also when clocks say that it came back before it was over."""
    tracker = Tracker(Habits(reopen_within_seconds=0.0))
    opened = only(tracker.receive("e1", finding(), START))
    tracker.receive("e2", Cleared("nonfinite_loss", Origin("run42"), "finite again"), START + 60)

    again = only(tracker.receive("e3", finding(step=41_300), START + 60 + later))

    assert again.incident.id != opened.incident.id


def test_a_later_attempt_says_again(tracker, finding):
    """The same trouble after a restart is a line in the same thread."""
    tracker.receive("e1", finding(attempt=1), START)

    said = only(tracker.receive("e2", finding(attempt=2), START + 60))

    assert (said.reason, said.speaks) == (Reason.AGAIN, True)
    assert said.incident.attempt == 2


def test_a_restart_that_trains_resolves_what_ended_the_earlier_attempt(tracker, finding):
    """A crash is over when the run trains again."""
    tracker.receive("e1", finding("cuda_oom", attempt=1, details={"category": "gpu_oom"}), START)

    said = only(tracker.restarted("run42", 2, "trains again since step 41,000", START + 300))

    assert isinstance(said, Resolved)
    assert said.reason is Reason.RESTARTED


def test_a_restart_makes_nobody_heard(tracker, finding):
    """A watcher that is silent while the run trains again is silent still."""
    tracker.receive("e1", finding("watcher_silent", attempt=1), START)

    assert tracker.restarted("run42", 2, "trains again since step 41,000", START + 300) == []


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


def test_an_ended_run_closes_its_trouble(tracker, finding):
    """Nobody is reminded of a run that is over."""
    tracker.receive("e1", finding(), START)

    said = only(tracker.ended("run42", "the run finished at step 50,000", START + 60))

    assert isinstance(said, Resolved)
    assert tracker.tick(START + HOUR) == []


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
