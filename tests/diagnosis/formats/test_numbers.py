"""Numbers and durations in every shape that logs print."""

import math

import pytest

from diagnosis.formats.numbers import parse_duration, parse_number


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("7.399415E+00", 7.399415),
        ("1e-05", 1e-5),
        ("5.00e-6", 5e-6),
        ("2,097,152", 2097152),
        ("3,502", 3502),
        ("85.8G", 85.8e9),
        ("11.5K", 11500),
        ("1.204e+07", 1.204e7),
        ("'0.9446'", 0.9446),
        ("-0.000", 0.0),
        ("[44.313248]", 44.313248),
        (".5", 0.5),
        ("8496855334057326588896827408384.0", 8.496855334057326588896827408384e30),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
        ("1.#INF", math.inf),
    ],
)
def test_a_number_is_read_in_any_shape(token, value):
    """Exponents, commas, suffixes, quotes, brackets."""
    assert parse_number(token) == value


@pytest.mark.parametrize("token", ["nan", "NaN", "-nan", "nan(ind)", "1.#QNAN"])
def test_nan_is_a_number(token):
    """That it stands there is the news."""
    value = parse_number(token)

    assert value is not None
    assert math.isnan(value)


@pytest.mark.parametrize(
    "token", ["", "nanms", "provenance", "info", "[1 31049]", "1/2", "12:30", "0x1f", "None", "1,2"]
)
def test_what_looks_like_a_number_and_is_none(token):
    """Words that hold `nan` or `inf`, broken arrays, times."""
    assert parse_number(token) is None


@pytest.mark.parametrize(
    ("token", "seconds"),
    [
        ("1:02:17", 3737),
        ("05:40", 340),
        ("18 days, 16:13:38", 18 * 86400 + 16 * 3600 + 13 * 60 + 38),
        ("1 day, 2:46:39", 86400 + 9999),
        ("46m 13s", 2773),
        ("6s", 6),
        ("0h0m", 0),
        ("250ms", 0.25),
    ],
)
def test_a_duration_is_read_in_any_shape(token, seconds):
    """Clocks, days, units."""
    assert parse_duration(token) == seconds


def test_no_duration():
    """A word is none."""
    assert parse_duration("soon") is None
