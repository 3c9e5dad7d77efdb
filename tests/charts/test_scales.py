import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charts.columns import columns_of
from charts.scales import rate_scale, scale_of
from charts.thinning import condensed
from tests.charts.samples import healthy, series_of
from tests.counts import examples


def columns(values):
    return condensed(columns_of(series_of("loss", range(len(values)), values)))


def test_a_huge_first_loss_does_not_flatten_the_run():
    """The tail from 3.3 to 2.1 gets most of the height though the run began at 11."""
    scale = scale_of(condensed(columns_of(healthy().loss)))

    assert scale.high < 5
    assert scale.low < 2.1


def test_one_spike_does_not_flatten_the_run():
    """A spike of fifty times the usual range is clipped; one of twice the range is shown whole."""
    values = list(2 + 0.1 * np.sin(np.arange(500)))

    assert scale_of(columns([*values, 50.0, *values])).high < 3
    assert scale_of(columns([*values, 2.4, *values])).high > 2.4


def test_a_divergence_is_shown_whole():
    """Many points up there are no outlier, and the last value is always news."""
    values = [2.0] * 300 + list(np.linspace(2, 12, 100))

    assert scale_of(columns(values)).high > 12
    assert scale_of(columns([2.0 + 0.1 * (step % 2) for step in range(300)] + [3.0])).high > 3.0


def test_what_must_be_seen_is_seen():
    """The values at the bad step are inside, whatever the rest looks like."""
    values = [2.0 + 0.1 * (step % 2) for step in range(300)]
    values[150] = 3.2

    assert scale_of(columns(values), keep=(3.2,)).high > 3.2


@pytest.mark.parametrize(
    ("values", "is_log"),
    [([0.5, 0.6, 900.0, 0.5] * 20, True), ([0.5, 0.6, 2.0] * 20, False), ([-1.0, 900.0, 0.1] * 20, False)],
)
def test_decades_are_for_positive_values_that_span_them(values, is_log):
    """A log axis only where a linear one would show nothing, and never for negative values."""
    assert scale_of(columns(values), decades_for_log=1.3).is_log is is_log


@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [0.0, 0.0], [5.0], [1e308, -1e308], [1e-320] * 3], ids=str)
def test_any_values_have_a_scale(values):
    """None, one, equal, enormous, tiny: the axis has a length and its marks lie on it."""
    for scale in (scale_of(columns(values)), rate_scale(columns(values))):
        assert math.isfinite(scale.high - scale.low)
        assert scale.high > scale.low
        assert all(scale.low <= tick.at <= scale.high for tick in scale.ticks(3))


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=60), st.floats(0.5, 4))
@settings(max_examples=examples(200))
def test_no_values_break_the_scale(values, decades):
    """Whatever a log prints as a number, there is an axis."""
    scale = scale_of(columns(values), decades_for_log=decades)

    assert math.isfinite(scale.low)
    assert scale.high > scale.low
    scale.ticks(4)


def test_an_lr_of_zero_has_one_mark():
    """No invented values on an axis where all is 0."""
    assert [tick.says for tick in rate_scale(columns([0.0, 0.0])).ticks(3)] == ["0"]
