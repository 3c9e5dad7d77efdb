"""Words beside marks, where they cover neither each other nor, if it can be helped, the curve."""

from collections.abc import Sequence

import numpy as np

from charts.columns import Floats
from charts.figures.boxes import Box
from charts.figures.canvas import Canvas
from charts.look import Ink

SIZE = 23.0
LINE = 28.0
GAP = 16.0
COST = 3
"""Points of the curve that may be covered rather than taking the next place."""


class Labels:
    """The words already placed in one panel, and the curve they should not cover."""

    def __init__(self, canvas: Canvas, box: Box) -> None:
        self._canvas = canvas
        self._box = box
        self._taken: list[Box] = []
        self._curves: list[tuple[Floats, Floats]] = []

    def avoid_curve(self, x: Floats, y: Floats) -> None:
        """Prefer places without these points."""
        self._curves.append((x, y))

    def avoid(self, box: Box) -> None:
        """Never place a word there."""
        self._taken.append(box)

    def beside(self, x: float, y: float, words: str, ink: Ink, gid: str) -> bool:
        """Words next to a mark; False when there is no room."""
        width = self._canvas.width_of(words, SIZE)
        lifts = (-LINE * 0.35, LINE * 0.75, -LINE * 1.35, LINE * 1.9, -LINE * 2.4, -LINE * 3.5, -LINE * 4.6)
        places = [
            Box(left, y + lift - 6, left + width, y + lift + LINE - 6)
            for lift in lifts
            for left in (x + GAP, x - GAP - width)
        ]
        return self._place(places, words, ink, gid)

    def at_line(self, x: float, words: str, ink: Ink, gid: str, *, is_leftward: bool = False) -> bool:
        """Words beside a vertical line, near its upper end."""
        width = self._canvas.width_of(words, SIZE)
        right, left = x + 8, x - 8 - width
        sides = (left, right) if is_leftward else (right, left)
        places = [
            Box(side, self._box.top - LINE * row - 4, side + width, self._box.top - LINE * (row - 1) - 4)
            for side in sides
            for row in (1, 2, 3, 4)
        ]
        return self._place(places, words, ink, gid)

    def _place(self, places: Sequence[Box], words: str, ink: Ink, gid: str) -> bool:
        """The place that covers least of the curve; of equal ones the earlier."""
        free = [
            (self._covered(place) + COST * order, place) for order, place in enumerate(places) if self._is_free(place)
        ]
        if not free or not words:
            return False
        _, best = min(free, key=lambda choice: choice[0])
        self._taken.append(best)
        canvas = self._canvas
        canvas.area(Box(best.left - 3, best.bottom, best.right + 3, best.top), canvas.palette.paper, 0.72, zorder=4)
        canvas.text(best.left, best.bottom + 7, words, SIZE, ink, gid=gid)
        return True

    def _is_free(self, place: Box) -> bool:
        box = self._box
        inside = (
            place.left >= box.left
            and place.right <= box.right + 20
            and place.bottom >= box.bottom
            and place.top <= box.top + 4
        )
        return inside and not any(place.overlaps(other) for other in self._taken)

    def _covered(self, place: Box) -> int:
        return sum(
            int(np.count_nonzero((x >= place.left) & (x <= place.right) & (y >= place.bottom) & (y <= place.top)))
            for x, y in self._curves
        )
