"""A NaN in disguise: the field vanishes, a counter counts, the loss is exactly 0.0."""

import pytest

from diagnosis.detectors.hidden_nan import HiddenNan
from diagnosis.findings import Severity
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import NAN, Watching, calm, cleared, course, findings, kinds, rank, sample, skip


@pytest.fixture
def watching():
    return Watching(HiddenNan(Thresholds()))


def test_a_loss_field_that_vanishes_is_critical(watching):
    """Two lines without it, after twenty with it, while the step advances."""
    watching.feed(course(calm(20), grad_norm=1.0, lr=1e-4))
    assert watching.feed(sample(21, None, None, 1e-4)) == []

    (finding,) = findings(watching.feed(sample(22, None, None, 1e-4)))
    assert (finding.kind, finding.severity) == ("loss_vanished", Severity.CRITICAL)
    assert (finding.step, finding.last_good_step) == (21, 20)
    assert "no longer printed since step 21" in finding.text


@pytest.mark.parametrize(
    "lines",
    [
        [sample(step, None, None, 1e-4, skipped_steps=1.0) for step in (21, 22, 23)],
        [seen for step in (21, 22, 23) for seen in (skip(step), sample(step, None, None, 1e-4))],
        [sample(20, None, None, 1e-4) for _ in range(5)],
        [sample(step, None, total_steps=120.0) for step in (21, 22, 23)],
        [sample(step, None, None, 1e-4, origin=rank(3)) for step in (21, 22, 23)],
    ],
    ids=["all skipped", "printed skips", "step stands still", "a bar without numbers", "another rank's lines"],
)
def test_a_line_may_lawfully_lack_its_loss(watching, lines):
    """Skipped intervals, redrawn bars and other ranks' lines are no vanishing."""
    assert watching.feed(course(calm(20), grad_norm=1.0), lines) == []


def test_a_log_that_mixes_lines_with_and_without_loss_is_lawful(watching):
    """DeepSpeed's own line stands between the trainer's."""
    for step in range(1, 200):
        watching.feed(sample(step, 2.3), sample(step * 10, None, None, 1e-4))

    assert watching.said == []


def test_a_short_history_proves_nothing(watching):
    """Nineteen lines with a loss are too few."""
    assert watching.feed(course(calm(19)), course([None] * 5, first=20, lr=1e-4)) == []


def test_a_loss_that_comes_back_ends_it(watching):
    """And it may vanish again."""
    watching.feed(course(calm(20)), course([None, None], first=21, lr=1e-4), course(calm(20), first=23))
    assert cleared(watching.said) == ["loss_vanished"]

    watching.feed(course([None, None], first=43, lr=1e-4))
    assert kinds(watching.said) == ["loss_vanished", "loss_vanished"]


def test_a_loss_of_exactly_zero_three_times_is_critical(watching):
    """After losses around 2.3, and without a gradient."""
    watching.feed(course(calm(30)), course([0.0, 0.0], first=31))
    assert watching.said == []

    (finding,) = findings(watching.feed(sample(33, 0.0)))
    assert (finding.kind, finding.step, finding.last_good_step) == ("loss_zero", 31, 30)


@pytest.mark.parametrize(
    "lines",
    [
        course([0.0] * 50, first=31, grad_norm=0.09),
        course([0.0, 0.0, 1.2, 0.0, 0.0, 0.4] * 5, first=31),
        course([0.0] * 50, first=31, grad_norm=NAN),
    ],
    ids=["a gradient flows", "now and then", "told by the grad norm"],
)
def test_a_zero_loss_may_be_lawful_or_told_elsewhere(watching, lines):
    """GRPO prints 0.0 with a finite grad norm; a NaN grad norm is another detector's."""
    assert watching.feed(course(calm(30)), lines) == []


def test_a_loss_that_became_tiny_may_print_as_zero(watching):
    """0.0003, 0.0001, 0.0000 is how a small model memorises."""
    assert watching.feed(course([0.01 / step for step in range(1, 60)]), course([0.0] * 9, first=60)) == []


def test_a_zero_from_the_start_is_lawful(watching):
    """Nothing was ever different."""
    assert watching.feed(course([0.0] * 100)) == []


def test_counted_nan_iterations_are_a_warning_then_critical(watching):
    """One skipped batch is news, three lines in a row are trouble."""
    watching.feed(course(calm(5)))

    watching.feed(sample(6, 2.3, nan_iterations=1.0))
    assert [one.severity for one in findings(watching.said)] == [Severity.WARNING]

    watching.feed([sample(7 + line, None, nan_iterations=1.0) for line in range(9)])
    assert [(one.kind, one.severity) for one in findings(watching.said)][-1] == ("nan_counter", Severity.CRITICAL)
    assert len(findings(watching.said)) == 2

    watching.feed(sample(20, 2.3, nan_iterations=0.0))
    assert cleared(watching.said) == ["nan_counter"]


def test_a_total_that_stands_still_is_said_once(watching):
    """Some trainers print the total so far on every line."""
    watching.feed([sample(step, 2.3, nan_iterations=4.0) for step in range(1, 50)])

    assert kinds(watching.said) == ["nan_counter"]
