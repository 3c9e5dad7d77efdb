"""What strangers write, made harmless once, at the edge.

Slack reads `&`, `<` and `>` as its own signs, also inside a code fence: unescaped, a log line with `<!channel>`
calls everybody. Signs nobody sees (control, direction, zero-width) are shown as what they are.
"""

import re
import unicodedata

ELLIPSIS = "…"
_SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MOST_MARKS = 2
"""Combining marks on one letter: real scripts need two, towers of them hide the lines around."""
_MARKS = {ord("*"): "∗", ord("~"): "∼"}
"""Look alike and mean nothing to Slack."""
_LONE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
BACKTICK = "ˋ"
"""Stands for a backtick of the text, which would close our fence."""


def visible(text: str, *, keeps_lines: bool = False) -> str:
    r"""The same text with everything hidden written out: an escape is `\x1b`, a direction mark `\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for letter in text:
        category = unicodedata.category(letter)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if letter == "\n" and keeps_lines:
            shown.append(letter)
        elif letter in "\n\t\r":
            shown.append(" ")
        elif category in _HIDDEN:
            shown.append(_written_out(letter))
        elif marks <= _MOST_MARKS:
            shown.append(letter)
    return "".join(shown)


def escape(text: str) -> str:
    """Text that Slack shows letter for letter."""
    return "".join(_SIGNS.get(letter, letter) for letter in text)


def fit(text: str, most: int) -> str:
    """The longest beginning that is at most so long after escaping; cut before escaping, so no entity is torn."""
    if most <= 0:
        return ""
    if len(text) * 5 <= most:
        return text
    used = 0
    for place, letter in enumerate(text):
        used += len(_SIGNS.get(letter, letter))
        if used > most:
            return _cut(text[:place], most)
    return text


def safe(text: str, most: int) -> str:
    """A value for mrkdwn: one line, visible, cut, escaped, without backticks of its own."""
    return escape(fit(visible(text), most)).replace("`", BACKTICK)


def unmarked(text: str) -> str:
    """Written-out text in which no star, tilde or lone underscore begins or ends a mark, so that a title stays bold."""
    return _LONE_UNDERSCORE.sub("ˍ", text.translate(_MARKS))


def _cut(beginning: str, most: int) -> str:
    used = sum(len(_SIGNS.get(letter, letter)) for letter in beginning)
    while beginning and used + len(ELLIPSIS) > most:
        used -= len(_SIGNS.get(beginning[-1], beginning[-1]))
        beginning = beginning[:-1]
    return beginning + ELLIPSIS


def _written_out(letter: str) -> str:
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
