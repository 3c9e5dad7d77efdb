"""Wording: numbers as people say them."""

import pytest

from diagnosis import wording


@pytest.mark.parametrize(
    ("value", "said"),
    [(2.3149, "2.31"), (15.886, "15.9"), (960.351, "960"), (97829.0, "97,829"), (0.0, "0.00"), (-0.5, "-0.50"),
     (5.279e-05, "5.28e-5"), (float("nan"), "NaN"), (float("inf"), "infinite"), (float("-inf"), "minus infinite"),
     (None, "unknown")],
)  # fmt: skip
def test_a_number_is_said_with_the_digits_that_matter(value, said):
    """Three digits, thousands with a comma, words for what is no number."""
    assert wording.number(value) == said


@pytest.mark.parametrize(("value", "said"), [(1e-4, "1.0e-4"), (5.279e-05, "5.28e-5"), (3e-4, "3.0e-4"), (0.0, "0")])
def test_a_learning_rate_is_said_in_powers_of_ten(value, said):
    """Without the zeros that nobody counts."""
    assert wording.small(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(40, "40 s"), (720, "12 min"), (4200, "1 h 10 min"), (7200, "2 h"), (273600, "3 d 4 h"), (259200, "3 d")],
)
def test_a_duration_is_said_in_two_units_at_most(seconds, said):
    """The second unit only where it tells something."""
    assert wording.duration(seconds) == said


def test_a_trail_leaves_out_what_is_not_known():
    """Grad norms in a row: two digits each."""
    assert wording.trail([0.912, None, 4.7, 96.4, float("nan")]) == "0.91 → 4.7 → 96 → NaN"
