"""Help is short first, whole on one more word, and made from what there is."""

from types import SimpleNamespace

import pytest

from handlers import COMMANDS
from handlers.arguments import WrongWords
from handlers.command import Say
from handlers.messages.help import IN_AN_INCIDENT
from handlers.runwatch import SUBJECTS, _help

DESK = SimpleNamespace(prefix="rw-")
MOST_LINES = 12


def told(words):
    said = _help(DESK, COMMANDS, words)
    assert isinstance(said, Say)
    assert said.is_private
    texts = [
        part["text"]
        for block in said.message.blocks
        for part in (block.get("elements") or [block.get("text")])
        if part and "text" in part
    ]
    return "\n".join(texts)


def test_the_first_screen_is_short_and_names_what_is_needed_at_night():
    """Every command, the words for an incident, and how to see the rest."""
    said = told("")

    assert len(said.splitlines()) <= MOST_LINES
    for command in COMMANDS:
        assert f"/rw-{command.name}" in said
    for word in IN_AN_INCIDENT:
        assert f"`/rw-runwatch {word} " in said
    for word in ("checklist", "report"):
        assert f"`/rw-runwatch {word} RUN`" in said
    assert "--sort" not in said
    assert "/rw-runwatch help all" in said


@pytest.mark.parametrize("word", ["all", "more", "ALL"])
def test_one_more_word_shows_everything(word):
    """With every option."""
    said = told(word)

    assert all(f"/rw-runwatch {subject.name}" in said for subject in SUBJECTS)
    assert "--sort" in said


@pytest.mark.parametrize("about", [*SUBJECTS, *(one for one in COMMANDS if one.name != "runwatch")])
def test_one_word_is_explained_by_itself(about):
    """Its own usage, and nothing of the others."""
    said = told(f"/rw-{about.name}" if about in COMMANDS else about.name)

    assert about.summary in said
    assert sum(f"`/rw-runwatch {one.name} " in said for one in SUBJECTS) <= 1


def test_a_mistyped_word_is_answered_with_the_near_one():
    """As everywhere."""
    with pytest.raises(WrongWords, match="Did you mean `mute`"):
        told("mutee")
