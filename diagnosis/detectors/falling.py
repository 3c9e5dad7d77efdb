"""A loss that falls all through the window: its level is where it is now, its spread is what the fall leaves.

The usual spread of such a window is mostly the fall itself, and even a spike of a hundred times the noise hides
in it. So the window is cut into parts; where each part lies below the one before, points are compared with the
middle of their own part. A loss that does not fall steadily has no such level, and the whole window judges.
"""

import math
from collections.abc import Sequence
from itertools import chain, pairwise

from diagnosis.detectors.robust import MAD_TO_SIGMA, middle

PART = 16
"""Points of a part: enough for a middle that noise moves little, few enough for the fall within to be small."""
LEAST_PARTS = 4
"""Fewer that lie in order are chance."""
SHORT_PART = 8
"""The same while there are few points: the fall of a beginning is steep."""
FEWEST = SHORT_PART * (LEAST_PARTS - 1)
"""With fewer points nothing is said of a fall."""


def falling(course: Sequence[float]) -> tuple[float, float] | None:
    """Middle of the newest part and robust spread around each part's own; None where the parts do not all fall.

    `course` is in the order of time; a loss that may be negative has no level.
    """
    cut = _parts(course, PART, LEAST_PARTS)
    if cut is None:
        return None
    parts, middles = cut
    away = chain.from_iterable(
        [abs(value - level) for value in part] for part, level in zip(parts, middles, strict=True)
    )
    return middles[0], MAD_TO_SIGMA * middle(sorted(away))


def level_of_fall(course: Sequence[float]) -> float | None:
    """Middle of the newest part of a course that is shorter than a window, or None as above."""
    cut = _parts(course, SHORT_PART, LEAST_PARTS - 1)
    return None if cut is None else cut[1][0]


def bend_noise(course: Sequence[float]) -> float:
    """Robust spread of points around the middle of their two neighbours: a steep fall has none."""
    away = sorted(
        abs(point - (one + later) / 2.0) for one, point, later in zip(course, course[1:], course[2:], strict=False)
    )
    return MAD_TO_SIGMA * middle(away) / math.sqrt(1.5)


def highest_leap(course: Sequence[float]) -> float:
    """How far the loss rose at most from one point to the next: its noise, for the fall itself never rises."""
    return max(later - one for one, later in pairwise(course))


def _parts(course: Sequence[float], points: int, fewest: int) -> tuple[list[Sequence[float]], list[float]] | None:
    """The course in parts and their middles, the newest first; None where they do not lie in order."""
    parts: list[Sequence[float]] = []
    middles: list[float] = []
    for stop in range(len(course), points - 1, -points):
        part = course[stop - points : stop]
        level = middle(sorted(part))
        if middles and level <= middles[-1]:
            return None
        parts.append(part)
        middles.append(level)
    return None if len(middles) < fewest or min(course) < 0.0 else (parts, middles)
