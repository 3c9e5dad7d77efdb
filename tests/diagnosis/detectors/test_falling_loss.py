"""Spikes while the loss still falls: the fall itself neither hides one nor looks like one."""

import math
import random

import pytest

from diagnosis.detectors.falling import falling
from diagnosis.detectors.spike import Spike
from diagnosis.findings import Finding, Severity
from diagnosis.formats.reader import LogReader
from diagnosis.formats.source_name import origin_of
from diagnosis.judge import Judge
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import Watching, cleared, course, findings, jumps

POINTS = 900
LENGTHS = (60.0, 100.0, 150.0, 250.0, 400.0, 800.0)
"""Points in which the rest of the loss falls to a third."""
HEIGHT = 2.8


def fall(length, *, seed, noise=0.02, above=6.0):
    """A loss that falls from 8.2 towards 2.2, fast at first."""
    chance = random.Random(seed)
    return [2.2 + above * math.exp(-place / length) + chance.gauss(0.0, noise) for place in range(POINTS)]


def with_spike(losses, at, height=HEIGHT, points=16):
    return [loss + height * (at <= place < at + points) for place, loss in enumerate(losses)]


def said_of(losses):
    watching = Watching(Spike(Thresholds()))
    watching.feed(course(losses))
    return watching.said


@pytest.mark.parametrize("at", range(230, 310, 16))
@pytest.mark.parametrize("length", LENGTHS)
def test_a_clear_spike_is_found_once_however_fast_the_loss_falls(length, at):
    """Wherever it comes between two looks at the window, with the level just before it and its end."""
    losses = fall(length, seed=at)
    said = said_of(with_spike(losses, at))

    (found,) = {(one.step, one.severity) for one in findings(said)}
    assert found == (at + 1, Severity.WARNING)
    assert [(jump.step, jump.rule) for jump in jumps(said)] == [(at + 1, "spike")]
    assert len(cleared(said)) == 1
    assert float(findings(said)[0].details["from"]) == pytest.approx(losses[at], abs=0.3)


