"""Lines that say an optimizer step was skipped.

One skipped step may be told by several lines: fp16 optimizers of DeepSpeed print `Grad overflow on iteration N`
on every rank, and then the engine says it once. Only the lines that stand for one step are read here.
"""

import re

from diagnosis.formats.numbers import parse_number
from diagnosis.formats.rules import SkipRule

RULES = (
    SkipRule(("OVERFLOW!",), re.compile(r"OVERFLOW!(?: Rank \d+)? Skipping step")),
    SkipRule(("Overflow detected.",), re.compile(r"Overflow detected\. Skipping step")),
    SkipRule(("Gradient overflow.",), re.compile(r"Gradient overflow\.\s+Skipping step")),
    SkipRule(("overflow detected,",), re.compile(r"gradient overflow detected, (?:ignoring|skipping) gradient")),
    SkipRule(("Skipping updating",), re.compile(r"The grad norm is (?:nan|inf|-inf)\. Skipping updating the model")),
    SkipRule(("overflow, still",), re.compile(r"overflow, still update, loss scale adjust")),
    SkipRule(("is_skip: [",), re.compile(r"is_skip: \[ ?True")),
)

_SCALES = (
    re.compile(r"(?:reducing (?:loss scale )?to|setting loss scale to:?|loss scale adjust to) ?([\d.eE+]+)"),
    re.compile(r"Attempted loss scale: ([\d.eE+]+)"),
)


def scale_after(text: str) -> float | None:
    """The loss scale after the skip, where the line tells it."""
    for pattern in _SCALES:
        match = pattern.search(text)
        if match is not None:
            return parse_number(match[1].rstrip("."))
    return None
