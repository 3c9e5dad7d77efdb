import math

import pytest

from charts.words import is_a_time, say_clock, say_day, say_difference, say_rate, say_step, say_value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2.3131, "2.313"),
        (11.018, "11.02"),
        (0.0, "0"),
        (0.01234, "0.0123"),
        (0.000012, "1.2e-5"),
        (1234.5, "1,234"),
        (960.351, "960.4"),
        (2.5e7, "2.5e7"),
        (-0.0388, "−0.0388"),
        (math.nan, "NaN"),
        (math.inf, "Inf"),
        (-math.inf, "−Inf"),
        (1e308, "1.0e308"),
    ],
)
def test_values_are_said_as_people_say_them(value, said):
    """Four telling digits, exponents only where they help, and never a lie about what is not finite."""
    assert say_value(value) == said


@pytest.mark.parametrize(
    ("rate", "said"), [(1e-4, "1.0e-4"), (2.95e-5, "2.95e-5"), (0.01, "0.01"), (0, "0"), (3.0000693e-5, "3.0e-5")]
)
def test_learning_rates_keep_their_exponent(rate, said):
    """`1.0e-4`, as in every config file."""
    assert say_rate(rate) == said


@pytest.mark.parametrize(("step", "said"), [(41200, "41,200"), (0, "0"), (12.5, "12.5"), (math.nan, "?")])
def test_steps_are_said_in_full(step, said):
    """A step that is looked up in a log must be exact."""
    assert say_step(step) == said


@pytest.mark.parametrize(
    ("delta", "said"), [(1.98, "+1.98"), (-6.514, "−6.51"), (0, "±0"), (math.inf, "Inf"), (3.2e-7, "+3.2e-7")]
)
def test_differences_carry_their_sign(delta, said):
    """Up or down is half of the news."""
    assert say_difference(delta) == said


def test_the_clock_is_as_fine_as_its_axis():
    """Seconds only where minutes would all read the same."""
    time = 1_715_640_007.0

    assert say_clock(time, span=60) == "22:40:07"
    assert say_clock(time, span=86_400) == "22:40"
    assert say_day(time) == "13 May"


@pytest.mark.parametrize("time", [None, math.nan, math.inf, 1e18, -1e18])
def test_no_calendar_shows_these_times(time):
    """A log may hold any number where a time should be."""
    assert not is_a_time(time)
