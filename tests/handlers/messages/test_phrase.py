"""A phrase is written for Slack or for a terminal from the same words."""

import pytest

from handlers.messages.phrase import NOTHING, OR, Moment, Person, join, listed, say


@pytest.mark.parametrize("text", ["a *b* c", "*", "**kwargs", "_x_ and __init__", "~gone~", "x * y", "*bold*", "a_b *"])
def test_a_title_stays_bold_whatever_stands_in_it(text):
    """A star of an exception's text would end the title's own bold."""
    written = say("*{run} · {what}* ({what})", run="run_42", what=say("{text}", text=text)).mrkdwn

    title, _, rest = written[1:].partition("*")
    assert written[0] == "*"
    assert not set(title) & {"*", "~"}
    assert rest == f" ({text})"
    assert title.startswith("run_42 · ")


def test_one_phrase_serves_slack_and_terminal():
    """Slack gets bold and escapes, a terminal gets plain words."""
    phrase = say("*{run}* lost `{what}`", run="a<b", what="x`y")

    assert phrase.mrkdwn == "*a&lt;b* lost `xˋy`"
    assert phrase.plain == "a<b lost `x`y`"


def test_values_are_never_read_as_templates():
    """A value in braces stays a value."""
    assert say("{a}{b}", a="{b}", b="{a}").plain == "{b}{a}"


def test_nested_phrases_are_escaped_once():
    """A phrase inside a phrase is not escaped again."""
    assert say("{inner}!", inner=say("<{x}>", x="&")).mrkdwn == "<&amp;>!"


def test_empty_parts_leave_no_gap():
    """Joining skips what is not there."""
    assert join([say("a"), NOTHING, say("b")], " · ").plain == "a · b"
    assert not join([NOTHING, NOTHING], " · ")


def test_lists_read_as_people_say_them():
    """`a, b and c`."""
    assert listed([say("a"), say("b"), say("c")], OR).plain == "a, b or c"
    assert listed([say("a")]).plain == "a"


def test_only_a_real_id_becomes_a_mention():
    """A name that only looks like one stays text."""
    assert Person("U0ALICE").mrkdwn == "<@U0ALICE>"
    assert Person("!channel").mrkdwn == "!channel"
    assert "<" not in Person("U1><!channel").mrkdwn


def test_a_moment_is_shown_in_each_readers_zone():
    """Slack's date sign carries the UTC time for everybody else; nonsense is no time."""
    assert Moment(1_780_000_000).mrkdwn == "<!date^1780000000^{time_secs}|20:26:40 UTC>"
    assert Moment(1_780_000_000).plain == "20:26:40 UTC"
    assert Moment(1e30).mrkdwn == "unknown time"
