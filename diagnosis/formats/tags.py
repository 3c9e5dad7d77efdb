"""A rank that a line names in its own head: `INFO [rank3] step 5`, `[Rank 0] step=10`, `rank: 3, epoch: 0`.

icefall writes rank and world size behind the place in the code: `[train.py:900] (3/8) Epoch 1`, Composer rank,
pid and thread in front: `rank3[4711][MainThread]: INFO`.
"""

import re

from diagnosis.formats.line_format import Token

_HEAD = 160
_RANK = re.compile(
    r"\[[Rr][Aa][Nn][Kk][ :_=-]?(\d{1,6})(?:/\d+)?\]|(?<![\w-])[Rr]ank[:=] ?(\d{1,6})(?![\w.])"
    r"|\.py:\d+\] \((\d{1,6})/\d{1,6}\) |(?<![\w-])rank(\d{1,6})\[\d{1,10}\]\["
)
_ADAPTER = re.compile(r"(?i)lora|\balpha\b")
"""A line about an adapter: the rank in it is that of a matrix."""


def rank_in(text: str) -> Token | None:
    """Where the head of a line names its global rank, or None."""
    if "ank" not in text and "ANK" not in text and ".py:" not in text:
        return None
    match = _RANK.search(text, 0, _HEAD)
    if match is None or (match.lastindex == 2 and _ADAPTER.search(text, 0, _HEAD) is not None):
        return None
    return Token("rank", *match.span(match.lastindex or 0))
