"""A loss that falls all through the window: its level is where it is now, its spread is what the fall leaves.

The usual spread of such a window is mostly the fall itself, and even a spike of a hundred times the noise hides
in it. So the window is cut into parts; where each part lies below the one before, points are compared with the
middle of their own part. A loss that does not fall steadily has no such level, and the whole window judges.
"""

from collections.abc import Sequence
from itertools import chain

from diagnosis.detectors.robust import MAD_TO_SIGMA, middle

PART = 16
"""Points of a part: enough for a middle that noise moves little, few enough for the fall within to be small."""
LEAST_PARTS = 4
"""Fewer that lie in order are chance."""


def falling(course: Sequence[float]) -> tuple[float, float] | None:
    """Middle of the newest part and robust spread around each part's own; None where the parts do not all fall.

    `course` is in the order of time; a loss that may be negative has no level.
    """
    parts: list[Sequence[float]] = []
    middles: list[float] = []
    for stop in range(len(course), PART - 1, -PART):
        part = course[stop - PART : stop]
        level = middle(sorted(part))
        if middles and level <= middles[-1]:
            return None
        parts.append(part)
        middles.append(level)
    if len(middles) < LEAST_PARTS or min(course) < 0.0:
        return None
    away = chain.from_iterable(
        [abs(value - level) for value in part] for part, level in zip(parts, middles, strict=True)
    )
    return middles[0], MAD_TO_SIGMA * middle(sorted(away))
