"""The newest points of a run as packed blobs of ten: about 24 bytes a point, time included.

A blob holds the points whose positions in the attempt are 10 k to 10 k + 9, fewer while it fills. Steps are
offsets from the blob's smallest, so a step may be any 64-bit number; a metric the line did not carry is told
from a NaN by a bit.
"""

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

PER_BLOB: Final = 10
_VERSION: Final = 1
# version, count, attempt, smallest step, position of the first point, time of the first point
_HEAD: Final = struct.Struct("<BBxxIqQd")
# step offset, which metrics are there, seconds since the head's time, loss, grad norm, lr
_POINT: Final = struct.Struct("<IBffff")
_LARGEST: Final = 3.4028234663852886e38
"""The largest 32-bit float: a finite value beyond it is stored as this, and its exact value as a mark."""
_WIDEST: Final = 0xFFFF_FFFF
_LOWEST_STEP: Final = -(1 << 63)
_HIGHEST_STEP: Final = (1 << 63) - 1


class Point(NamedTuple):
    """One step line as the series keeps it. None: the line did not carry it."""

    step: int
    time: float
    """Unix seconds; NaN: not known."""
    loss: float | None
    grad_norm: float | None
    lr: float | None

    @property
    def metrics(self) -> tuple[float | None, float | None, float | None]:
        """The three values in the order of METRICS."""
        return (self.loss, self.grad_norm, self.lr)


METRICS: Final = ("loss", "grad_norm", "lr")


@dataclass(frozen=True, slots=True)
class Blob:
    """Points of one attempt at consecutive positions, as columns."""

    attempt: int
    position: int
    steps: tuple[int, ...]
    times: tuple[float, ...]
    there: tuple[int, ...]
    """Which metrics each point carries, a bit each in the order of METRICS."""
    metrics: tuple[tuple[float, ...], ...]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def points(self) -> list[Point]:
        """The same as points."""
        columns = zip(self.steps, self.times, self.there, *self.metrics, strict=True)
        return [
            Point(step, time, *(value if there >> bit & 1 else None for bit, value in enumerate(values)))
            for step, time, there, *values in columns
        ]


def narrowed(value: float) -> float:
    """Return a value that fits a 32-bit float: a finite one stays finite."""
    return value if abs(value) <= _LARGEST or not math.isfinite(value) else math.copysign(_LARGEST, value)


def step_within(step: int) -> int:
    """Return a step that fits 64 bits."""
    return step if _LOWEST_STEP <= step <= _HIGHEST_STEP else min(max(step, _LOWEST_STEP), _HIGHEST_STEP)


def pack(attempt: int, position: int, points: Sequence[Point]) -> list[bytes]:
    """Return blobs for consecutive points; the first starts at `position`, none crosses a multiple of ten."""
    blobs, start = [], 0
    steps = [point.step for point in points]
    while start < len(points):
        upto = min(len(points), start + PER_BLOB - (position + start) % PER_BLOB)
        group = points[start:upto]
        base = min(steps[start:upto])
        if max(steps[start:upto]) - base > _WIDEST:
            # Steps that far apart do not share a blob.
            group = points[start : start + 1]
            base = group[0].step
        blobs.append(_packed(attempt, position + start, base, group))
        start += len(group)
    return blobs


def unpack(blobs: Iterable[bytes]) -> list[Blob]:
    """Return what these blobs hold; one we cannot read is left out."""
    return [blob for data in blobs if (blob := _unpacked(data)) is not None]


def _packed(attempt: int, position: int, base: int, points: Sequence[Point]) -> bytes:
    origin = next((point.time for point in points if not math.isnan(point.time)), math.nan)
    parts = [_HEAD.pack(_VERSION, len(points), attempt & _WIDEST, base, position, origin)]
    for step, time, loss, norm, lr in points:
        there = (loss is not None) | (norm is not None) << 1 | (lr is not None) << 2
        values = (
            time - origin,
            0.0 if loss is None else loss,
            0.0 if norm is None else norm,
            0.0 if lr is None else lr,
        )
        try:
            parts.append(_POINT.pack(step - base, there, *values))
        except OverflowError:  # looked for only where it happens: this is done for each point that is told
            parts.append(_POINT.pack(step - base, there, *map(narrowed, values)))
    return b"".join(parts)


def _unpacked(data: bytes) -> Blob | None:
    try:
        version, count, attempt, base, position, origin = _HEAD.unpack_from(data)
        if version != _VERSION or not count or len(data) != _HEAD.size + count * _POINT.size:
            return None
    except struct.error:
        return None
    offsets, theres, since, *metrics = zip(*_POINT.iter_unpack(data[_HEAD.size :]), strict=True)
    return Blob(
        attempt,
        position,
        tuple(base + offset for offset in offsets),
        tuple(origin + seconds for seconds in since),
        theres,
        tuple(metrics),
    )
