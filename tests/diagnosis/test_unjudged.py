"""What is not judged is said, where a person would wonder."""

import pytest

from diagnosis.thresholds import Thresholds
from diagnosis.unjudged import early_leap


def jump(step, before, after):
    return {"step": step, "from": before, "to": after, "rule": "jump"}


def test_the_largest_rise_of_a_warm_up_is_told():
    """With the step from which on spikes are judged."""
    told = early_leap([jump(2, 10.86, 14.45), jump(4, 15.2, 11.31), jump(18, 7.37, 8.54)], Thresholds())

    assert told == "before step 200 no spike is judged; the loss rose from 10.9 to 14.4 at step 2"


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [jump(2, 15.2, 11.3)],
        [jump(200, 2.0, 9.0)],
        [jump(None, 2.0, 9.0)],
        [jump(7, 100.0, 110.0)],
        [jump(7, -2.0, 9.0)],
        [jump(7, "nan", 9.0)],
        [jump(7, 9.0, float("inf"))],
    ],
)
def test_where_nothing_is_left_out_nothing_is_told(seen):
    """A fall, a step that is judged, a rise that is small beside the loss, a loss that has no level, no number."""
    assert early_leap(seen, Thresholds()) is None
