"""An incident is over: by itself, by a restart or with its run; and it may come back."""

from dataclasses import replace

import pytest

from diagnosis.findings import Cleared, Severity
from diagnosis.incidents import Habits, Opened, Reason, Resolved, State, Tracker
from diagnosis.observations import Origin
from tests.diagnosis.incidents.conftest import START
from tests.diagnosis.incidents.test_tracker import HOUR, only


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


def test_an_ended_run_closes_its_trouble(tracker, finding):
    """Nobody is reminded of a run that is over."""
    tracker.receive("e1", finding(), START)

    said = only(tracker.ended("run42", "the run finished at step 50,000", START + 60))

    assert isinstance(said, Resolved)
    assert tracker.tick(START + HOUR) == []
