"""Sustained spikes: buckets whose lowest point is compared with the usual band."""
# ruff: noqa: SLF001 - a twin moves what its detector remembers

import copy
from collections import deque

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from diagnosis.detectors.block import POINTS
from diagnosis.detectors.sustained import BACK_SIGMA, MOST_POINTS, RISING, Sustained, _Bucket
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.fives import Fives
from diagnosis.formats.bulk.judging.run import first_of, real

NEARLY = 1e-6
"""Sums made in another order differ by less than this share; what is nearer to a limit is looked at closely."""


class SustainedTwin:
    """Moves `Sustained` past buckets whose lowest point is within the usual band."""

    def __init__(self, detector: Sustained) -> None:
        self._of = detector

    def calm(self, fives: Fives) -> int:
        """How many blocks say nothing."""
        of = self._of
        bad = first_of(fives.lowest < 0.0)
        if of._is_signed:
            return len(fives)
        if self._is_quick(fives):
            return _Quick(of, fives).calm(bad)
        trial = copy.copy(of)
        trial._buckets = of._buckets.copy()
        return _walk(trial, fives, bad)

    def take(self, fives: Fives, count: int) -> None:
        """Move past them."""
        of = self._of
        if of._is_signed or not count:
            return
        if self._is_quick(fives):
            _Quick(of, fives).take(count)
        else:
            _walk(of, fives, count)
        of._first = None if of._first is None else real(of._first)
        kept = [bucket._replace(first=real(bucket.first)) for bucket in of._buckets]
        of._buckets = deque(kept, of._buckets.maxlen)

    def _is_quick(self, fives: Fives) -> bool:
        """Without times every block is a bucket of its own."""
        of = self._of
        return (
            fives.run.times is None
            and not of._count
            and len(of._buckets) == of._buckets.maxlen
            and of._points >= of._thresholds.warmup_points
            and all(seen.time is None and seen.seen_at is None for seen in fives.waiting)
        )


class _Quick:
    """Blocks that are buckets, after enough of them."""

    def __init__(self, of: Sustained, fives: Fives) -> None:
        self._of = of
        self._fives = fives
        self._held = len(of._buckets)
        self._lowest = np.concatenate(([bucket.lowest for bucket in of._buckets], fives.lowest))

    def calm(self, most: int) -> int:
        """How many of the first blocks say nothing."""
        of, held = self._of, self._held
        floors = sliding_window_view(self._lowest, of._recent).min(axis=1)[held + 1 - of._recent :]
        if of._usual is not None:
            mean, sigma = of._usual
            near = floors <= mean + max(of._thresholds.sustained_floor, BACK_SIGMA * sigma)
        else:
            near = self._near(floors)
        near &= ~self._warming()
        for number in np.flatnonzero(near[:most]).tolist():
            if self._speaks(number):
                return int(number)
        return most

    def take(self, count: int) -> None:
        """Move past them."""
        of, fives = self._of, self._fives
        most = of._buckets.maxlen or 0
        of._buckets.extend(self._bucket(number) for number in range(max(0, count - most), count))
        of._points += POINTS * count
        of._last_lr = fives.point(POINTS * count - 1).lr
        of._total = of._squares = 0.0
        of._first = fives.point(POINTS * (count - 1))
        of._lowest = float(fives.lowest[count - 1])

    def _near(self, floors: Floats) -> NDArray[np.bool_]:
        """True unless the newest points surely reach down into the band."""
        of, held, limits = self._of, self._held, self._of._thresholds
        totals = np.concatenate(([bucket.total for bucket in of._buckets], self._fives.totals))
        points = np.concatenate(([bucket.points for bucket in of._buckets], np.full(len(self._fives), POINTS)))
        ends = np.arange(held + 1, held + 1 + len(self._fives))
        mean = _between(totals, ends - held, ends - of._recent) / _between(points, ends - held, ends - of._recent)
        margin = np.maximum(limits.sustained_floor, limits.spike_floor_share * np.abs(mean))
        near: NDArray[np.bool_] = floors - mean > margin - NEARLY * (1.0 + np.abs(mean))
        return near

    def _warming(self) -> NDArray[np.bool_]:
        """Blocks at whose end the learning rate has risen since the one before."""
        fives, last = self._fives, self._of._last_lr
        rates = fives.run.lr
        if rates is None:
            return np.zeros(len(fives), np.bool_)
        newest = rates[np.arange(len(fives)) * POINTS + POINTS - 1 - len(fives.waiting)]
        before = np.concatenate(([np.inf if last is None else last], newest[:-1]))
        warming: NDArray[np.bool_] = newest > before * RISING
        return warming

    def _speaks(self, number: int) -> bool:
        """What the detector itself says of one block."""
        trial = copy.copy(self._of)
        trial._buckets = self._of._buckets.copy()
        first = max(0, number + 1 - (trial._buckets.maxlen or 0))
        trial._buckets.extend(self._bucket(place) for place in range(first, number + 1))
        newest = self._fives.point(POINTS * number + POINTS - 1)
        return bool(trial._judge(newest))

    def _bucket(self, number: int) -> _Bucket:
        fives = self._fives
        first = fives.point(POINTS * number)
        columns = (fives.totals, fives.squares, fives.lowest)
        return _Bucket(first, POINTS, *(float(column[number]) for column in columns))


def _between(values: Floats, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    """Sums of the values from each beginning to its end."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    between: Floats = sums[ends] - sums[begins]
    return between


def _walk(of: Sustained, fives: Fives, count: int) -> int:
    """As `observe` for each block, up to the first that may speak; moves the detector along."""
    times = fives.run.times
    moments = [seen.time if seen.time is not None else seen.seen_at for seen in fives.waiting]
    moments += [None] * len(fives.run) if times is None else times.tolist()
    begin = (of._first.time if of._first.time is not None else of._first.seen_at) if of._first is not None else None
    totals, squares, lows = fives.totals.tolist(), fives.squares.tolist(), fives.lowest.tolist()
    for number in range(count):
        place = POINTS * number
        if not of._count:
            of._first, of._lowest = fives.point(place), lows[number]
            begin = moments[place]
        saved = of._count, of._total, of._squares, of._lowest
        of._count += POINTS
        of._total += totals[number]
        of._squares += squares[number]
        of._lowest = min(of._lowest, lows[number])
        end = moments[place + POINTS - 1]
        if begin is not None and end is not None and 0.0 <= end - begin < of._width and of._count < MOST_POINTS:
            continue
        if not _close(of, fives, place + POINTS - 1):
            of._count, of._total, of._squares, of._lowest = saved
            return number
    return count


def _close(of: Sustained, fives: Fives, newest: int) -> bool:
    """End the bucket as the detector does; False, and nothing done, when it would speak."""
    if of._first is None:
        return True
    seen = fives.point(newest)
    bucket = _Bucket(of._first, of._count, of._total, of._squares, of._lowest)
    is_warming = of._last_lr is not None and seen.lr is not None and seen.lr > of._last_lr * RISING
    if not is_warming and of._points + of._count >= of._thresholds.warmup_points:
        trial = copy.copy(of)
        trial._buckets = of._buckets.copy()
        trial._buckets.append(bucket)
        if trial._judge(seen):
            return False
    of._buckets.append(bucket)
    of._points += of._count
    of._count, of._total, of._squares = 0, 0.0, 0.0
    of._last_lr = seen.lr
    return True
