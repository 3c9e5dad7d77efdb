"""Lines that say what the lines below them are about: `Validation`, `Test Error:`, `----- train -----`, `Epoch 3`.

A loss without any counter may be the training's or an evaluation's; then only the heading above it tells.
"""

import re

from diagnosis.formats import tongues

LONGEST = 48
"""Characters of a line that may be a heading."""
MOST_LOSSES = 500
"""An evaluation that tells more of them without a heading behind it is none: the training went on unnamed."""
_HEADING = re.compile(
    r"(?i)\W*(?:(?P<once>running|starting|start|begin|now|on) )?"
    r"(?:(?P<evaluates>val(?:id(?:ation|ating|ate)?)?|test(?:ing)?|eval(?:uat\w+)?|dev)\b(?:\W+(?:the|model|set|errors?|"
    r"results?|metrics?|scores?|performance|phase|stage|loop|epoch|steps?|run|begins?|start(?:s|ed|ing)?|now|"
    r"on (?:the )?\w{1,20}(?: \w{0,4}set| data)?))*\W*$"
    r"|(?:train(?:ing)?|epoch\W{0,4}\d.*)\b(?P<more>[^\d=]{0,24})=*\s*$)"
)
"""`Test dataset loaded` and `Evaluation: off` are told once, before the training: whoever evaluates says no more."""
_WORD = re.compile(r"[^\W_]")
_EPOCH = re.compile(
    r"(?i)(?:[\W\d_]|info|train(?:ing|er)?|start(?:ing|ed)?|begin(?:ning)?|of)*epoch\W{0,4}(\d{1,6})(?!\d)"
)


class Headings:
    """The headings of one source: whether the newest one is an evaluation's, and whether any was.

    An evaluation ends where the training's heading comes again, so one counts only where that was heard before.
    """

    __slots__ = ("_evaluates", "_has_trained", "_losses", "epoch", "has_evaluated")

    def __init__(self) -> None:
        self.epoch: int | None = None
        """The newest that a heading told by its number."""
        self._evaluates = self._has_trained = False
        self.has_evaluated = False
        self._losses = 0

    def hear(self, text: str) -> bool:
        """Take the line if it is a heading; True for the first one of an evaluation."""
        heading = _HEADING.match(tongues.in_english(text))
        if heading is not None and heading["evaluates"] is None:
            self._evaluates = False
            # `Starting training` and `Train set loaded` are told once.
            self._has_trained = self._has_trained or not (heading["once"] or _WORD.search(heading["more"]))
        elif self._has_trained and (heading is not None or tongues.is_evaluation_heading(text)):
            self._evaluates, self._losses = True, 0
        is_first = self._evaluates and not self.has_evaluated
        self.has_evaluated = self.has_evaluated or self._evaluates
        return is_first

    def tells_epoch(self, text: str) -> bool:
        """True for a heading that tells one by its number."""
        heading = _EPOCH.match(text)
        told = int(heading[1]) if heading is not None else tongues.epoch_in(text)
        self.epoch = self.epoch if told is None else told
        return told is not None

    def claims_loss(self) -> bool:
        """Whether a loss without a counter that stands here is an evaluation's."""
        self._losses += self._evaluates
        if self._losses > MOST_LOSSES:
            self._evaluates = self._has_trained = False
        return self._evaluates
