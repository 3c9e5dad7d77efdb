import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charts.ticks import log_ticks, step_ticks, time_ticks, value_ticks
from tests.counts import examples


def said(ticks) -> list[str]:
    return [tick.says for tick in ticks]


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        (0, 99_999, ["0", "20k", "40k", "60k", "80k", "100k"]),
        (0, 1000, ["0", "200", "400", "600", "800", "1k"]),
        (41_150, 41_250, ["41,160", "41,180", "41,200", "41,220", "41,240"]),
        (0, 1_000_000, ["0", "200k", "400k", "600k", "800k", "1M"]),
        (61_500, 62_800, ["61.5k", "62k", "62.5k"]),
        (0, 3, ["0", "1", "2", "3"]),
        (100, 100, ["100"]),
    ],
)
def test_step_marks_are_few_and_can_be_told_apart(first, last, labels):
    """Thousands are shortened only where the short form says enough."""
    assert said(step_ticks(first, last)) == labels


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1.9, 3.4, ["2.0", "2.5", "3.0"]),
        (0, 90, ["0", "25", "50", "75"]),
        (-1.2, 2.2, ["−1", "0", "1", "2"]),
        (0, 3.4e-4, ["0", "1.0e-4", "2.0e-4", "3.0e-4"]),
        (2.001, 2.0034, ["2.001", "2.002", "2.003"]),
    ],
)
def test_value_marks_have_just_enough_decimals(low, high, labels):
    """`2.0 2.5 3.0`, not `2 2.5 3.000`."""
    assert said(value_ticks(low, high, 4)) == labels


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.5, 200, ["1", "10", "100"]),
        (1e-6, 1e6, ["1e-6", "0.01", "100", "1e6"]),
        (2.0, 40, ["3", "10", "30"]),
    ],
)
def test_log_marks_are_decades(low, high, labels):
    """Whole decades where there are two, thirds where there is one."""
    assert said(log_ticks(low, high, 4)) == labels


def test_times_are_marked_at_round_moments():
    """Five minutes, not 4 min 37 s."""
    assert said(time_ticks(1_715_640_000, 1_715_640_900)) == ["22:40", "22:45", "22:50", "22:55"]


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
@settings(max_examples=examples(200))
def test_no_axis_gets_more_marks_than_fit(first, span):
    """At most a handful of labels that differ, whatever the numbers."""
    ticks = step_ticks(first, first + span)

    assert 1 <= len(ticks) <= 7
    assert len(set(said(ticks))) == len(ticks)
