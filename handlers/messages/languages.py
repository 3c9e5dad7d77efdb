"""In which language we speak: the workspace's, a channel's, or that of the person who asks.

The English sentence is its own key: a catalogue holds its translation, and what has none stays English. What others
read is said in the language of their channel, what one person alone reads in theirs.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from handlers.messages.chinese import CHINESE, CLAUSES, SPANS
from handlers.messages.clauses import Clauses

ENGLISH = "en"
CATALOGUES: Mapping[str, Mapping[str, str]] = MappingProxyType({"zh": CHINESE})
"""Language → English sentence → its translation."""
LANGUAGES = (ENGLISH, *CATALOGUES)
NAMES: Mapping[str, str] = MappingProxyType({"en": "English", "zh": "中文"})
"""What each language calls itself."""

_CLAUSES: Mapping[str, Clauses] = MappingProxyType({"zh": Clauses(CHINESE, CLAUSES, SPANS)})
_NEEDLESS = re.compile(r"(?<=[。；，：？！）”]) (?=[\u4e00-\u9fff（“])")
_of_the_workspace = ENGLISH
_of_this_answer: ContextVar[str] = ContextVar("language", default="")
_of_the_asker: ContextVar[str] = ContextVar("asker", default="")


def speak(language: str) -> None:
    """Say from now on, in this process, which language the workspace speaks."""
    global _of_the_workspace  # noqa: PLW0603 - one process serves one workspace
    _of_the_workspace = known(language)


def known(language: str) -> str:
    """The language itself.

    Raises:
        ValueError: It is none of ours.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no language {language!r}; there are {', '.join(LANGUAGES)}")
    return language


@contextmanager
def speaking(language: str, asker: str | None = None) -> Iterator[None]:
    """Speak another language until the block ends, to whoever asks perhaps another one; empty: the workspace's."""
    of_all, of_one = _of_this_answer.set(language), _of_the_asker.set(language if asker is None else asker)
    try:
        yield
    finally:
        _of_this_answer.reset(of_all)
        _of_the_asker.reset(of_one)


@contextmanager
def to_the_asker() -> Iterator[None]:
    """Speak the language of the one person who asked until the block ends."""
    token = _of_this_answer.set(_of_the_asker.get())
    try:
        yield
    finally:
        _of_this_answer.reset(token)


def now_spoken() -> str:
    """The language that is spoken."""
    return _of_this_answer.get() or _of_the_workspace


def spoken(sentence: str) -> str:
    """The sentence (or label) in the language that is spoken."""
    catalogue = CATALOGUES.get(now_spoken())
    return sentence if catalogue is None else catalogue.get(sentence, sentence)


def clause_spoken(text: str) -> str:
    """A clause of the diagnosis in the language that is spoken; what is none stays."""
    clauses = _CLAUSES.get(now_spoken())
    return text if clauses is None else clauses.translate(text)


def tidy(text: str) -> str:
    """Chinese has no space behind its signs; Slack's marks keep theirs."""
    return text if now_spoken() == ENGLISH else _NEEDLESS.sub("", text)


def span_spoken(text: str) -> str:
    """A span of time such as `1 h 10 min` in the language that is spoken; any other text as it is."""
    clauses = _CLAUSES.get(now_spoken())
    return text if clauses is None else clauses.span(text) or text
