"""A person's own pattern is checked before it is let near a live log."""

import pytest

from benchmarks.patterns import LIMIT_SECONDS, cases, measure
from diagnosis.formats import RefusedPattern, UserPattern


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?P<loss>", "not a regular expression"),
        ("(?P<loss>a{99999999999})", "not a regular expression"),
        (r"(?P<perte>\d+)", "'perte'"),
        (r"(?P<lr>\d+)", "must name a group `loss` or `step`"),
        (r"loss: (\d+)", "must name a group `loss` or `step`"),
        (r"(?P<loss>(\d+)+)", "repeats something that repeats itself"),
        (r"(a+)+ (?P<loss>\d+)", "repeats something that repeats itself"),
        (r"(?:a|aa)+ (?P<loss>\d+)", "repeats a choice"),
        (r"(?:\s*,?\s*\w*)* (?P<loss>\d+)", "repeats something that repeats itself"),
        (r"(?P<step>\d) \1 (?P<loss>\d)", "refers back"),
        (r"(.*)(.*)(.*)(.*)(?P<loss>\d)", "`.*`"),
        (r"loss.*loss.*loss.*(?P<loss>\d)", "very many ways"),
        (r"\d*\d*x (?P<loss>\d+)", "very many ways"),
        ("x" * 2000 + r"(?P<loss>\d)", "characters"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_the_reason(pattern, reason):
    """Before it costs anything."""
    with pytest.raises(RefusedPattern) as refused:
        UserPattern(pattern)

    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "pattern",
    [
        r"pas (?P<step>\d+) \| pierdere (?P<loss>[\d.]+)",
        r"^(?P<time>\S+ \S+) .*step=(?P<step>\d+).*loss=(?P<loss>\S+)",
        r"step (?P<step>\d+).*loss (?P<loss>\S+).*lr (?P<lr>\S+)",
        r"Epoch \[\d+\]\s+\[(?P<step>\d+)/\d+\]\s+Loss: (?P<loss>[\d.e+-]+) \((?:[\d.]+)\)\s+LR=(?P<lr>\S+)",
        r"(?P<step>\d+)\s*\|\s*(?P<loss>[\d.]+)\s*\|\s*(?P<lr>[\d.e-]+)",
        r"iter (?P<step>\d+), (?:train )?loss[:=] ?(?P<loss>nan|inf|[-\d.]+), .*norm (?P<grad_norm>[\d.]+)",
        r"\[rank (?P<rank>\d+)\] (?P<loss>[-+]?\d+\.\d+(?:e[-+]?\d+)?) (?P<lr>\S+) (?P<grad_norm>\S+)",
    ],
)
def test_a_plain_pattern_is_taken(pattern):
    """Repeats of classes, options, anchors."""
    assert UserPattern(pattern).pattern == pattern


def test_it_finds_what_it_names():
    """A token that is no number is left out."""
    found = UserPattern(r"s(?P<step>\S+) l(?P<loss>\S+)").find("s12 lx")

    assert found is not None
    assert [(token.name, token.start, token.end) for token in found.tokens] == [("step", 1, 3)]


def test_bad_patterns_are_refused_or_quick():
    """A tenth of `python -m benchmarks.patterns`: each on the line of 64 KiB on which it is worst (RELIABILITY A32)."""
    found = [measure(case) for case in list(cases(500))[::10]]

    assert [one for one in found if one.seconds > 20 * LIMIT_SECONDS] == []
    assert sum(one.is_refused for one in found) >= len(found) / 2


def test_only_the_head_of_a_line_is_seen():
    """What grows with the square of the length is quick on a thousand characters."""
    pattern = UserPattern(r"loss=(?P<loss>\d+)")

    assert pattern.find("x" * 900 + "loss=1") is not None
    assert pattern.find("x" * 1000 + "loss=1") is None
