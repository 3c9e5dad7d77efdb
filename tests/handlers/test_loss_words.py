"""What may be typed after /loss, and what changed around the newest trouble."""

import re

import pytest

from diagnosis.series import Mark, RunSeries
from handlers.arguments import WrongWords
from handlers.around import Around, changes_to_tell
from handlers.health import Health, Look
from handlers.loss import metric_of, read_words

LR = "learning rate: 1.0e-3 → 1.0e18 at step 61 (run42.log:245)"


@pytest.mark.parametrize(
    ("words", "names", "steps"),
    [
        ("run42 100..200", ("run42",), "100..200"),
        ("100..200", (), "100..200"),
        ("run42 41,000..", ("run42",), "41,000.."),
        ("run42 --steps 100..200", ("run42",), "100..200"),
    ],
)
def test_a_bare_range_means_the_steps(words, names, steps):
    """People type it without the option."""
    given = read_words(words)

    assert (given.names, given.options["steps"]) == (names, steps)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("run42 last 2h", {"last": "2h"}),
        ("run42 grad_norm", {"metric": "grad_norm"}),
        ("run42 LR last 500 dark", {"metric": "LR", "last": "500", "dark": ""}),
        ("run42 vs run40", {"vs": "run40"}),
    ],
)
def test_behind_the_run_options_need_no_dashes(words, options):
    """As people type on a phone."""
    given = read_words(words)

    assert (given.names, given.options) == (("run42",), options)


@pytest.mark.parametrize("words", ["last", "csv", "loss"])
def test_a_run_may_be_named_as_an_option(words):
    """The first word is the run."""
    assert read_words(words).names == (words,)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("run42 lr loss", "One metric"),
        ("run42 last", "`--last` needs a value"),
        ("run42 run40", "`run42 --vs run40`"),
        ("run42 1..2 3..4", "One range"),
        ("run42 1..2 --steps 3..4", "One range"),
        ("run42 --lats 2h", "Did you mean `--last`?"),
    ],
)
def test_wrong_words_are_answered_with_what_is_right(words, right):
    """A sentence with the right form."""
    with pytest.raises(WrongWords, match=re.escape(right)):
        read_words(words)


def test_a_metric_with_a_typing_error_gets_its_near_one():
    """`gradnrom` is close to grad_norm."""
    with pytest.raises(WrongWords, match="Did you mean `grad_norm`"):
        metric_of(read_words("run42 --metric gradnrom"))


def series(*marks, points=100):
    made = RunSeries("run42", marks=marks)
    for step in range(1, points + 1):
        made.loss.add(step, 2.0)
    return made


def incident(step, *changes):
    return {"is_open": True, "incident": {"head": {"step": step, "changes": list(changes)}}}


def test_the_newest_trouble_in_view_is_told():
    """Of an incident or of a mark, whichever is newer."""
    shown = series(Mark("jump", 30.0, changes=("an older one",)))

    told = changes_to_tell(shown, [incident(61, LR)], Look(Health.WRONG))

    assert told == Around(61, (LR,))


def test_a_calm_run_is_not_bothered_with_its_beginning():
    """A healthy start drops by more than 1: no news at step 100,000. Asked for that part, it is told."""
    shown = series(Mark("jump", 3.0, changes=("learning-rate schedule: …",)))

    assert changes_to_tell(shown, [], Look(Health.NORMAL)) is None
    assert changes_to_tell(shown, [], Look(Health.NORMAL), is_part=True) is not None


@pytest.mark.parametrize("fields", [{}, {"incident": "x"}, {"incident": {"head": {"step": "61", "changes": "no"}}}])
def test_a_record_of_another_version_is_left_alone(fields):
    """Nothing is told, nothing fails."""
    assert changes_to_tell(series(), [fields], Look(Health.WRONG)) is None
