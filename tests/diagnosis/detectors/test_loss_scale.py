"""The fp16 loss scale: the search at the start is lawful, a streak and the floor are not."""

import pytest

from diagnosis.detectors.loss_scale import LossScale
from diagnosis.findings import Severity
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import Watching, calm, cleared, course, findings, kinds, sample, skip


@pytest.fixture
def watching():
    return Watching(LossScale(Thresholds()))


def falling(first, scales):
    """A bar step, then a skip, again and again."""
    return [seen for place, scale in enumerate(scales) for seen in (sample(first + place, None), skip(scale=scale))]


@pytest.mark.parametrize(
    "search",
    [
        [skip(scale=2.0**power) for power in range(31, 12, -1)],
        [sample(step, None, None, 0.0, skipped_steps=1.0, loss_scale=2.0 ** (33 - step)) for step in range(1, 20)],
        [sample(10, None, skipped_steps=10.0), sample(20, 11.0, skipped_steps=8.0), sample(30, 9.0, skipped_steps=1.0)],
    ],
    ids=["events", "counters", "intervals"],
)
def test_the_search_at_the_start_is_lawful(watching, search):
    """From 2^32 down in nineteen skips."""
    assert watching.feed(search, course(calm(50), first=40)) == []


def test_single_skips_later_are_lawful(watching):
    """The scale grows every thousand steps and one skip halves it again."""
    for first in range(1, 5000, 500):
        watching.feed(course(calm(499), first=first), skip(first + 499, scale=32768.0))

    assert watching.said == []


def test_five_in_a_row_are_a_warning_with_the_first_of_them(watching):
    """After the scale was found."""
    watching.feed(course(calm(300)))
    watching.feed(falling(301, [2.0**power for power in range(15, 10, -1)]))

    (finding,) = findings(watching.said)
    assert (finding.kind, finding.severity) == ("overflow_streak", Severity.WARNING)
    assert (finding.step, finding.last_good_step) == (302, 301)
    assert finding.details["loss_scale"] == "32768 → 16384 → 8192 → 4096 → 2048"


def test_the_floor_is_critical(watching):
    """A skip at scale 1 leaves nothing to lower."""
    watching.feed(course(calm(10), first=290, every=10))
    watching.feed(falling(381, [2.0**power for power in range(15, -1, -1)]))

    assert kinds(watching.said) == ["overflow_streak", "overflow_streak", "loss_scale_floor"]
    assert findings(watching.said)[-1].severity is Severity.CRITICAL
    assert findings(watching.said)[-1].details["skipped"] == "16"


def test_good_steps_end_it(watching):
    """The optimizer steps again."""
    watching.feed(course(calm(300)), falling(301, [4096.0] * 6), course(calm(5), first=308))

    assert cleared(watching.said) == ["overflow_streak"]


def test_whole_intervals_of_skips_are_a_streak_too(watching):
    """A trainer that only counts."""
    watching.feed(course(calm(300)), [sample(300 + 10 * line, None, skipped_steps=10.0) for line in (1, 2)])

    assert [(one.kind, one.severity) for one in findings(watching.said)] == [("overflow_streak", Severity.CRITICAL)]


def test_bf16_has_no_floor(watching):
    """A scale that was always 1.0 is no scale."""
    watching.feed(course(calm(300)), [sample(301 + step, 2.3, skipped_steps=1.0, loss_scale=1.0) for step in range(3)])

    assert watching.said == []


def test_a_printed_scale_that_falls_by_far_is_information(watching):
    """65536 → 512 within a few lines, while the loss may still look fine."""
    for step, scale in enumerate([65536.0] * 300 + [32768.0, 4096.0, 512.0], start=1):
        watching.feed(sample(step, 2.3, loss_scale=scale))

    (finding,) = findings(watching.said)
    assert (finding.kind, finding.severity) == ("loss_scale_drop", Severity.INFO)
    assert "128-fold" in finding.text
