"""The levels that earlier attempts of a run reached, by step: what a resumed one is compared with. Bounded.

They are taken from what the detectors of an attempt remember anyway when the next one begins.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from diagnosis.detectors import Detector
from diagnosis.detectors.plateau import Plateau
from diagnosis.detectors.robust import middle, robust
from diagnosis.detectors.sustained import Sustained
from diagnosis.observations import Evidence

MOST = 1024
FEWEST = 8
"""With fewer levels nobody knows how much they vary."""
PIECES = 64
"""Pieces of the newest past that tell how much a level varies; the far past was another regime."""
LEAST_PIECES = 8


class Level(NamedTuple):
    """The mean loss of some points around a step."""

    step: float
    loss: float
    points: int


class Past:
    """What earlier attempts reached."""

    def __init__(
        self, levels: Sequence[Level] = (), spread: float = 0.0, last_step: int = 0, line: Evidence | None = None
    ) -> None:
        self.levels = tuple(levels)
        self.line = line
        """One of the newest lines."""
        self.spread = spread
        """Standard deviation of a single point around its neighbours."""
        self.last_step = last_step
        self._steps = [level.step for level in self.levels]
        # One outlier in a level is no level.
        losses = [level.loss for level in self.levels]
        self._smooth = [middle(sorted(losses[max(0, place - 1) : place + 2])) for place in range(len(losses))]

    @property
    def is_known(self) -> bool:
        """Whether there is enough of it to compare with."""
        return len(self.levels) >= FEWEST

    @property
    def stride(self) -> float:
        """Steps between two points."""
        points = sum(level.points for level in self.levels)
        return (self.last_step - self.first_step) / max(1, points)

    @property
    def first_step(self) -> float:
        """Where the levels begin."""
        return self._steps[0]

    def at(self, step: float, points: int) -> float:
        """The loss at a step, or beyond the end the newest one, over at least so many points."""
        place = bisect_left(self._steps, step)
        if place >= len(self.levels):
            return self._newest(points)
        if not place:
            return self._smooth[0]
        before, after = self._steps[place - 1], self._steps[place]
        share = (step - before) / (after - before) if after > before else 0.0
        return self._smooth[place - 1] + share * (self._smooth[place] - self._smooth[place - 1])

    def _newest(self, points: int) -> float:
        taken: list[float] = []
        seen = 0
        for level in reversed(self.levels):
            taken.append(level.loss)
            seen += level.points
            if seen >= points and len(taken) >= 3:
                break
        return middle(sorted(taken))

    def varies(self, points: int, lag: int) -> float:
        """By how much two means over so many points, so many such pieces apart, usually differ: one sigma."""
        pieces = self._pieces(points)
        if len(pieces) < LEAST_PIECES:
            pieces = list(self.levels[-PIECES:])
        apart = range(1, max(2, min(lag, len(pieces) // 4) + 1))
        return max(self.spread * math.sqrt(2.0 / points), *(_bend(pieces, by) for by in apart))

    def _pieces(self, points: int) -> list[Level]:
        """The newest levels joined to pieces of at least so many points, in order."""
        pieces: list[Level] = []
        piece: Level | None = None
        for level in reversed(self.levels):
            piece = level if piece is None else _join(level, piece)
            if piece.points >= points:
                pieces.append(piece)
                piece = None
                if len(pieces) >= PIECES:
                    break
        return pieces[::-1]

    def followed_by(self, detectors: Iterable[Detector], last_step: int) -> "Past":
        """This past with what one more attempt reached; where both know a step, the later one counts."""
        levels, spread, line = _reached(detectors)
        if not levels:
            return self
        first, last = levels[0].step, levels[-1].step
        joined = [level for level in self.levels if level.step < first]
        joined += [*levels, *(level for level in self.levels if level.step > last)]
        while len(joined) > MOST:
            half = len(joined) // 4 * 2
            pairs = zip(joined[:half:2], joined[1:half:2], strict=True)
            joined = [*(_join(one, later) for one, later in pairs), *joined[half:]]
        return Past(joined, spread or self.spread, max(last_step, self.last_step), line or self.line)


def _bend(pieces: Sequence[Level], by: int) -> float:
    """How far a piece stands from between its neighbours so many pieces away: one sigma of what is no steady fall.

    A loss falls steadily over the logarithm of the steps. Scaled to the difference of two pieces.
    """
    bends: list[float] = []
    for before, piece, after in zip(pieces, pieces[by:], pieces[2 * by :], strict=False):
        begin, end = _log(before.step), _log(after.step)
        share = (_log(piece.step) - begin) / (end - begin) if end > begin else 0.5
        bends.append(before.loss + share * (after.loss - before.loss) - piece.loss)
    return 2.0 / math.sqrt(3.0) * robust(bends)[1]


def _log(step: float) -> float:
    return math.log(max(step, 1.0))


def _join(one: Level, later: Level) -> Level:
    points = one.points + later.points
    share = later.points / points
    return Level(one.step + share * (later.step - one.step), one.loss + share * (later.loss - one.loss), points)


def _reached(detectors: Iterable[Detector]) -> tuple[list[Level], float, Evidence | None]:
    """The levels of one attempt, the spread of its points, and a line; none where a loss may be negative."""
    coarse: list[Level] = []
    fine: list[Level] = []
    spreads: list[float] = []
    line: Evidence | None = None
    for detector in detectors:
        if isinstance(detector, Plateau):
            coarse = [Level(*level) for level in detector.course()]
        elif isinstance(detector, Sustained):
            course = detector.course()
            if course is None:
                return [], 0.0, None
            fine = [Level(reached.step, reached.loss, reached.points) for reached in course]
            spreads = sorted(reached.spread for reached in course)
            line = course[-1].line if course else None
    before = fine[0].step if fine else float("inf")
    levels = [*(level for level in coarse if level.step < before), *fine]
    return levels, middle(spreads) if spreads else 0.0, line
