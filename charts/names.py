"""Names people and logs give, made safe to draw: one line, no tricks, never longer than its place."""

import unicodedata

ELLIPSIS = "…"
MOST_MARKS = 2
"""How many combining marks may sit on one letter: real scripts need two, towers of them hide the chart."""
LONGEST = 400
"""Nothing beyond it can be seen, and measuring it costs time."""


def one_line(text: str) -> str:
    """The same words on one line: no control, direction or private characters, no towers of marks."""
    kept: list[str] = []
    marks = 0
    for letter in unicodedata.normalize("NFC", text[:LONGEST]):
        category = unicodedata.category(letter)
        if category in {"Cc", "Zl", "Zp", "Zs"}:
            letter = " "  # noqa: PLW2901 - a newline or tab becomes the space it stands for
        elif category in {"Cf", "Cs", "Co", "Cn"}:
            continue
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= MOST_MARKS:
            kept.append(letter)
    return " ".join("".join(kept).split())


def shortened(text: str, most: int) -> str:
    """The text in at most so many letters; the middle goes first, because names differ at their ends."""
    if len(text) <= most:
        return text
    if most <= len(ELLIPSIS):
        return ELLIPSIS
    room = most - len(ELLIPSIS)
    tail = room // 3
    return text[: room - tail].rstrip() + ELLIPSIS + text[len(text) - tail :].lstrip()
