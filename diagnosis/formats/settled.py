"""Whether a line that was just read would tell the same, and change nothing, if it were read again."""
# ruff: noqa: SLF001 - looks at what the reader remembers

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnosis.formats import notices
from diagnosis.formats.bars import is_bar, opens_epoch
from diagnosis.formats.metric_words import has_metric_word
from diagnosis.formats.unwrapping import Unwrapper
from diagnosis.log_facts import LINES_IN_ORDER
from diagnosis.observations import Symptom

if TYPE_CHECKING:
    from diagnosis.formats.reader import LogReader

TOLD_SINGLY = 8
"""A line that stands there so often in a row has said all it can say: more of it are only counted."""
OPENERS = frozenset("{-+=")
"""Last characters of lines that open a record without any metric word: a brace, the edge of a box."""


def tells_the_same_again(reader: "LogReader", told: Sequence[object]) -> bool:
    """Only for a line that may be a step for nobody, and that no rule with a memory takes.

    `told` is what the newest line told. True for what the tables of telling lines know, and for what tells nothing.
    """
    line, memory = reader._line, reader._memory
    if line is None or memory.settings.pattern is not None or memory.is_full:
        return False
    if not all(isinstance(one, Symptom) and one.signature not in LINES_IN_ORDER for one in told):
        return False
    text = line.text
    if not text or "\r" in text or is_bar(text) or opens_epoch(text) or has_metric_word(text):
        return False
    if text[-1] in OPENERS or text[:2] == "{'" or memory.stream_of(line.stream).open:
        return False
    if reader._finder.held is not None or not _is_settled(reader._unwrapper, line.printed):
        return False
    if "Traceback (most recent call last)" in text or any(True for _ in notices.told_by(text)):
        return False
    return all(shape.read(text) is None for shape in reader._shapes.known)


def _is_settled(unwrapper: Unwrapper, printed: str) -> bool:
    """No part of a line waits, and its envelopes are taken off without learning anything."""
    return not unwrapper._parts and unwrapper.knows(printed)
