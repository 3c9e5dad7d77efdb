"""Median and spread that one outlier cannot move."""

from collections import deque
from collections.abc import Sequence

MAD_TO_SIGMA = 1.4826


def robust(values: Sequence[float] | deque[float]) -> tuple[float, float]:
    """Median, and 1.4826 times the median absolute deviation."""
    ordered = sorted(values)
    median = middle(ordered)
    return median, MAD_TO_SIGMA * middle(sorted([abs(value - median) for value in ordered]))


def middle(ordered: Sequence[float]) -> float:
    """The median of sorted values."""
    count = len(ordered)
    half = count // 2
    return ordered[half] if count % 2 else (ordered[half - 1] + ordered[half]) / 2.0
