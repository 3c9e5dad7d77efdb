"""Attempts are counted on where a watcher starts again, though it reads less of the log than the one before."""

import pytest

from diagnosis.live_judge import LiveJudge
from diagnosis.observations import AttemptMark, Evidence, Origin, StepSample
from watcher.attempt_count import AttemptCount

ORIGIN = Origin("run42", "node17", 0)


def judge(*attempts):
    """A judge that saw so many attempts, each of which began anew."""
    made = LiveJudge()
    for number, steps in enumerate(attempts):
        if number:
            made.observe(AttemptMark(ORIGIN, "banner", Evidence("train.log", number, "start")))
        for step in steps:
            made.observe(StepSample(ORIGIN, step, "printed", 2.5, Evidence("train.log", step, f"step={step}")))
    return made


@pytest.mark.parametrize(("resumed", "newest"), [(None, 1), (0, 1), (1, 1), (7, 7)])
def test_the_number_goes_on_from_the_bookmark(resumed, newest):
    """Two attempts are read again, the second of which was the bookmark's eighth."""
    seen = judge(range(5), range(5))
    count = AttemptCount(seen, resumed)

    before = count.newest
    count.hear_news()

    assert before == (1 if resumed is None else resumed)
    assert (count.newest, count.of(seen.attempt)) == (newest, newest)


def test_until_there_is_news_no_attempt_is_told_anew():
    """What the bookmark's watcher told of it is better known."""
    count = AttemptCount(judge(range(5)), 3)

    assert count.spans(is_live=True) == []
    count.hear_news()
    (span,) = count.spans(is_live=True)
    assert (span.number, span.first_step, span.started) == (3, None, None)


def test_a_restart_is_counted_once():
    """News are heard many times."""
    seen = judge(range(5))
    count = AttemptCount(seen, 3)
    count.hear_news()
    seen.observe(AttemptMark(ORIGIN, "banner", Evidence("train.log", 99, "start")))
    count.hear_news()

    assert count.newest == 3 + seen.attempt
