"""Thresholds: what a person may set, and what is refused with a word that helps."""

import pytest

from diagnosis.thresholds import SPECS, BadThreshold, Thresholds, UnknownThreshold


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("jump_delta", "0.5", "jump_delta", 0.5),
        ("jump.delta", "2", "jump_delta", 2.0),
        ("RUNWATCH_STALL_AFTER", "10m", "stall_after", 600.0),
        ("stall-after", "1h30m", "stall_after", 5400.0),
        ("slow_share", "20%", "slow_share", 0.2),
        ("spike_window", "256", "spike_window", 256),
    ],
)
def test_an_option_is_set_as_people_write_it(name, text, field, value):
    """Units stand in the value; dots, dashes and the environment's prefix all name the same option."""
    thresholds = Thresholds.from_text({name: text})

    assert getattr(thresholds, field) == value
    assert type(getattr(thresholds, field)) is type(value)


def test_nothing_set_gives_the_defaults():
    """An empty mapping changes nothing."""
    assert Thresholds.from_text({}) == Thresholds()


def test_an_unknown_name_is_refused_with_near_ones():
    """A slip of the finger is answered with what was meant."""
    with pytest.raises(UnknownThreshold) as refused:
        Thresholds.from_text({"jmp_delta": "1"})

    assert refused.value.near[0] == "jump_delta"
    assert "Did you mean jump_delta" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("jump_delta", "much", "a number"),
        ("jump_delta", "nan", "a number"),
        ("jump_delta", "-1", "above 0"),
        ("spike_window", "1.5", "a whole number"),
        ("stall_after", "10 parsec", "90s, 10m or 1h30m"),
        ("stall_after", "600", "90s, 10m or 1h30m"),
    ],
)
def test_a_bad_value_is_answered_with_what_is_right(name, text, word):
    """The answer names the option, what it wants and its default."""
    with pytest.raises(BadThreshold, match=word) as refused:
        Thresholds.from_text({name: text})

    assert name in str(refused.value)
    assert "Default:" in str(refused.value)


def test_every_option_has_a_unit_and_a_line():
    """The settings page is made from the dataclass, so nothing may be missing."""
    assert [spec.name for spec in SPECS] == list(Thresholds.__dataclass_fields__)
    assert all(spec.unit and spec.doc.endswith((".", "…")) for spec in SPECS)
