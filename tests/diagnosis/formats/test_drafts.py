"""Values made quickly are the values made slowly."""

import dataclasses

import pytest

from diagnosis.formats import drafts
from diagnosis.observations import Evidence, Origin, StepSample


def test_a_quick_value_is_equal_and_of_the_same_kind():
    """Every field in its place; a new field of the dataclass breaks this test."""
    shown = drafts.evidence("a.log", 7, "text", 99)
    quick = drafts.step_sample(Origin(rank=3), 5, "printed", 2.5, shown, 1.5, 1e-4, 10.0, 11.0, {"mfu": 0.5})
    slow = StepSample(
        Origin(rank=3), 5, "printed", 2.5, Evidence("a.log", 7, "text", 99), 1.5, 1e-4, 10.0, 11.0, {"mfu": 0.5}
    )

    assert type(quick) is StepSample
    assert quick == slow
    assert repr(quick) == repr(slow)
    assert dataclasses.replace(quick, step=6).step == 6


def test_a_quick_value_is_frozen():
    """Nobody may change what was seen."""
    shown = drafts.evidence("a.log", 7, "text", 99)

    with pytest.raises(dataclasses.FrozenInstanceError):
        shown.line = 8  # type: ignore[misc]
