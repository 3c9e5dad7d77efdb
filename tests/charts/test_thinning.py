import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charts.columns import Columns, columns_of
from charts.thinning import MOST_RUNS, condensed, starts_of_buckets, thin, within
from tests.charts.samples import series_of
from tests.counts import examples

ODD = (math.nan, math.inf, -math.inf)


@st.composite
def logs(draw) -> Columns:
    """Attempts of a run, each with growing steps, some values not finite."""
    attempts = draw(st.lists(st.integers(1, 120), min_size=1, max_size=4))
    odd_share = draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = np.concatenate([random.integers(0, 200) + np.cumsum(random.integers(1, 9, length)) for length in attempts])
    values = random.normal(2, 1, len(steps)).round(1)
    odd = random.random(len(steps)) < odd_share
    values[odd] = random.choice(ODD, odd.sum())
    return columns_of(series_of("loss", steps, values))


def finite(columns: Columns) -> Columns:
    return columns.pick(columns.is_finite)


@given(logs())
@settings(max_examples=examples(80))
def test_thinning_keeps_the_extremes(columns):
    """The lowest and highest finite values survive at their steps, whatever else goes."""
    kept = thin(columns, buckets=5)

    before, after = finite(columns), finite(kept)
    assert len(before) == 0 or before.value.min() == after.value.min()
    assert len(before) == 0 or before.value.max() == after.value.max()
    if len(before):
        assert before.step[before.value.argmax()] == after.step[after.value.argmax()]


@given(logs())
@settings(max_examples=examples(80))
def test_thinning_keeps_what_is_not_finite(columns):
    """A bucket with a NaN or Inf still has one after thinning, and the first of all stays the first."""
    kept = thin(columns, buckets=5)

    bad, bad_kept = columns.pick(~columns.is_finite), kept.pick(~kept.is_finite)
    assert bool(len(bad)) == bool(len(bad_kept))
    if len(bad):
        assert (bad.step[0], repr(bad.value[0])) == (bad_kept.step[0], repr(bad_kept.value[0]))
        assert bad.step[-1] == bad_kept.step[-1]


@given(logs())
@settings(max_examples=examples(80))
def test_thinning_only_leaves_out(columns):
    """What is left was logged, in the order of the log, with its first and last point, and is bounded."""
    kept = thin(columns, buckets=5)

    rows = list(zip(columns.step.tolist(), map(repr, columns.value.tolist()), strict=True))
    iterator = iter(rows)
    assert all(row in iterator for row in zip(kept.step.tolist(), map(repr, kept.value.tolist()), strict=True))
    assert kept.step[0] == columns.step[0]
    assert kept.step[-1] == columns.step[-1]
    assert len(kept) <= max(30, 30 * len(np.flatnonzero(np.diff(columns.step) < 0)) + 30)


@given(logs())
@settings(max_examples=examples(80))
def test_a_condensed_bucket_tells_its_exact_extremes(columns):
    """Every finite point lies inside the band of its bucket, and the band is no wider than its points."""
    rows = condensed(columns, buckets=5)

    if not rows.is_band:
        assert rows is columns
        return
    begins = starts_of_buckets(columns, 5)
    for row, points in enumerate(np.split(np.arange(len(columns)), begins[1:])):
        values = columns.value[points][np.isfinite(columns.value[points])]
        if len(values):
            assert (rows.low[row], rows.high[row]) == (values.min(), values.max())
            assert rows.low[row] <= rows.value[row] <= rows.high[row]
        else:
            assert not rows.is_finite[row]


def test_buckets_are_slices_of_the_axis():
    """Every bucket covers one slice of steps of one attempt, and no point is in none."""
    step = np.array([0, 1, 2, 50, 99, 100, 40, 41, 100.0])

    begins = starts_of_buckets(columns_of(series_of("loss", step, step)), 10)

    assert begins[0] == 0
    slices = np.split(step, begins[1:])
    assert all(np.ptp(part) <= 10 and (np.diff(part) > 0).all() for part in slices)


def test_a_million_points_shrink_to_a_screen():
    """The number of rows depends on the screen, not on the run."""
    values = np.random.default_rng(0).normal(2, 0.1, 200_000)
    values[77_777] = 9.0
    values[123_456] = math.nan
    columns = columns_of(series_of("loss", np.arange(200_000), values))

    kept, rows = thin(columns), condensed(columns)

    assert len(kept) < 3000
    assert len(rows) <= 430
    assert rows.high.max() == kept.high[kept.is_finite].max() == 9.0
    assert 123_456 in kept.step[~kept.is_finite]


def test_shuffled_lines_are_put_in_order():
    """Ranks that print over each other go back hundreds of times; that is no list of attempts."""
    steps = [float(step + side) for step in range(0, 4 * MOST_RUNS, 2) for side in (1, 0)]
    columns = columns_of(series_of("loss", steps, steps))

    rows = condensed(columns, buckets=10)

    assert (np.diff(rows.step) > 0).all()


def test_a_rollup_keeps_its_band():
    """The extremes of a series that was thinned before stay the extremes."""
    series = series_of("loss", range(3000), [2.0] * 3000)
    series.lows.extend([1.5] * 3000)
    series.highs.extend([2.5] * 2999 + [8.0])

    rows = condensed(columns_of(series))

    assert (rows.low.min(), rows.high.max()) == (1.5, 8.0)


@pytest.mark.parametrize("steps", [[], [1.0], [1.0, math.nan], [5.0, 5.0, 5.0]], ids=str)
def test_few_odd_points_stay_as_they_are(steps):
    """No points, one point, no step numbers, one step for all: nothing to thin, nothing to fail."""
    columns = columns_of(series_of("loss", steps, [1.0] * len(steps)))

    assert len(condensed(columns)) == len(thin(columns)) == len(steps)
    assert np.isfinite(columns.step).all()


def test_within_takes_the_steps_asked_for():
    """Both ends belong to it."""
    columns = columns_of(series_of("loss", range(10), range(10)))

    assert within(columns, 3, 5).step.tolist() == [3.0, 4.0, 5.0]
    assert within(columns, 0, 9) is columns
