"""Plateau: information about a loss that no longer improves."""

import pytest

from diagnosis.detectors.plateau import Plateau
from diagnosis.findings import Severity
from diagnosis.judge import Judge
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import Watching, calm, course, findings, sample


@pytest.fixture
def watching():
    return Watching(Judge(Thresholds(), detectors=(Plateau,)))


def flat(first, count, lr=None):
    return [sample(first + place, loss, None, lr) for place, loss in enumerate(calm(count))]


def test_a_loss_that_stands_still_is_information(watching):
    """One tenth of a long attempt without a fall, said once."""
    watching.feed(flat(1, 12_000, lr=1e-4))

    (finding,) = findings(watching.said)
    assert (finding.kind, finding.severity) == ("plateau", Severity.INFO)
    assert "about 2.3 since step" in finding.text


@pytest.mark.parametrize(
    "lines",
    [
        course([3.0 * 0.99995**step for step in range(12_000)]),
        flat(1, 4_000),
        [sample(step, 2.3, None, max(1e-4 * (1 - step / 5_000), 1e-6)) for step in range(1, 12_000)],
        [sample(None, 2.3) for _ in range(12_000)],
    ],
    ids=["it still falls", "too short", "the schedule has ended", "no steps"],
)
def test_what_is_no_plateau(watching, lines):
    """A fall, a young run, a run at the end of its schedule, a log without steps."""
    assert watching.feed(lines) == []


def test_memory_is_bounded(watching):
    """However long it runs."""
    detector = Plateau(Thresholds())
    watch = Watching(detector)

    watch.feed(course([3.0 * 0.99999**step for step in range(20_000)]))

    assert len(detector._buckets) <= 512
