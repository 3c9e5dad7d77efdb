"""A28 in small: whatever strangers write, no message calls anybody, links anywhere, or is refused for its size."""

from handlers.messages.blocks import Message, message, section
from handlers.messages.phrase import say
from tests.handlers.messages.hostile import attack, builders, wrong_in
from tests.handlers.messages.made_up import ATTACKS

STRINGS = 8_000
"""`python -m tests.handlers.messages.hostile` tries a million (docs/performance.md has its figure)."""


def test_no_builder_does_what_a_stranger_wants():
    """Every builder there is, in both languages, with attacks in every text of every argument."""
    maker, tried, wrong = attack(STRINGS, seed=7)

    assert wrong == {}
    assert maker.strings >= STRINGS
    assert set(tried) == {name for name, _ in builders()}


def test_the_check_sees_what_it_is_for():
    """Unescaped, each of these would call somebody, link somewhere or be refused: a check that finds nothing proves nothing."""
    bare = {"type": "section", "text": {"type": "mrkdwn", "text": "<!here>"}}

    assert any("calls" in one for one in wrong_in(Message("x <@U0ALICE>", [section(say("x"))])))
    assert any("links" in one for one in wrong_in(Message("<http://evil.example|x>", [section(say("x"))])))
    assert {"mrkdwn that is not verbatim", "calls !here"} <= set(wrong_in(Message("x", [bare])))
    assert wrong_in(Message("x" * 5000, [section(say("x"))])) == ["5000 letters of text"]
    assert wrong_in(Message("x", [section(say("x"))] * 60)) != []
    assert wrong_in(message(say("{all}", all=" ".join(ATTACKS)), None)) == []


def test_the_builders_are_those_of_every_file_of_messages():
    """The root, a reply, the answers, the forms and Home are among them."""
    found = {name for name, _ in builders()}

    assert {"incident.root", "replies.reply", "loss.loss_answer", "home.home_view", "modals.mute_form"} <= found
    assert len(found) > 80
