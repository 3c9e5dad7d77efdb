"""The part of a long log line that tells: its beginning, then what stands around the telling words."""

import re
from collections.abc import Callable

from diagnosis.findings import Finding
from diagnosis.signatures import ROWS

LONGEST = 240
BEGINNING = 56
"""So much of the line's beginning is kept: the rank, the time, the step."""
LEAD = 40
"""So much before the telling words."""

Telling = Callable[[str], int | None]
"""Where in a line the telling words begin; None: it has none."""

_NUMBERS = (
    re.compile(r"(?i)\b(?:lm )?[\w/-]{0,20}loss['\"]?\W{1,4}-?(?:nan|inf)"),
    re.compile(r"(?i)(?<=[:=])\s{0,4}['\"]?-?(?:nan|inf(?:inity)?)\b"),
    re.compile(r"(?i)\b(?:lm )?[\w/-]{0,20}loss\b"),
    re.compile(r"(?i)\bgrad[_ ]?norm\b"),
)
_WORDS = re.compile(
    r"(?i)\b(?:out of memory|\w{0,60}error|\w{0,60}exception|fatal|fail(?:ed|ure)|killed|timed? ?out|signal|abort)"
)


def telling(finding: Finding) -> Telling:
    """How the telling words of a finding's lines are found: by the row that knew the line, else by common words."""
    row = ROWS.get(finding.details.get("signature", ""))

    def find(text: str) -> int | None:
        for pattern in (row.pattern,) if row is not None else _NUMBERS:
            if (found := pattern.search(text)) is not None:
                return found.start()
        found = _WORDS.search(text)
        return None if found is None else found.start()

    return find


def excerpt(text: str, find: Telling | None = None, most: int = LONGEST) -> str:
    """At most so many characters of a line, with its telling words among them."""
    if len(text) <= most:
        return text
    start = find(text) if find is not None else None
    if start is None or start < most // 2:
        return f"{text[: most - 2].rstrip()} …"
    beginning = _up_to_a_word(text[:BEGINNING])
    room = most - len(beginning) - 6
    end = min(len(text), max(start - LEAD, len(beginning)) + room)
    begin = max(len(beginning), end - room)
    if begin < start and " " in text[begin:start]:
        begin = text.index(" ", begin) + 1
    return f"{beginning} … {text[begin:end].strip()}" + (" …" if end < len(text) else "")


def _up_to_a_word(text: str) -> str:
    return text.rpartition(" ")[0].rstrip() or text
