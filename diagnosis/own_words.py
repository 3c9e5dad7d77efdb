"""A log whose words nobody else uses: which line of it shows that, and how a person names the numbers in it."""

import re
from collections.abc import Iterable

ENOUGH_LINES = 50
"""A log this long that told no step may be one of own words; a shorter one may still be starting."""
_CLOCK = re.compile(r"\d+(?:[-/:.]\d+){2,}(?:[.,]\d+)?")
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*[A-Za-z])|(?<=[#~=:|])[+-]?\d+(?:\.\d+)?")
PATTERN = r"it#(?P<step>\d+) crit~(?P<loss>\S+)"
"""As an example; a test reads a line with it."""
NAME_THEM = (
    "Lines that tell step and loss in words of their own are read with a pattern that names them, such as "
    f"`--pattern '{PATTERN}'` (docs/formats.md, your own pattern)."
)

OR_NAME_THEM = "lines that tell them in words of their own are read with `--pattern`, see `docs/formats.md`"
"""The same where a regular expression would be too much."""


def sample_of(lines: Iterable[str]) -> str | None:
    """The newest line with two numbers or more beside its time, newest line last; None: no line may tell a loss."""
    for line in reversed(list(lines)):
        if len(_NUMBER.findall(_CLOCK.sub(" ", line))) >= 2:
            return line.strip()
    return None
