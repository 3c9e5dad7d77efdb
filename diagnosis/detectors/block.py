"""Five finite points of one series in a row, for detectors that judge levels and not single points.

Making a block once, and asking only then, is what keeps all detectors together at a few microseconds a point.
"""

from collections.abc import Sequence
from typing import NamedTuple

from diagnosis.formats.stretch import Point, Stretch
from diagnosis.observations import StepSample

POINTS = 5


class Block(NamedTuple):
    """What levels are made of."""

    first: StepSample
    last: StepSample | Point
    total: float
    squares: float
    lowest: float
    middle: float
    middle_step: int | None
    noise: float
    """How far a point stands from the middle of its neighbours at most: a trend has none."""
    stretch: Stretch | None = None
    """Where its points are from, unless they came one by one."""
    place: int = 0

    @property
    def last_line(self) -> StepSample:
        """The last point as it was printed; to be asked only when it is shown."""
        if self.stretch is not None:
            return self.stretch.sample(self.place + POINTS - 1)
        assert isinstance(self.last, StepSample)
        return self.last


def block_of(points: Sequence[StepSample]) -> Block:
    """The block of five points whose losses are finite."""
    return _block(points[0], points[4], [point.loss or 0.0 for point in points], points[2].step)


def block_at(stretch: Stretch, place: int) -> Block:
    """The block of five finite points of a stretch."""
    stop = place + POINTS
    (last,) = stretch.points(1, place, stop)
    return _block(
        stretch.sample(place), last, (stretch.losses or [])[place:stop], stretch.steps[place + 2], stretch, place
    )


def _block(  # noqa: PLR0917
    first: StepSample,
    last: StepSample | Point,
    losses: list[float],
    middle_step: int | None,
    stretch: Stretch | None = None,
    place: int = 0,
) -> Block:
    ordered = sorted(losses)
    a, b, c, d, e = losses
    return Block(
        first,
        last,
        a + b + c + d + e,
        a * a + b * b + c * c + d * d + e * e,
        ordered[0],
        ordered[2],
        middle_step,
        max(abs(a - b - b + c), abs(b - c - c + d), abs(c - d - d + e)) / 2.0,
        stretch,
        place,
    )
