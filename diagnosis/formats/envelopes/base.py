"""What an envelope is: a prefix that a launcher, a logger or a container runtime puts in front of every line."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """One kind of prefix and what it tells.

    The pattern's named groups carry the news: `rank` (global), `local_rank`, `node`, `task` (a launcher's
    number that may be either), `stamp` (time as printed) and `text` (the line inside; without it the line is
    what follows the match).
    """

    name: str
    first: str
    """Characters such a prefix can begin with; `a` stands for any letter, `0` for any digit."""
    pattern: re.Pattern[str]
    every_line: bool = True
    """False when only the first line of a record bears it, as with a logger's head."""
    decode: Callable[[re.Match[str]], tuple[str, bool] | None] | None = None
    """For envelopes that change the text: the text inside, and whether the line goes on in the next envelope."""
    sure: bool = True
    """False when a prefix of this shape is only believed after several lines of it."""


STAMP = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
