"""Loss spikes: marked at once, a finding when they last, with their recovery class."""

import re
from dataclasses import replace

import pytest

from diagnosis.detectors.robust import robust
from diagnosis.detectors.spike import Spike
from diagnosis.findings import Cleared, Severity
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import NAN, Watching, banner, calm, cleared, course, findings, jumps, sample


@pytest.fixture
def watching():
    watching = Watching(Spike(Thresholds()))
    assert watching.feed(course(calm(1000))) == []
    return watching


def test_one_high_point_is_only_marked(watching):
    """A single hard batch is on the chart and in nobody's sleep."""
    watching.feed(course([4.0, 2.3, 2.3, 2.3], first=1001))

    assert [(jump.step, jump.to_loss, jump.rule) for jump in jumps(watching.said)] == [(1001, 4.0, "spike")]
    assert findings(watching.said) == []
    assert cleared(watching.said) == []


def test_a_spike_that_lasts_is_a_warning_from_its_first_point(watching):
    """Three points up, more than 1 above the median."""
    watching.feed(course([2.6, 5.1, 3.5, 3.2], first=1001))

    (finding,) = findings(watching.said)
    assert (finding.kind, finding.severity, finding.step) == ("loss_spike", Severity.WARNING, 1001)
    assert finding.text == "loss spikes at step 1,001: 2.30 before, peak 5.10 at step 1,002"
    assert finding.details["recovery"] == "still up"
    assert re.fullmatch(r"[\d.]+ times the usual spread above the median of the points before, limit 6", finding.rule)


def test_a_small_spike_is_information(watching):
    """Out of the noise, but less than 1."""
    watching.feed(course([2.7] * 5, first=1001))

    assert [one.severity for one in findings(watching.said)] == [Severity.INFO]


def test_a_spike_that_grows_is_said_again_louder(watching):
    """Information first, a warning when it passes 1."""
    watching.feed(course([2.7, 2.7, 2.7, 3.6], first=1001))

    assert [one.severity for one in findings(watching.said)] == [Severity.INFO, Severity.WARNING]


@pytest.mark.parametrize(("steps", "name"), [(10, "fast spike"), (200, "slow spike")])
def test_a_spike_that_comes_back_names_peak_recovery_and_class(watching, steps, name):
    """Two points near the old level end it."""
    watching.feed(course([5.1] + [3.5] * (steps - 1) + [2.3, 2.3], first=1001))

    (end,) = [verdict for verdict in watching.said if isinstance(verdict, Cleared)]
    assert f"back at 2.3 at step {1001 + steps:,}" in end.text
    assert "peaked at 5.10 at step 1,001" in end.text
    assert f"({name})" in end.text


def test_a_spike_that_does_not_come_back_is_called_so(watching):
    """After 500 steps it is the new level, and the next spike is judged from there."""
    watching.feed(course(calm(520, level=3.9), first=1001))

    last = findings(watching.said)[-1]
    assert (last.severity, last.details["recovery"]) == (Severity.WARNING, "not fully recovered")
    assert "has not come back since its spike at step 1,001" in last.text

    marked = len(jumps(watching.said))
    watching.feed(course(calm(200, level=3.9), first=1530))
    assert len(jumps(watching.said)) == marked


def test_points_of_one_spike_are_one_mark(watching):
    """Up and down and up again before it is back."""
    watching.feed(course([5.1, 3.5, 2.31, 4.0, 3.0], first=1001))

    assert len(jumps(watching.said)) == 1


def test_a_nan_never_enters_the_window(watching):
    """And the next spike is still seen."""
    watching.feed(course([NAN] * 60, first=1001), course([9.0], first=1061))

    assert [jump.step for jump in jumps(watching.said)] == [1061]


def test_the_start_of_a_run_may_do_anything():
    """A spike at step 3 of a run from scratch is warm-up."""
    watching = Watching(Spike(Thresholds()))

    watching.feed(course([10.9, 14.4, 15.2, 11.3, 11.1, 10.2] + [8.5 - step / 60 for step in range(190)]))

    assert watching.said == []


def test_a_log_that_begins_late_is_judged_by_the_short_rule():
    """Three calm points at step 29,020, then a jump that stays: spike and divergence."""
    watching = Watching(Spike(Thresholds()))

    watching.feed(course([2.776, 2.773, 2.768, 7.34, 8.72, 7.65, 7.19, 6.85], first=29020, every=10))

    assert [(one.kind, one.step) for one in findings(watching.said)] == [("loss_spike", 29050), ("divergence", 29050)]
    assert findings(watching.said)[-1].severity is Severity.CRITICAL


def test_a_spike_soon_after_a_resume_is_related_to_it():
    """The data order or the optimizer state did not come back as it was."""
    watching = Watching(Spike(Thresholds()))

    watching.feed(banner(), course(calm(20), first=5000), course([5.0, 4.0, 3.5, 2.3, 2.3], first=5020))

    (end,) = [verdict for verdict in watching.said if isinstance(verdict, Cleared)]
    assert "(related to the restart)" in end.text


def test_a_policy_loss_never_warns():
    """PPO's loss has no level to leave."""
    watching = Watching(Spike(Thresholds()))

    watching.feed(course(calm(400, level=0.0, noise=0.05)), course([1.9, 1.5, 1.7, 1.2], first=401))

    assert [one.severity for one in findings(watching.said)] == [Severity.INFO]


def test_median_and_spread_are_robust():
    """One outlier moves neither."""
    assert robust([1.0, 2.0, 3.0, 4.0, 100.0]) == (3.0, 1.4826)


def test_points_without_steps_are_judged_by_their_number():
    """An unknown script without a step."""
    watching = Watching(Spike(Thresholds()))

    watching.feed([sample(None, loss) for loss in [*calm(100), 5.0, 5.0, 5.0]])

    assert len(findings(watching.said)) == 1


def test_lines_that_are_only_counted_are_no_steps():
    """A Trainer's dicts without its bar: each stands for logging steps that nobody knows."""
    watching = Watching(Spike(Thresholds()))

    points = [*calm(100), 5.0, 5.0, 5.0]
    watching.feed([replace(sample(at, loss), step_kind="ordinal") for at, loss in enumerate(points, 1)])

    (finding,) = findings(watching.said)
    assert finding.step == 101


def test_a_loss_that_leaps_again_and_again_is_not_marked_for_ever():
    """Batches of two kinds: the first few leaps are marked, then only a much higher one."""
    watching = Watching(Spike(Thresholds()))
    losses = [4.0 if step % 17 == 0 else loss for step, loss in enumerate(calm(4000))]

    watching.feed(course(losses))
    assert len(jumps(watching.said)) <= 4
    assert findings(watching.said) == []

    watching.feed(course([9.0, 8.0, 7.0, 6.0], first=4001))
    assert [one.severity for one in findings(watching.said)] == [Severity.WARNING]


def test_a_small_rise_that_stays_is_information():
    """Less than 1 above the old level after 500 steps."""
    watching = Watching(Spike(Thresholds()))

    watching.feed(course(calm(1000)), course(calm(520, level=2.8), first=1001))

    assert [one.details["recovery"] for one in findings(watching.said)] == ["still up", "not fully recovered"]
    assert {one.severity for one in findings(watching.said)} == {Severity.INFO}
