"""Next steps as sentences to a person, each said once."""

import re
from collections.abc import Iterable
from typing import Final

MOST_STEPS: Final = 4
"""Nobody reads five at night."""
ALIKE: Final = 0.5
"""Of two steps that share this part of the shorter one's words, the second is no news."""
_WORD = re.compile(r"[\w./-]*\w{3}")
_SMALL: Final = frozenset(
    {
        "and",
        "the",
        "that",
        "this",
        "its",
        "for",
        "with",
        "from",
        "are",
        "was",
        "has",
        "before",
        "where",
        "when",
        "whether",
    }
    | {"look", "read", "check", "find", "out", "run", "take", "who", "what", "which", "one", "other", "more", "node"}
)
"""Words that two steps share without saying the same."""
_PROGRAMS: Final = frozenset({"df", "dmesg", "sacct", "ulimit"})
"""Names at the head of a sentence that keep their small letter."""


def sentence(text: str) -> str:
    """A clause as a sentence: a capital at its head, unless it begins with a program's name, and a stop at its end."""
    stripped = text.strip().rstrip(".")
    first = stripped.partition(" ")[0].rstrip(",:;")
    head = stripped[:1].upper() if first.isalpha() and first not in _PROGRAMS else stripped[:1]
    return f"{head}{stripped[1:]}."


def is_said_by(known: str, step: str) -> bool:
    """Whether two steps say the same in other words; one word in common is none."""
    one, other = _words(known), _words(step)
    return len(one & other) >= max(2.0, ALIKE * min(len(one), len(other)))


def without_repeats(steps: Iterable[str], most: int) -> list[str]:
    """The first steps as sentences, without those that say in other words what one before them says."""
    kept: list[str] = []
    for step in steps:
        if step and len(kept) < most and not any(is_said_by(known, step) for known in kept):
            kept.append(sentence(step))
    return kept


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _SMALL}
