"""Clean text out of what terminals and loggers write: colours, cursor moves, wild bytes."""

import re

MAX_LINE_BYTES = 64 * 1024
"""What one line may hold; more is cut, visibly."""
CUT = f" … [line cut at {MAX_LINE_BYTES:,} bytes]"
MAX_EVIDENCE = 2000
"""Characters of a line that are kept as evidence."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")

_CONTROLS = {"#015": "\r", "#033": "\x1b", "#011": "\t"}
_WRITTEN_OUT = re.compile(r"#015|#033(?=\[)|#011")


def strip_escapes(text: str) -> str:
    """The text without colours, cursor moves and backspaces."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\b" in text:
        text = text.replace("\b", "")
    return text


def unescape(text: str) -> str:
    """The text with the control characters that rsyslog and CloudWatch write as `#015` and its like."""
    return _WRITTEN_OUT.sub(lambda match: _CONTROLS[match[0]], text)


def kept_places(text: str) -> list[int]:
    """Where the characters that `strip_escapes` leaves stand in the text."""
    kept: list[int] = []
    start = 0
    for escape in _ESCAPES.finditer(text):
        kept += range(start, escape.start())
        start = escape.end()
    kept += range(start, len(text))
    return [place for place in kept if text[place] != "\b"]
