"""What strangers write is shown letter for letter and never does anything."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.messages.blocks import cut
from handlers.messages.escaping import escape, fit, safe, visible
from handlers.messages.phrase import say

ATTACKS = [
    "<!channel>",
    "<!here> <!everyone>",
    "<@U0ALICE>",
    "<!subteam^S123>",
    "<http://evil.example|safe>",
    "https://evil.example/x",
    "```\nout of the fence <!channel>",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "a\u200bb",
    "&lt;!channel&gt;",
    "<" * 400,
    "&" * 400,
]


def unescaped(text):
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_sign_of_slacks_survives(attack):
    """Neither a mention nor a link can be built from a value."""
    written = say("log says: {line}", line=attack).mrkdwn

    assert "<" not in written
    assert ">" not in written
    assert not re.search(r"&(?!amp;|lt;|gt;)", written)


@given(st.text())
def test_escaping_is_undone_by_slack_exactly_once(text):
    """What is shown is what was written: nothing is escaped twice."""
    assert unescaped(escape(text)) == text


@given(st.text(max_size=300), st.integers(0, 200))
def test_a_cut_value_never_tears_an_entity(text, most):
    """However short the room, the escaped text fits and is whole."""
    written = escape(fit(text, most))

    assert len(written) <= max(most, 0)
    assert not re.search(r"&(?!amp;|lt;|gt;)", written)


@given(st.text(alphabet=st.sampled_from("ab<>&@!U|`\n\x1b\u202e\u200b中"), max_size=400), st.integers(1, 100))
def test_a_safe_value_is_one_visible_line(text, most):
    """Hidden signs are written out, backticks cannot close a fence, lines stay one line."""
    written = safe(text, most)

    assert not set(written) & set("<>`\n\x1b\u202e\u200b")
    assert len(written) <= most


def test_hidden_signs_are_written_out():
    """A person sees that there was an escape or a direction mark."""
    assert visible("a\x1b[1mb\u202ec\u200bd\U000e0001") == r"a\x1b[1mb\u202ec\u200bd\U000e0001"


def test_other_scripts_stay_readable():
    """Chinese, accents and emoji are text like any other."""
    assert visible("训练 gelé 🔥") == "训练 gelé 🔥"


@given(
    st.lists(st.sampled_from(["text ", "&amp;", "&lt;", "<@U0ALICE>", "<!date^1^{time}|1>"]), max_size=40),
    st.integers(5, 120),
)
def test_a_cut_message_tears_neither_entity_nor_sign(pieces, most):
    """A long message is cut between signs of Slack's, never inside one."""
    written = cut("".join(pieces), most)

    assert len(written) <= most
    assert written.count("<") == written.count(">")
    assert not re.search(r"&(?!amp;|lt;|gt;)", written)
