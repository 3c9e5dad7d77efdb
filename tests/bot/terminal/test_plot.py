"""A curve in letters shows what matters: extremes, the end, and values that were not finite."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.terminal.plot import CROSS, HEIGHT, WIDTH, plot
from bot.terminal.printing import plain_of
from diagnosis.series import Series


def series(values):
    made = Series("loss")
    for step, value in enumerate(values, 1):
        made.add(step, value)
    return made


def test_a_falling_curve_falls():
    """High on the left, low on the right, with the values and steps at the ends."""
    lines = plot(series([3.0 - step / 100 for step in range(200)]))

    assert len(lines) == HEIGHT + 1
    assert lines[0].startswith("3.000 ┤")
    assert lines[HEIGHT - 1].startswith("1.010 ┤")
    assert lines[-1].split() == ["1", "200"]
    assert lines[0].strip("3.0 ┤")[0] != "\u2800"


def test_nan_is_a_cross_at_its_step():
    """A gap alone could be taken for nothing."""
    lines = plot(series([2.0] * 50 + [math.nan] * 50))

    row = next(line for line in lines if CROSS in line)
    assert row.strip().startswith("NaN")
    assert row.index(CROSS) > WIDTH // 3


@example(values=[5.312222632404193e306, -1.7445709085382739e308])
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=300))
def test_any_numbers_can_be_drawn(values):
    """Every series gives lines of bounded width, or none."""
    assert all(len(line) < WIDTH + 40 for line in plot(series(values)))


@pytest.mark.parametrize(
    ("mrkdwn", "plain"),
    [
        ("*run42* lost <@U0ALICE> at <!date^1^{time_secs}|03:12:07 UTC>", "run42 lost @U0ALICE at 03:12:07 UTC"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_a_message_reads_the_same_in_a_terminal(mrkdwn, plain):
    """Signs resolved, marks gone, letters as they were."""
    assert plain_of(mrkdwn) == plain
