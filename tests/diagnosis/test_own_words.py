"""A log of words that nobody else uses: the line that shows it, and the way to have it read."""

import re

import pytest

from diagnosis.own_words import NAME_THEM, PATTERN, sample_of


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["it#1 crit~2.5", "it#2 crit~2.4"], "it#2 crit~2.4"),
        (["  it#1 crit~2.5", "saved"], "it#1 crit~2.5"),
        (["2026-11-30 03:30:00 | it#900 crit~nan alpha~3.00e-04"], "2026-11-30 03:30:00 | it#900 crit~nan alpha~3.00e-04"),
        (["2026-11-30 03:30:00 starting", "2026-11-30T03:30:00.123 ready"], None),
        (["milk", "bread"], None),
        ([], None),
    ],
)  # fmt: skip
def test_the_newest_line_with_two_numbers_is_shown(lines, shown):
    """The time of a line is none of them."""
    assert sample_of(lines) == shown


def test_the_pattern_that_is_offered_reads_the_words_it_is_made_for():
    """It names the groups that a pattern must name."""
    found = re.search(PATTERN, "2026-11-30 03:30:00 | it#900 crit~2.25 alpha~3e-4")
    assert found is not None
    assert found.groupdict() == {"step": "900", "loss": "2.25"}
    assert PATTERN in NAME_THEM
