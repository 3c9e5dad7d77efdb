"""Two languages: nothing of ours is promised in the other that is not said there, and nothing is lost in between."""

import ast
import re
import string
from pathlib import Path

import pytest

import handlers
from bot.settings import _LANGUAGES, BotSettings
from handlers.messages.chinese import CHINESE
from handlers.messages.languages import LANGUAGES, speak, speaking, spoken, to_the_asker
from handlers.messages.phrase import Moment, say

ROOT = Path(handlers.__file__).parent
NOW = 1_700_000_000.0
OURS = ("handlers", "bot", "diagnosis", "registry")


def sentences():
    """Every text that stands in our code."""
    found = set()
    for path in (path for package in OURS for path in (ROOT.parent / package).rglob("*.py")):
        if path.parent.name == "chinese":
            continue
        found |= {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    return found


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_every_translation_is_of_a_sentence_that_is_said():
    """A catalogue that lags behind is worse than none."""
    assert set(CHINESE) - sentences() == set()


@pytest.mark.parametrize("english", CHINESE, ids=range(len(CHINESE)))
def test_a_translation_tells_the_same(english):
    """The same values, the same code, marks that Slack takes: bold needs a space or a sign on both sides."""
    chinese = CHINESE[english]

    assert places(chinese) == places(english)
    assert sorted(re.findall(r"`[^`]+`", chinese)) == sorted(re.findall(r"`[^`]+`", english))
    assert not re.search(r"[\u4e00-\u9fff]\*[^*]+\*|\*[^*\s]+\*[\u4e00-\u9fff]", chinese)


def test_the_language_is_chosen_for_the_workspace_and_for_an_answer():
    """English where nothing was chosen; a sentence without a translation stays English."""
    assert spoken("nobody has it yet") == "nobody has it yet"
    with speaking("zh"):
        assert say("Open since {since}{span}", since=Moment(NOW), span=" (2 h)").plain.startswith("自 22:13:20 UTC 起")
        assert say("{span}", span="1 h 10 min").plain == "1 小时 10 分钟"
        assert say("not in any catalogue").plain == "not in any catalogue"
    speak("zh")
    try:
        assert spoken("I have it") == "我来处理"
    finally:
        speak("en")
    with pytest.raises(ValueError, match="there are en, zh"):
        speak("xx")


def test_the_settings_know_the_same_languages():
    """A typing error is refused at the start."""
    assert _LANGUAGES == LANGUAGES
    with pytest.raises(ValueError, match="no language of mine"):
        BotSettings(language="fr")


def test_a_person_s_own_language_is_spoken_to_them_alone():
    """What others read keeps the channel's; the one who asked may read another."""
    with speaking("en", "zh"):
        public = spoken("I have it")
        with to_the_asker():
            private = spoken("I have it")

    assert (public, private) == ("I have it", "我来处理")
