"""How a test sees English in a Chinese answer: names, numbers, log lines, code and commands may stay."""

import re

_NOT_OURS = re.compile(
    r"[\w.]*Error: .*|`[^`]*`|“[^”]*”|<[^>]*>|https?://\S+|[\w./-]*[/._=:@-][\w./:=@-]*|\{[^}]*\}|Runwatch: diagnose"
)
_SENTENCE = re.compile(r"\b[A-Za-z][a-z']+(?: [a-z']+){2,}")
_TERMS = re.compile(r"\b(?:rank|local|loss|token|label|position id|checkpoint|micro batch|world size|step)\b")


def english_in(text):
    """Three English words in a row that are nobody's name and no code; None: there are none."""
    found = _SENTENCE.search(_TERMS.sub("…", _NOT_OURS.sub("…", text)))
    return found and found[0]


def told_in(message):
    """Everything a message or view says, but for what is shown letter for letter."""
    yield from _texts(message if isinstance(message, (dict, list)) else message.blocks)


def _texts(value):
    if isinstance(value, dict):
        if value.get("type") == "rich_text":
            return
        if isinstance(value.get("text"), str):
            yield value["text"]
        for name, inner in value.items():
            if name != "text" or not isinstance(inner, str):
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
