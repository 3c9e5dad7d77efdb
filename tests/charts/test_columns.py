import math

import pytest

from charts.columns import columns_of
from tests.charts.samples import series_of


@pytest.mark.parametrize("steps", [[1.0, math.nan, 3.0], [1.0, math.inf, 3.0], [1.0]], ids=str)
def test_without_step_numbers_the_position_counts(steps):
    """A series whose steps are not all known is drawn in the order of the log."""
    series = series_of("loss", steps, [2.0, 2.1, 2.2])

    assert columns_of(series).step.tolist() == [0, 1, 2]


def test_passes_begin_where_the_step_goes_back():
    """Each later attempt is a pass; equal steps are not."""
    columns = columns_of(series_of("loss", [5, 6, 6, 7, 2, 3, 9, 1], range(8)))

    assert columns.passes.tolist() == [0, 4, 7]
    assert (columns.first, columns.last) == (1, 9)


def test_a_band_is_finite_where_all_of_it_is():
    """A bucket whose low is NaN cannot be drawn."""
    series = series_of("loss", range(3), [2.0, 2.0, math.nan])
    series.lows.extend([1.0, math.nan, 1.0])
    series.highs.extend([3.0, 3.0, 3.0])

    assert columns_of(series).is_finite.tolist() == [True, False, False]


def test_a_series_that_lost_its_times_has_none():
    """Columns of other lengths are not taken for this metric's."""
    series = series_of("loss", range(3), [1.0, 2.0, 3.0])
    del series.times[1:]
    series.lows.append(0.0)

    columns = columns_of(series)

    assert all(math.isnan(time) for time in columns.time)
    assert not columns.is_band
