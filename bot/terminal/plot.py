"""A curve in letters: dots of two by four to a letter, extremes kept, a cross where a value was not finite."""

import math
from collections.abc import Sequence

from charts.words import say_step, say_value
from diagnosis.series import Series

WIDTH, HEIGHT = 72, 12
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_EMPTY = 0x2800
CROSS = "✕"


def plot(series: Series, width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """Lines of text that show a series; empty when there is nothing finite to show."""
    finite = [place for place, value in enumerate(series.values) if math.isfinite(value)]
    if not finite or width < 4 or height < 2:
        return []
    lows = series.lows if series.is_thinned else series.values
    highs = series.highs if series.is_thinned else series.values
    bounds = [value for place in finite for value in (lows[place], highs[place]) if math.isfinite(value)]
    low, high = min(bounds), max(bounds)
    first, last = series.steps[0], series.steps[-1]
    dots = [[_EMPTY] * width for _ in range(height)]
    crosses: set[int] = set()
    for place, step in enumerate(series.steps):
        column = _place(step, first, last, width * 2)
        if not math.isfinite(series.values[place]):
            crosses.add(column // 2)
            continue
        top, bottom = (_place(bound, high, low, height * 4) for bound in (highs[place], lows[place]))
        for row in range(top, bottom + 1):
            dots[row // 4][column // 2] |= _DOTS[row % 4][column % 2]
    return _framed(dots, crosses, (low, high), (first, last))


def _place(value: float, first: float, last: float, count: int) -> int:
    if last / 2 == first / 2:
        return 0
    # Halves first: the difference of two huge numbers is no number any more.
    share = (value / 2 - first / 2) / (last / 2 - first / 2)
    return min(count - 1, max(0, int(share * (count - 1) + 0.5)))


def _framed(
    dots: Sequence[Sequence[int]], crosses: set[int], values: tuple[float, float], steps: tuple[float, float]
) -> list[str]:
    low, high = values
    labels = [say_value(high), *[""] * (len(dots) - 2), say_value(low)]
    margin = max(map(len, labels))
    lines = [f"{label:>{margin}} ┤{''.join(map(chr, row))}".rstrip() for label, row in zip(labels, dots, strict=True)]
    width = len(dots[0])
    if crosses:
        marks = "".join(CROSS if column in crosses else " " for column in range(width))
        lines.append(f"{'NaN':>{margin}}  {marks}".rstrip())
    left, right = say_step(steps[0]), say_step(steps[1])
    gap = max(1, width - len(left) - len(right))
    lines.append(f"{'':>{margin}}  {left}{' ' * gap}{right}")
    return lines
