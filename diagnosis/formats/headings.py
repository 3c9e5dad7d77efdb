"""Lines that say what the lines below them are about: `Validation`, `Test Error:`, `----- train -----`, `Epoch 3`.

A loss without any counter may be the training's or an evaluation's; then only the heading above it tells.
"""

import re

from diagnosis.formats import tongues

LONGEST = 48
"""Characters of a line that may be a heading."""
_HEADING = re.compile(
    r"(?i)\W*(?:(?:running|starting|start|begin|now|on) )?"
    r"(?:(?P<evaluates>val(?:id(?:ation|ating|ate)?)?|test(?:ing)?|eval(?:uat\w+)?|dev)|train(?:ing)?|epoch\W{0,4}\d.*)\b"
    r"[^\d=]{0,24}=*\s*$"
)


class Headings:
    """The headings of one source: whether the newest one is an evaluation's, and whether any was."""

    __slots__ = ("evaluates", "has_evaluated")

    def __init__(self) -> None:
        self.evaluates = False
        self.has_evaluated = False

    def hear(self, text: str) -> bool:
        """Take the line if it is a heading; True for the first one of an evaluation."""
        heading = _HEADING.match(tongues.in_english(text))
        if heading is not None:
            self.evaluates = heading["evaluates"] is not None
        elif tongues.evaluates(text, 0, len(text)) and not any(map(str.isdigit, text)):
            self.evaluates = True
        else:
            return False
        is_first = self.evaluates and not self.has_evaluated
        self.has_evaluated = self.has_evaluated or self.evaluates
        return is_first
