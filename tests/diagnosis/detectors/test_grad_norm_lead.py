"""The grad norm warns first."""

import pytest

from diagnosis.detectors.grad_norm_lead import GradNormLead
from diagnosis.findings import Severity
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import Watching, calm, cleared, course, findings, jumps, kinds, sample


@pytest.fixture
def watching():
    return Watching(GradNormLead(Thresholds()))


def norms(values, first=1, loss=2.3):
    return [sample(first + place, loss, norm) for place, norm in enumerate(values)]


def test_bloom_is_warned_of_before_the_peak(watching):
    """Grad norm 0.24, 0.95, 2.4, 15.9 while the loss is still 2.24; the peak comes two steps later."""
    losses = [2.1988, 2.2204, 2.5952, 2.2416, 2.3453, 5.0981]
    rising = [0.242, 0.947, 2.390, 15.886, 145.119, 960.351]
    for place, (loss, norm) in enumerate(zip(losses, rising, strict=True)):
        watching.feed(sample(31214 + place, loss, norm))

    (finding,) = findings(watching.said)
    assert (finding.kind, finding.severity, finding.step) == ("grad_norm_lead", Severity.INFO, 31217)
    assert finding.details["grad_norms"] == "0.24 → 0.95 → 2.4 → 16"
    assert [jump.metric for jump in jumps(watching.said)] == ["grad_norm"]


def test_three_of_five_points_far_above_the_median_are_a_warning(watching):
    """With a long history, without steady growth."""
    watching.feed(norms(calm(500, level=0.3)), norms([2.0, 0.3, 2.0], first=501))
    assert watching.said == []

    watching.feed(norms([2.1], first=504))
    assert kinds(watching.said) == ["grad_norm_lead"]


def test_a_loss_that_has_moved_is_not_led(watching):
    """Then the spike itself is the news."""
    watching.feed(norms(calm(500, level=0.3)), norms([2.0, 2.0, 2.0, 2.0], first=501, loss=4.0))

    assert watching.said == []


@pytest.mark.parametrize(
    "values",
    [
        [15.0, 41.0, 66.0, 14.0, 38.0, *calm(100, level=3.0)],
        [0.0] * 300,
        [*calm(300, level=0.3), 3.0, 0.3, 3.0, *calm(100, level=0.3)],
        [0.1, 0.3, 0.9, 2.7, 8.1, *calm(150, level=8.0)],
    ],
    ids=["a wild start", "nobody measured", "two of five", "growth in warm-up"],
)
def test_what_is_no_warning(watching, values):
    """Warm-up, a constant 0.000, single high points."""
    assert watching.feed(norms(values)) == []


def test_it_is_said_once_and_is_over_when_calm(watching):
    """Ten points near the median."""
    watching.feed(norms(calm(500, level=0.3)), norms([2.0] * 30, first=501), norms(calm(10, level=0.3), first=531))

    assert kinds(watching.said) == cleared(watching.said) == ["grad_norm_lead"]


def test_a_level_that_stays_becomes_the_usual_one(watching):
    """After so many points it is no warning any more, and a new rise is seen."""
    watching.feed(norms(calm(500, level=0.3)), norms(calm(400, level=3.0), first=501))
    watching.feed(norms([30.0] * 3, first=901))

    assert kinds(watching.said) == ["grad_norm_lead", "grad_norm_lead"]


def test_a_run_without_losses_is_warned_too(watching):
    """Grad norm alone."""
    watching.feed(course([None] * 300, grad_norm=0.3), norms([3.0] * 3, first=301, loss=None))

    assert kinds(watching.said) == ["grad_norm_lead"]