@pytest.mark.parametrize("noise", [0.0, 0.002, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_fall_without_a_spike_is_silent(length, noise):
    """Many seeds; also where the loss stops falling from one point to the next."""
    for seed in range(8):
        losses = fall(length, seed=seed, noise=noise)
        assert said_of(losses) == []
        flat = [losses[300] + loss - 2.2 for loss in fall(1.0, seed=seed, noise=noise, above=0.0)]
        assert said_of(losses[:300] + flat) == []


def test_a_smooth_loss_that_starts_each_epoch_a_little_higher_is_silent():
    """Falls by 0.3 within 200 points and goes back: as its epochs are."""
    losses = [loss + 0.3 * (1.0 - place % 200 / 200) for place, loss in enumerate(fall(300.0, seed=1, noise=0.005))]

    assert said_of(losses) == []


def test_only_a_steady_fall_has_a_level_of_its_own():
    """Level, noise, a step down, a wave, and a loss that may be negative are judged by the whole window."""
    chance = random.Random(1)
    steady = [5.0 - 0.01 * place for place in range(128)]
    wave = [3.0 + math.sin(place / 10.0) for place in range(128)]
    step = [3.0 + chance.gauss(0.0, 0.1) - (place > 64) for place in range(128)]

    level, spread = falling(steady)
    assert (level, spread) == (pytest.approx(steady[-8] + 0.005), pytest.approx(0.06, abs=0.01))
    for losses in ([2.0] * 128, wave, step, steady[::-1], [loss - 4.5 for loss in steady]):
        assert falling(losses) is None


def training(seed, *, noise):
    """A loss that falls by a power of the step: by half of its way in the first 300 steps, for ever."""
    chance = random.Random(seed)
    return [2.2 + 6.0 * (1.0 + step / 50.0) ** -0.35 + chance.gauss(0.0, noise) for step in range(1, POINTS)]


@pytest.mark.parametrize(("height", "noise"), [(0.4, 0.005), (0.5, 0.02), (0.8, 0.05)])
def test_a_spike_smaller_than_1_is_found_while_the_loss_falls(height, noise):
    """For information, with its mark at its beginning and its end, once it has come down."""
    found = 0
    for seed in range(16):
        at = 220 + seed * 13
        said = said_of(with_spike(training(seed, noise=noise), at, height, points=5))
        assert all(at < (one.step or 0) <= at + 3 and one.severity is Severity.INFO for one in findings(said))
        assert len(findings(said)) == len(cleared(said)) <= len(jumps(said)) <= 1
        found += len(jumps(said))

    assert found >= 12


@pytest.mark.parametrize("noise", [0.0, 0.005, 0.02, 0.1, 0.3])
def test_a_healthy_training_has_no_small_spikes(noise):
    """Of many, at every noise."""
    assert [verdict for seed in range(12) for verdict in said_of(training(seed, noise=noise))] == []


@pytest.mark.parametrize("points", [20, 60, 300])
def test_a_small_rise_that_stays_is_no_spike(points):
    """A harder stretch of data, as long as it lasts."""
    assert said_of(with_spike(training(1, noise=0.02), 300, 0.5, points)) == []


def test_a_small_rise_that_grows_is_a_spike():
    """Said as soon as it is large, from its first point."""
    losses = training(1, noise=0.02)
    losses[300:308] = [loss + 0.3 * (place + 1) for place, loss in enumerate(losses[300:308])]

    said = said_of(losses)

    assert {(one.step, one.severity) for one in findings(said)} == {(301, Severity.INFO), (301, Severity.WARNING)}
    assert len(cleared(said)) == 1


def logged_rarely(losses, every=10):
    watching = Watching(Spike(Thresholds()))
    watching.feed(course(losses, first=every, every=every))
    return watching.said


def beginning(seed, *, points=60):
    """Few points of a loss that falls fast, by an exponential or by a power, with its noise."""
    chance = random.Random(seed)
    low, above, length = chance.uniform(0.5, 3.5), chance.uniform(2.0, 8.0), chance.uniform(3.0, 60.0)
    noise = chance.choice([0.0, 0.003, 0.02, 0.1, 0.3])
    power = chance.uniform(0.2, 1.0)
    courses = [
        lambda place: math.exp(-place / length),
        lambda place: (1.0 + place / length) ** -power,
        lambda place: math.exp(-(place // 5 * 5) / length),
        lambda place: 1.0 if place < length / 2 else math.exp(-(place - length / 2) * 5 / length),
    ]
    fraction = chance.choice(courses)
    kinds = [
        lambda: chance.gauss(0.0, noise),
        lambda: noise * chance.gauss(0.0, 1.0) / max(0.2, chance.random()),
        lambda: chance.gauss(0.0, noise) + (0.8 if chance.random() < 0.3 else 0.0),
    ]
    kind = chance.choice(kinds)
    return [max(1e-3, low + above * fraction(place) + kind()) for place in range(points)]


@pytest.mark.parametrize("height", [1.5, 3.0, 5.0])
@pytest.mark.parametrize("at", [30, 40, 50, 58])
def test_a_clear_spike_is_found_before_there_is_a_whole_window(at, height):
    """A log with a line for every ten steps: the loss comes down from 8, and its beginning is no measure."""
    said = logged_rarely(with_spike(fall(12.0, seed=at)[:80], at, height, points=8))

    assert {(one.step, one.severity) for one in findings(said)} == {((at + 1) * 10, Severity.WARNING)}
    assert [(jump.step, jump.rule) for jump in jumps(said)] == [((at + 1) * 10, "spike")]
    assert len(cleared(said)) == 1


def test_no_beginning_of_a_healthy_training_has_a_spike():
    """A thousand of them, smooth and noisy, with outliers, with batches of two kinds, in steps and over a cliff."""
    assert [seed for seed in range(1000) if findings(logged_rarely(beginning(seed)))] == []


@pytest.mark.parametrize("length", LENGTHS)
def test_a_log_read_at_once_says_the_same_as_its_lines_one_by_one(length):
    """Also what is judged in bulk, with a gate for each 64 points."""
    lines = [
        f"step={place + 1} loss={loss:.4f} lr=3e-4\n"
        for place, loss in enumerate(with_spike(with_spike(fall(length, seed=3, noise=0.05), 270), 450, 0.7, 5))
    ]
    said = []
    for parts in (["".join(lines)], lines):
        reader, judge = LogReader("train.log", origin_of("train.log")), Judge()
        seen = [one for part in parts for one in reader.feed(part.encode())] + reader.close()
        verdicts = [verdict for one in seen for verdict in judge.observe(one)]
        said.append([(one.kind, one.step, one.text) for one in verdicts if isinstance(one, Finding)])
    assert said[0] == said[1]
    assert ("loss_spike", 271) in [(kind, step) for kind, step, _ in said[0]]
