import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from charts.columns import columns_of
from charts.holes import count_words, flags_of_holes, holes_of
from diagnosis.series import Mark
from tests.charts.samples import series_of
from tests.counts import examples

NAN = math.nan


def holes(values, marks=(), steps=None):
    return holes_of(columns_of(series_of("loss", steps or range(len(values)), values)), marks)


def test_points_in_a_row_are_one_hole():
    """Each stretch is told by its first step, its last and its length."""
    found = holes([1, NAN, 1, math.inf, NAN, 1, NAN, NAN])

    assert [found.say(index) for index in range(3)] == ["NaN at 1", "Inf 3–4", "NaN from 6"]
    assert count_words(found) == "NaN or Inf × 5"


def test_a_mark_tells_a_nan_that_thinning_lost():
    """The registry keeps every non-finite point as a mark; its bucket may look finite."""
    marks = [Mark("nonfinite", step, value=NAN) for step in (12, 11, 45)]

    found = holes([1, 1, 1, 1, 1], marks, steps=[0, 10, 20, 40, 50])

    assert [found.say(index) for index in range(len(found))] == ["NaN 11–12", "NaN at 45"]


def test_a_nan_in_rows_and_marks_counts_once():
    """The same point seen twice is one point."""
    found = holes([1, NAN, NAN, 1], [Mark("nonfinite", 1, value=NAN), Mark("nonfinite", 2, value=NAN)])

    assert len(found) == 1
    assert count_words(found) == "NaN × 2"


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
@settings(max_examples=examples(60))
def test_no_hole_is_forgotten(seed, share):
    """Every non-finite point lies in exactly one hole, in any attempt."""
    random = np.random.default_rng(seed)
    values = np.where(random.random(60) < share, NAN, 1.0)
    steps = np.concatenate([np.arange(40), 25 + np.arange(20)])

    found = holes(values, steps=list(steps))

    assert found.count.sum() == np.isnan(values).sum()
    assert (np.diff(found.first) >= 0).all()


def test_crosses_are_few_and_the_first_one_speaks():
    """Ten thousand NaNs are a handful of crosses; the first says where it began."""
    found = holes([NAN if step % 2 else 1.0 for step in range(20_000)])

    flags, shades = flags_of_holes(found, 0, 20_000)

    assert len(flags) <= 50
    assert flags[0].says == "NaN at 1"
    assert not shades


def test_a_long_hole_is_shaded():
    """From three in a row on, the stretch itself is shown, cut at the edge of the view."""
    found = holes([1.0] * 10 + [NAN] * 40)

    flags, shades = flags_of_holes(found, 0, 30)

    assert [flag.says for flag in flags] == ["NaN from 10"]
    assert (shades[0].first, shades[0].last) == (10, 30)
