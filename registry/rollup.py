"""A run of any length in at most 2,040 buckets of fixed size.

Every bucket stands for `width` neighbouring points; when all are used, neighbours merge and the width doubles.
A bucket keeps the count, the exact extremes and the mean of each metric's finite values, and where it ends.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

from registry.points import Point, narrowed

MOST_BUCKETS: Final = 2040
"""A string that grows gets twice its length; from half of these buckets on, that is just below 128 KiB, where Redis'
allocator has a size. With eight buckets more, every run would take 160 KiB."""
# last step, last time; then for loss, grad norm, lr: how many finite values, smallest, largest, mean
_BUCKET: Final = struct.Struct("<dd" + "Ifff" * 3)
BUCKET_BYTES: Final = _BUCKET.size
_MOST: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Spreads:
    """One metric over neighbouring buckets, as columns."""

    counts: tuple[int, ...]
    """Finite values in each bucket; 0 with a mean of NaN: only non-finite ones; 0 with 0.0: none at all."""
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    means: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Buckets:
    """Neighbouring buckets of one attempt, as columns."""

    last_steps: tuple[float, ...]
    last_times: tuple[float, ...]
    metrics: tuple[Spreads, Spreads, Spreads]


class _Open:
    """The metric of the bucket that still fills, summed in full precision."""

    __slots__ = ("count", "high", "is_broken", "low", "total")

    def __init__(self, count: int = 0, low: float = 0.0, high: float = 0.0, mean: float = 0.0) -> None:
        self.count = count
        self.low = low if count else math.inf
        self.high = high if count else -math.inf
        self.total = mean * count if count else 0.0
        self.is_broken = math.isnan(mean)

    def add(self, value: float | None) -> None:
        if value is None:
            return
        if not math.isfinite(value):
            self.is_broken = True
            return
        self.count += 1
        self.low = min(self.low, value)
        self.high = max(self.high, value)
        self.total += value

    def add_all(self, values: Sequence[float | None]) -> None:
        """`add` for one after the other, with the same rounding."""
        known = [value for value in values if value is not None]
        if not known:
            return
        total = reduce(add, known, self.total)
        if not math.isfinite(total):
            for value in known:
                self.add(value)
            return
        self.count += len(known)
        self.low = min(self.low, *known)
        self.high = max(self.high, *known)
        self.total = total

    def closed(self) -> tuple[int, float, float, float]:
        if not self.count:
            nothing = math.nan if self.is_broken else 0.0
            return (0, nothing, nothing, nothing)
        mean = self.total / self.count
        # The sum of huge values may overflow where their mean would not.
        mean = mean if math.isfinite(mean) else self.high
        return (min(self.count, _MOST), narrowed(self.low), narrowed(self.high), narrowed(mean))


class Rollup:
    """The rollup of one attempt, as the one who writes it keeps it."""

    def __init__(self, count: int = 0, width: int = 1, data: bytes = b"") -> None:
        self.count = count
        """Points so far."""
        self.width = width
        self._data = bytearray(data)
        self._touched: int | None = None
        self._is_rewritten = False
        self._is_open = False
        """The newest bucket has values that are not yet in the bytes."""
        self._open = tuple(_Open() for _ in range(3))
        self._last = (math.nan, math.nan)
        if self.is_sound and count % width:
            step, time, *parts = _BUCKET.unpack_from(self._data, len(self._data) - BUCKET_BYTES)
            self._open = tuple(_Open(*parts[at : at + 4]) for at in (0, 4, 8))
            self._last = (step, time)

    @property
    def is_sound(self) -> bool:
        """True when count, width and bytes fit together; a stored rollup may have been cut."""
        return self.width > 0 and -(-self.count // self.width) * BUCKET_BYTES == len(self._data)

    def add(self, point: Point) -> None:
        """Take one more point."""
        if self.count == self.width * MOST_BUCKETS:
            self._double()
        index = self.count // self.width
        if self.count % self.width == 0:
            self._close()
            self._open = tuple(_Open() for _ in range(3))
            self._data += bytes(BUCKET_BYTES)
        for metric, value in zip(self._open, point.metrics, strict=True):
            metric.add(value)
        self._last = (float(point.step), point.time)
        self.count += 1
        self._is_open = True
        if self._touched is None:
            self._touched = index

    def add_all(self, points: Sequence[Point]) -> None:
        """`add` for one after the other: a bucket takes all that fit into it at once."""
        at = 0
        while at < len(points):
            self.add(points[at])
            stop = min(len(points), at + 1 + -self.count % self.width)
            if stop > at + 1:
                for metric, values in zip(
                    self._open, zip(*(point[2:] for point in points[at + 1 : stop]), strict=True), strict=True
                ):
                    metric.add_all(values)
                newest = points[stop - 1]
                self._last = (float(newest.step), newest.time)
                self.count += stop - at - 1
            at = stop

    def changes(self) -> tuple[int, bytes] | None:
        """Return what must be written: byte offset and bytes; offset 0 with all of it after the width doubled."""
        self._close()
        if self._is_rewritten:
            return 0, bytes(self._data)
        if self._touched is None:
            return None
        offset = self._touched * BUCKET_BYTES
        return offset, bytes(self._data[offset:])

    def is_written(self) -> None:
        """Say that all changes so far are stored."""
        self._touched = None
        self._is_rewritten = False

    def whole(self) -> bytes:
        """Return all of it, for a store that lost it."""
        self._close()
        return bytes(self._data)

    def _close(self) -> None:
        """Bring the newest bucket into the bytes."""
        if self._is_open:
            packed = _BUCKET.pack(*self._last, *(part for metric in self._open for part in metric.closed()))
            self._data[-BUCKET_BYTES:] = packed
            self._is_open = False

    def _double(self) -> None:
        self._close()
        merged = bytearray()
        buckets = list(_BUCKET.iter_unpack(self._data))
        for left, right in zip(buckets[::2], buckets[1::2], strict=True):
            metrics: list[float] = []
            for at in (2, 6, 10):
                metrics += _merged(left[at : at + 4], right[at : at + 4])
            merged += _BUCKET.pack(right[0], right[1], *metrics)
        self._data = merged
        self.width *= 2
        self._is_rewritten = True


def buckets_of(data: bytes, count: int) -> Buckets | None:
    """Return the first buckets of a stored rollup, at most `count`; None: there are none."""
    whole = min(count, len(data) // BUCKET_BYTES) * BUCKET_BYTES
    if whole <= 0:
        return None
    steps, times, *parts = zip(*_BUCKET.iter_unpack(memoryview(data)[:whole]), strict=True)
    return Buckets(steps, times, (Spreads(*parts[0:4]), Spreads(*parts[4:8]), Spreads(*parts[8:12])))


def _merged(left: tuple[float, ...], right: tuple[float, ...]) -> tuple[float, ...]:
    if not left[0] or not right[0]:
        # One side has no finite value: the other tells more; two broken sides stay broken.
        return left if left[0] or (not right[0] and math.isnan(left[3])) else right
    count = left[0] + right[0]
    mean = left[3] * (left[0] / count) + right[3] * (right[0] / count)
    return (min(count, _MOST), min(left[1], right[1]), max(left[2], right[2]), narrowed(mean))
