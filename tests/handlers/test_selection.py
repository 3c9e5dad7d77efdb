"""Which part of a run is shown."""

import pytest

from diagnosis.series import Mark, RunSeries
from handlers.arguments import WrongWords
from handlers.selection import read_part, select


def series(points=100, *, has_times=True):
    made = RunSeries("run42", marks=(Mark("spike", 10.0), Mark("spike", 90.0)))
    for step in range(1, points + 1):
        made.loss.add(step, 3.0 - step / 100, 1000.0 + 60 * step if has_times else None)
        made.lr.add(step, 1e-4)
    return made


@pytest.mark.parametrize(
    ("last", "steps", "first", "count"),
    [
        (None, None, 1, 100),
        ("10", None, 91, 10),
        ("1,000", None, 1, 100),
        ("30m", None, 70, 31),
        (None, "20..29", 20, 10),
        (None, "95..", 95, 6),
        (None, "..5", 1, 5),
        (None, "500..600", None, 0),
    ],
)
def test_the_part_that_was_asked_for_is_shown(last, steps, first, count):
    """The last points, the last time, a range of steps."""
    shown = select(series(), read_part(last, steps))

    assert len(shown.loss) == count
    assert first is None or shown.loss.steps[0] == first
    assert len(shown.lr) == count


def test_marks_follow_the_part():
    """A spike outside the part is not marked in it."""
    assert [mark.step for mark in select(series(), read_part("20", None)).marks] == [90.0]


@pytest.mark.parametrize(
    ("last", "steps", "right"),
    [
        ("soon", None, "`--last 2h` or `--last 500`"),
        ("1", None, "at least 2"),
        ("0", None, "at least 2"),
        (None, "5", "is no range"),
        (None, "..", "is no range"),
        (None, "b..c", "is no range"),
        (None, "9..2", "ends before it begins"),
        ("2h", "1..2", "not both"),
    ],
)
def test_a_part_that_cannot_be_is_refused(last, steps, right):
    """With what is right."""
    with pytest.raises(WrongWords, match=None) as refusal:
        read_part(last, steps)

    assert right in str(refusal.value)


def test_a_log_without_times_says_so():
    """`--last 2h` needs a clock in the log."""
    with pytest.raises(WrongWords, match="prints no times"):
        select(series(has_times=False), read_part("2h", None))
