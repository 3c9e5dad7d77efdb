"""Five finite points in a row, as detectors of levels look at them: many such blocks at once."""

from dataclasses import dataclass

import numpy as np

from diagnosis.detectors.block import POINTS, Block
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.run import Glance, Run
from diagnosis.observations import StepSample


@dataclass(slots=True)
class Fives:
    """The blocks of five finite points that a run completes."""

    run: Run
    waiting: list[StepSample]
    """Points before the run that belong to the first block."""
    totals: Floats
    squares: Floats
    lowest: Floats
    middle: Floats
    noise: Floats

    def __len__(self) -> int:
        return len(self.totals)

    def point(self, place: int) -> StepSample:
        """A point, counted from the first of the first block."""
        held = len(self.waiting)
        return self.waiting[place] if place < held else Glance(self.run, place - held)

    def block(self, number: int) -> Block:
        """One block as a detector gets it, its points seen at a glance."""
        first, last, third = (self.point(POINTS * number + place) for place in (0, POINTS - 1, 2))
        return Block(
            first,
            last,
            float(self.totals[number]),
            float(self.squares[number]),
            float(self.lowest[number]),
            float(self.middle[number]),
            third.step,
            float(self.noise[number]),
        )

    def points_before(self, number: int) -> int:
        """How many points of the run come before the one that completes a block."""
        return POINTS * (number + 1) - 1 - len(self.waiting)


def fives_of(run: Run, waiting: list[StepSample]) -> Fives:
    """What `block_of` would make of each five points, with the same rounding."""
    loss = run.loss if run.loss is not None and run.is_finite else np.empty(0)
    losses = np.concatenate((np.array([seen.loss for seen in waiting], np.float64), loss))
    table = losses[: len(losses) // POINTS * POINTS].reshape(-1, POINTS)
    a, b, c, d, e = table.T
    ordered = np.sort(table, axis=1)
    noise = np.maximum(np.maximum(np.abs(a - b - b + c), np.abs(b - c - c + d)), np.abs(c - d - d + e)) / 2.0
    totals, squares = a + b + c + d + e, a * a + b * b + c * c + d * d + e * e
    return Fives(run, waiting, totals, squares, ordered[:, 0], ordered[:, 2], noise)
