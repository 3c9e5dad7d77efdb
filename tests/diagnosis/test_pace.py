"""Where steps became slower for good."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.observations import Evidence
from diagnosis.pace import KEPT, Pace, work_of

SOMEWHERE = Evidence("a.log", 1, "x")


def pace_of(seconds):
    pace = Pace()
    for step, value in enumerate(seconds, 1):
        pace.add(step, value, Evidence("a.log", step, "x"))
    return pace


def noisy(count, level, spread=0.02, seed=1):
    draw = random.Random(seed)
    return [level * math.exp(draw.gauss(0, spread)) for _ in range(count)]


@pytest.mark.parametrize("ratio", [1.1, 1.3, 2.0, 6.0])
def test_a_lasting_change_is_found_where_it_began(ratio):
    shift = pace_of(noisy(200, 2.0) + noisy(100, 2.0 * ratio, seed=2)).shift()
    assert shift is not None
    assert abs(shift.first.step - 201) <= 2
    assert shift.ratio == pytest.approx(ratio, rel=0.05)
    assert shift.first.evidence.line == shift.first.step


@pytest.mark.parametrize(
    "seconds",
    [
        noisy(400, 2.0),
        noisy(400, 2.0, spread=0.3),
        noisy(200, 4.0) + noisy(200, 2.0),
        noisy(150, 2.0) + noisy(30, 8.0) + noisy(150, 2.0),
        [value * (40 if step % 100 == 0 else 1) for step, value in enumerate(noisy(400, 2.0), 1)],
        [value * (1 + 0.15 * min(1.0, step / 150)) for step, value in enumerate(noisy(400, 2.0, spread=0.005))],
        [2.0] * 400,
        noisy(10, 2.0),
        [],
    ],
    ids=["steady", "noisy", "faster", "recovered", "pauses", "warming up", "equal", "short", "nothing"],
)
def test_no_change_is_made_up(seconds):
    assert pace_of(seconds).shift() is None


@pytest.mark.parametrize(
    ("ratio", "grown", "is_slower"), [(2.0, 2.0, False), (3.9, 4.0, False), (6.0, 2.0, True), (2.0, 0.5, True)]
)
def test_steps_that_are_more_work_are_not_slower(ratio, grown, is_slower):
    """A batch that grows explains as much as it grows; one that shrinks explains nothing."""
    pace = Pace()
    for step, seconds in enumerate(noisy(200, 2.0) + noisy(100, 2.0 * ratio, seed=2), 1):
        pace.note_work(step, work_of(64.0 if step <= 200 else 64.0 * grown, None))
        pace.add(step, seconds, SOMEWHERE)

    assert (pace.shift() is not None) is is_slower


def test_sizes_that_vary_by_themselves_explain_nothing():
    """A batch of as many sentences as fit."""
    pace = Pace()
    for step, seconds in enumerate(noisy(200, 2.0) + noisy(100, 4.0, seed=2), 1):
        pace.note_work(step, work_of(float(8 + step % 40), 512.0))
        pace.add(step, seconds, SOMEWHERE)

    assert pace.shift() is not None


def test_a_slow_first_step_is_no_usual_pace():
    assert pace_of([90.0, *[2.0] * 60]).usual == 2.0


def test_clocks_that_go_back_are_no_paces():
    pace = pace_of([0.0, -3.0, math.nan, math.inf])
    assert len(pace) == 0
    assert pace.usual is None


def test_memory_is_bounded_and_the_change_still_found():
    pace = pace_of(noisy(30_000, 1.0) + noisy(10_000, 1.5, seed=3))
    assert len(pace._intervals) <= KEPT + 1
    shift = pace.shift()
    assert shift is not None
    assert abs(shift.first.step - 30_001) < 50


def test_a_new_attempt_starts_over():
    pace = pace_of(noisy(100, 1.0))
    pace.restart()
    assert len(pace) == 0


@given(st.lists(st.floats(), max_size=80))
def test_any_numbers(values):
    pace_of(values).shift()
