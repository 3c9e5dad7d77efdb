"""Levels: divergence and sustained rises, judged over blocks of points by way of the judge."""

import pytest

from diagnosis.detectors.block import block_of
from diagnosis.detectors.divergence import Divergence
from diagnosis.detectors.sustained import Sustained
from diagnosis.findings import Severity
from diagnosis.judge import Judge
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import Watching, calm, cleared, course, findings, kinds


def watching(detector, **settings):
    return Watching(Judge(Thresholds.from_text(settings), detectors=(detector,)))


def test_a_slow_climb_is_divergence():
    """The course of the ds3d log: it falls, turns, and climbs for ever."""
    watch = watching(Divergence)
    fall = [44.0 - 1.2 * step for step in range(27)]
    climb = [11.7 + 0.35 * step for step in range(40)]

    watch.feed(course([12.4, 12.4, *fall, *climb]))

    (finding,) = findings(watch.said)
    assert (finding.kind, finding.severity) == ("divergence", Severity.CRITICAL)
    assert finding.text.startswith("loss climbs and stays: at least ")
    assert finding.details["recovery"] == "not recovered"


def test_twice_the_usual_loss_needs_only_five_points():
    """A jump from 2.3 to 7 out of a long history."""
    watch = watching(Divergence)

    watch.feed(course(calm(400)), course(calm(5, level=7.0), first=401))

    assert kinds(watch.said) == ["divergence"]


@pytest.mark.parametrize(
    "losses",
    [
        [11.0 - 8.0 * step / 400 for step in range(400)],
        [10.9, 14.4, 15.2, 11.3] + [11.0 - 6.0 * step / 200 for step in range(200)],
        [*calm(300), 5.1, 3.5, 3.2, 2.8, 2.6, 2.4, *calm(100)],
        calm(300) + calm(100, level=2.9),
        calm(300, level=0.0, noise=0.8) + calm(100, level=2.0),
    ],
    ids=["a healthy fall", "an early bump", "a spike", "a small rise", "a policy loss"],
)
def test_what_is_no_divergence(losses):
    """A fall, a spike that returns, less than 1 nat, and losses without a level."""
    assert kinds(watching(Divergence).feed(course(losses))) == []


def test_a_loss_that_returns_ends_the_divergence():
    """Back near the best level."""
    watch = watching(Divergence)

    watch.feed(course(calm(300) + calm(50, level=4.0) + calm(20)))

    assert kinds(watch.said) == cleared(watch.said) == ["divergence"]


def test_a_rise_out_of_the_band_is_a_warning():
    """Every one of the twenty newest points stands above the band of the two hundred before."""
    watch = watching(Sustained)

    watch.feed(course(calm(400) + calm(40, level=2.6)))

    (finding,) = findings(watch.said)
    assert (finding.kind, finding.severity, finding.step) == ("sustained_spike", Severity.WARNING, 401)
    assert "at least 2.575, usually 2.298" in finding.text


def test_a_band_that_is_reached_again_ends_it():
    """And says so once."""
    watch = watching(Sustained)

    watch.feed(course(calm(400) + calm(40, level=2.6) + calm(60)))

    assert cleared(watch.said) == ["sustained_spike"]


@pytest.mark.parametrize(
    "losses",
    [
        calm(400) + [9.0] * 3 + calm(100),
        calm(150) + calm(49, level=2.6),
        [11.0 - 8.0 * step / 600 for step in range(600)],
        calm(600, noise=0.5),
        calm(400) + calm(60, level=5.0),
    ],
    ids=["an outlier", "the start", "a fall", "noise", "divergence says it"],
)
def test_what_is_no_sustained_rise(losses):
    """Outliers, warm-up, noise, and what another rule says better."""
    assert kinds(watching(Sustained).feed(course(losses))) == []


def test_a_rising_learning_rate_excuses_a_rise():
    """During warm-up of the learning rate nothing is said."""
    watch = watching(Sustained)
    losses = calm(400) + calm(60, level=2.6)

    for place, seen in enumerate(course(losses)):
        watch.feed(course([seen.loss], first=seen.step, lr=1e-6 * (place + 1)))

    assert watch.said == []


def test_fast_steps_need_minutes_not_points():
    """Twenty points of a run that makes ten steps a second are two seconds."""
    bump = calm(4000) + calm(25, level=2.6) + calm(1000)

    assert watching(Sustained).feed(course(bump, seconds=0.1)) == []
    assert kinds(watching(Sustained, sustained_seconds="1s").feed(course(bump, seconds=0.1))) == ["sustained_spike"]


def test_a_block_knows_level_and_noise():
    """A trend has no noise, a zigzag has."""
    trend = block_of(course([1.0, 2.0, 3.0, 4.0, 5.0]))
    zigzag = block_of(course([1.0, 2.0, 1.0, 2.0, 1.0]))

    assert (trend.lowest, trend.middle, trend.total, trend.noise) == (1.0, 3.0, 15.0, 0.0)
    assert zigzag.noise == 1.0
