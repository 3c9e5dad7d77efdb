"""Lines whose loss may be the mean of an epoch or the estimate of an evaluation: points only where nothing else is.

`Epoch 20 - Average Train Loss: 0.0038` stands below a thousand lines of batches, and nanoGPT's `step 250: train loss
1.54, val loss 1.72` between its iterations: no points of the curve. Other scripts print nothing but such lines. So the
first one is held: a line that tells a loss plainly drops it, a second one in a row says that there is nothing else.
"""

import re

from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Found

_NUMBERS = re.compile(r"[-+\d.,:eE/]*\d[-+\d.,:eE/]*|\s+")
_MOST_KINDS = 16


class Sums:
    """What one source's lines of this kind are."""

    __slots__ = ("_are_points", "_held", "_plain")

    def __init__(self) -> None:
        self._held: tuple[Line, Found] | None = None
        self._plain: set[str] = set()
        """How the lines begin that tell a loss plainly."""
        self._are_points = False

    @property
    def held(self) -> Line | None:
        """The line that waits."""
        return self._held[0] if self._held is not None else None

    def tell_plainly(self, text: str, found: Found) -> None:
        """A line of another kind tells a loss."""
        self._held = None
        if len(self._plain) < _MOST_KINDS:
            self._plain.add(_beginning(text, found))

    def weigh(self, line: Line, found: Found) -> list[tuple[Line, Found]] | None:
        """The lines that are points after all, perhaps none yet; None when this one is surely no point."""
        if self._are_points or (self._plain and _beginning(line.text, found) in self._plain):
            return [(line, found)]
        if self._plain:
            return None
        if self._held is None:
            self._held = (line, found)
            return []
        self._are_points = True
        return [*self.release(), (line, found)]

    def release(self) -> list[tuple[Line, Found]]:
        """Nothing more comes that could drop the line that waits."""
        held, self._held = self._held, None
        return [held] if held is not None else []


def _beginning(text: str, found: Found) -> str:
    """What stands in front of the loss, but for its numbers: the same for all lines of one kind."""
    end = next((token.start for token in found.tokens if token.name == "loss"), len(text))
    return _NUMBERS.sub("0", text[:end])
