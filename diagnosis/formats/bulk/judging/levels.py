"""Divergence and plateau: detectors of levels, which look at five points at a time."""
# ruff: noqa: SLF001 - a twin moves what its detector remembers

import copy
from collections import deque

import numpy as np

from diagnosis.detectors import divergence
from diagnosis.detectors.block import POINTS
from diagnosis.detectors.divergence import Divergence, Level
from diagnosis.detectors.plateau import Plateau
from diagnosis.formats.bulk.judging.fives import Fives
from diagnosis.formats.bulk.judging.run import first_of, real


class DivergenceTwin:
    """Moves `Divergence` past blocks near its best level, or away from the one it left."""

    def __init__(self, detector: Divergence) -> None:
        self._of = detector
        self._trial = detector
        self._tried = -1

    def calm(self, fives: Fives) -> int:
        """How many blocks say nothing."""
        of = self._of
        if of._is_signed:
            return len(fives)
        if of._best is None or of._blocks < divergence.EARLY_BLOCKS:
            return 0
        self._trial = copy.copy(of)
        self._tried = _walk(self._trial, fives, _near_best(of, fives), len(fives))
        return self._tried

    def take(self, fives: Fives, count: int) -> None:
        """Move past them."""
        of = self._of
        if of._is_signed:
            return
        if count == self._tried:
            of._best, of._usual, of._spread = self._trial._best, self._trial._usual, self._trial._spread
        else:
            _walk(of, fives, count, count)
        of._blocks += count
        kept = max(0, count - (of._floors.maxlen or 0))
        of._floors.extend((float(fives.lowest[place]), fives.point(POINTS * place)) for place in range(kept, count))
        of._floors = deque([(lowest, real(seen)) for lowest, seen in of._floors], of._floors.maxlen)


def _near_best(of: Divergence, fives: Fives) -> int:
    """How many blocks are surely near the best level, however wide the spread is."""
    limits, best = of._thresholds, of._best
    if of._open is not None or best is None:
        return 0
    levels = np.minimum.accumulate(np.concatenate(([best.value], fives.middle)))[:-1]
    margin = np.maximum(limits.divergence_delta, limits.divergence_share * np.abs(levels))
    return first_of((fives.lowest > levels + margin) | (fives.lowest < 0.0))


def _walk(of: Divergence, fives: Fives, near: int, count: int) -> int:
    """As `observe` for each block, up to the first that may speak; `near` blocks are known to say nothing."""
    best, usual, spread, share = of._best, of._usual, of._spread, divergence.SMOOTHING
    assert best is not None
    levels, noises = fives.middle.tolist(), fives.noise.tolist()
    for level, noise in zip(levels[:near], noises[:near], strict=True):
        usual += (level - usual) * share
        spread += share * (noise - spread)
    if near and (place := int(fives.middle[:near].argmin())) >= 0 and levels[place] < best.value:
        best = Level(levels[place], fives.point(POINTS * place + 2).step)
    limits, left, number = of._thresholds, of._open, near
    lows = fives.lowest.tolist() if near < count else []
    while number < count:
        lowest, level = lows[number], levels[number]
        margin = divergence.divergence_margin(limits, best.value, spread)
        if lowest < 0.0 or (lowest > best.value + margin if left is None else level <= left.value + margin / 2.0):
            break
        if level < best.value:
            best = Level(level, fives.point(POINTS * number + 2).step)
        usual += (level - usual) * share
        spread += share * (noises[number] - spread)
        number += 1
    of._best, of._usual, of._spread = best, usual, spread
    return number


class PlateauTwin:
    """Moves `Plateau` along; its rare looks are its own."""

    def __init__(self, detector: Plateau) -> None:
        self._of = detector
        self._trial = detector
        self._tried = -1

    def calm(self, fives: Fives) -> int:
        """How many blocks say nothing."""
        if self._of._is_said:
            return len(fives)
        self._trial = _copy(self._of)
        self._tried = _add(self._trial, fives, len(fives))
        return self._tried

    def take(self, fives: Fives, count: int) -> None:
        """Move past them."""
        if self._of._is_said:
            return
        if count != self._tried:
            self._trial = _copy(self._of)
            _add(self._trial, fives, count)
        for name in Plateau.__slots__:
            setattr(self._of, name, getattr(self._trial, name))


def _copy(of: Plateau) -> Plateau:
    trial = copy.copy(of)
    trial._buckets = list(of._buckets)
    return trial


def _add(of: Plateau, fives: Fives, count: int) -> int:
    """As `observe` for each block, up to the first at which something is said."""
    number = 0
    while number < count:
        unseen = min(of._width - of._count - 1, count - number)
        if unseen > 0:
            # All but the block that fills the bucket only add to its sum, in order.
            parts = fives.totals[number : number + unseen] / POINTS
            of._total = float(np.cumsum(np.concatenate(([of._total], parts)))[-1])
            of._count += unseen
            number += unseen
            continue
        if of._points + of._width * POINTS >= of._next and _copy(of).observe(fives.block(number)):
            return number
        of.observe(fives.block(number))
        number += 1
    return count
