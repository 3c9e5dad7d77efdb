"""What people type on phones and paste from anywhere is understood; what is wrong is answered with what is right."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.arguments import Option, WrongWords, first_name, first_word, read_arguments

OPTIONS = (Option("last", "2h|500"), Option("csv"), Option("vs", "OTHER"))


@pytest.mark.parametrize(
    ("typed", "names", "options"),
    [
        ("run42", ("run42",), {}),
        ("run42 --last 2h --csv", ("run42",), {"last": "2h", "csv": ""}),
        ("--last=500 run42", ("run42",), {"last": "500"}),
        ("run42 —last 2h", ("run42",), {"last": "2h"}),
        ("run42 –csv", ("run42",), {"csv": ""}),
        ("“my run” --csv", ("my run",), {"csv": ""}),
        ("`run42`", ("run42",), {}),
        ("*run42*", ("run42",), {}),
        ("<http://run.example|run.example>", ("run.example",), {}),
        ("run-42_a.b --vs run_40", ("run-42_a.b",), {"vs": "run_40"}),
        ("it's", ("it's",), {}),
        ("", (), {}),
    ],
)
def test_what_is_meant_is_understood(typed, names, options):
    """Dashes of phones, curly quotes, marks around a name and Slack's own links are undone."""
    found = read_arguments(typed, OPTIONS)

    assert (found.names, dict(found.options)) == (names, options)


@pytest.mark.parametrize(
    ("typed", "name", "rest"),
    [
        ("run42 2h it's known", "run42", "2h it's known"),
        ("'my run' 2h it's known", "my run", "2h it's known"),
        ("“my run”", "my run", ""),
        ('"my" run', "my", "run"),
        ("`run42` x", "run42", "x"),
        ("it's", "it's", ""),
        ("  ", "", ""),
    ],
)
def test_a_name_before_free_text_may_stand_in_quotes(typed, name, rest):
    """What follows is left as it was typed."""
    assert first_name(typed) == (name, rest)


def test_a_name_with_spaces_is_told_how_it_is_typed():
    """The whole name in quotes, as it is understood then."""
    with pytest.raises(WrongWords) as wrong:
        read_arguments("run with space/../x")

    assert "A name with spaces needs quotes: `'run with space/../x'`." in str(wrong.value)
    assert read_arguments("'run with space/../x'").names == ("run with space/../x",)


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("run42 --lats 2h", "Did you mean `--last`?"),
        ("run42 --zzz", "There are: `--last`, `--csv`, `--vs`."),
        ("run42 --last", "`--last` needs a value: `--last 2h|500`."),
        ("run42 --last --csv", "`--last` needs a value"),
        ("run42 --csv=yes", "`--csv` takes no value."),
        ("run42 run43", "One run at a time"),
        ("x" * 600, "longer than 500"),
    ],
)
def test_what_is_wrong_is_answered_with_what_is_right(typed, right):
    """A refusal names the mistake and the way out."""
    with pytest.raises(WrongWords) as refusal:
        read_arguments(typed, OPTIONS)

    assert right in str(refusal.value)


@given(st.text(max_size=600))
def test_no_words_break_it(words):
    """Anything is either understood or refused in words."""
    with contextlib.suppress(WrongWords):
        assert read_arguments(words, OPTIONS).names is not None


def test_the_first_word_chooses_the_command():
    """`@runwatch Loss run42` is /loss."""
    assert first_word("Loss run42 --csv") == ("loss", "run42 --csv")
    assert first_word("") == ("", "")
