"""Checkpoints: the newest one before a bad step, and how long it will still be there."""

from dataclasses import replace

import pytest

from diagnosis.checkpoints import Checkpoints
from tests.diagnosis.lines import saving

HOUR = 3600.0


@pytest.fixture
def checkpoints():
    checkpoints = Checkpoints()
    for place in range(1, 6):
        mark = saving(place * 1000, time=place * HOUR)
        checkpoints.note(mark, mark.step)
    return checkpoints


def test_the_newest_before_a_step_cannot_hold_it(checkpoints):
    """A checkpoint of the bad step itself is bad."""
    assert checkpoints.newest_before(4001).step == 4000
    assert checkpoints.newest_before(4000).step == 3000
    assert checkpoints.newest_before(1000) is None
    assert checkpoints.newest_before(None).step == 5000


def test_keep_last_n_tells_when_it_is_deleted(checkpoints):
    """Two newer ones would be needed; one exists, the next come hourly."""
    checkpoints.learn({"save_total_limit": "3"})
    saved = checkpoints.newest_before(4500)

    assert checkpoints.deleted_in(saved, now=5.5 * HOUR) == 1.5 * HOUR
    assert checkpoints.sentence(4500, 5.5 * HOUR) == (
        "Newest checkpoint before it: step 4,000. keep-last-3 deletes it in about 1 h 30 min at this pace."
    )


def test_a_checkpoint_out_of_reach_is_probably_gone(checkpoints):
    """Three newer ones exist and only two are kept."""
    assert checkpoints.sentence(2500, 5.5 * HOUR, kept=2) == (
        "Newest checkpoint before it: step 2,000. keep-last-2 has probably deleted it."
    )


def test_without_a_limit_or_times_nothing_is_forecast(checkpoints):
    """Only the step is said."""
    assert checkpoints.sentence(4500, 5.5 * HOUR) == "Newest checkpoint before it: step 4,000."
    assert checkpoints.sentence(4500, None, kept=3) == "Newest checkpoint before it: step 4,000."
    assert Checkpoints().sentence(4500, 5.5 * HOUR) is None


def test_begin_and_end_of_one_save_are_one_checkpoint(checkpoints):
    """Both lines name the same step."""
    mark = saving(5000, time=5.1 * HOUR)
    checkpoints.note(mark, mark.step)

    assert checkpoints.deleted_in(checkpoints.newest_before(6000), 5.1 * HOUR, kept=1) > 0
    assert len(checkpoints._saved) == 5


def test_a_save_that_was_not_heard_to_end_is_no_checkpoint(checkpoints):
    """The run died while it saved: go back to the one before. If it trained on, the save was done."""
    begun = replace(saving(6000, time=6 * HOUR), begins=True)
    checkpoints.note(begun, 6000)
    assert checkpoints.newest_before(6001).step == 5000

    checkpoints.go_on()

    assert checkpoints.newest_before(6001).step == 6000
