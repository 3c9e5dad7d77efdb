"""From what Redis keeps of a run to what a chart needs."""

import math
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final, cast

from diagnosis.observations import StepKind
from diagnosis.series import Mark, RunSeries, Series
from registry import wire
from registry.points import Blob, Point
from registry.rollup import Buckets, buckets_of
from registry.runs import attempts_from

_STEP_KINDS: Final = ("printed", "implied", "samples", "ordinal", "none")


class _Columns:
    """The three series of a run while they are put together."""

    def __init__(self, run: str) -> None:
        self.series = RunSeries(run)
        self.all: tuple[Series, ...] = (self.series.loss, self.series.grad_norm, self.series.lr)
        self.is_thinned = False

    def add_blob(self, blob: Blob, start: int = 0) -> None:
        """Take the points of a blob from one on."""
        for bit, (series, values) in enumerate(zip(self.all, blob.metrics, strict=True)):
            there = [which >> bit & 1 for which in blob.there[start:]]
            rows = (blob.steps[start:], blob.times[start:], values[start:], values[start:], values[start:])
            _extend(series, rows if all(there) else [tuple(compress(row, there)) for row in rows])

    def add_point(self, point: Point) -> None:
        """Take one exact point."""
        for series, value in zip(self.all, point.metrics, strict=True):
            if value is not None:
                _extend(series, [(point.step,), (point.time,), (value,), (value,), (value,)])

    def replace_last(self, last: Point, stored: Point) -> None:
        """Put the exact newest point in the place of its 32-bit one."""
        for series, value, narrow in zip(self.all, last.metrics, stored.metrics, strict=True):
            if value is not None and narrow is not None and last.step == stored.step:
                series.values[-1] = series.lows[-1] = series.highs[-1] = value

    def add_buckets(self, buckets: Buckets) -> None:
        """Take neighbouring buckets."""
        for series, spreads in zip(self.all, buckets.metrics, strict=True):
            rows = (buckets.last_steps, buckets.last_times, spreads.means, spreads.lows, spreads.highs)
            if not all(spreads.counts):
                # Without finite values a bucket is a gap if there were others, and nothing if there were none.
                there = [
                    bool(count) or math.isnan(mean) for count, mean in zip(spreads.counts, spreads.means, strict=True)
                ]
                rows = tuple(tuple(compress(row, there)) for row in rows)  # type: ignore[assignment]
            _extend(series, rows)

    def finished(self) -> RunSeries:
        """Return the series; exact ones have no columns of extremes."""
        if not self.is_thinned:
            for series in self.all:
                del series.lows[:], series.highs[:]
        return self.series


def whole_series(
    run: str,
    attempts: Mapping[int, tuple[dict[str, Any], bytes]],
    tail: Sequence[Blob],
    marks: Mapping[bytes, bytes],
    spans: Mapping[bytes, bytes],
) -> RunSeries:
    """Return a whole run: rollup where that is all there is, exact points where the tail still has them."""
    columns = _Columns(run)
    for number, (meta, roll) in attempts.items():
        exact_from, exact = _end_of(tail, number, meta["n"])
        # A bucket and the points it stands for must not both be drawn.
        whole_buckets = -(-exact_from // meta["w"])
        if exact_from and meta["w"] > 1 and (first := _point(meta.get("first"))) is not None:
            columns.add_point(first)
        if (buckets := buckets_of(roll, whole_buckets)) is not None:
            columns.add_buckets(buckets)
        begin = whole_buckets * meta["w"]
        for blob in exact:
            if blob.position + len(blob) > begin:
                columns.add_blob(blob, max(0, begin - blob.position))
        if exact and meta["n"] > begin and (last := _point(meta.get("last"))) is not None:
            columns.replace_last(last, exact[-1].points[-1])
    columns.is_thinned = any(meta["w"] > 1 for meta, _ in attempts.values())
    return _dressed(columns.finished(), {number: meta for number, (meta, _) in attempts.items()}, marks, spans)


def newest_points(
    run: str,
    count: int,
    *,
    metas: Mapping[int, dict[str, Any]],
    tail: Sequence[Blob],
    marks: Mapping[bytes, bytes],
    spans: Mapping[bytes, bytes],
) -> RunSeries:
    """Return the newest points of the tail, and the marks from the first of them on."""
    columns = _Columns(run)
    blobs = list(tail)
    surplus = sum(map(len, blobs)) - count
    steps: list[int] = []
    for blob in blobs:
        start = min(max(0, surplus), len(blob))
        surplus -= start
        columns.add_blob(blob, start)
        steps += blob.steps[start:]
    last = _point(metas[blobs[-1].attempt].get("last")) if steps and blobs[-1].attempt in metas else None
    if last is not None:
        columns.replace_last(last, blobs[-1].points[-1])
    series = _dressed(columns.finished(), metas, marks, spans)
    since = min(steps, default=math.inf)
    series.marks = tuple(mark for mark in series.marks if mark.step is None or mark.step >= since)
    return series


def _end_of(tail: Sequence[Blob], attempt: int, count: int) -> tuple[int, list[Blob]]:
    """Return the unbroken exact points that end an attempt, and the position of the first."""
    blobs: list[Blob] = []
    position = count
    for blob in reversed([blob for blob in tail if blob.attempt == attempt]):
        if blob.position + len(blob) != position:
            break
        blobs.append(blob)
        position = blob.position
    return position, blobs[::-1]


def _extend(series: Series, rows: Sequence[Sequence[float]]) -> None:
    columns = (series.steps, series.times, series.values, series.lows, series.highs)
    for column, row in zip(columns, rows, strict=True):
        column.extend(row)


def _point(stored: Any) -> Point | None:
    """Return a point as the writer's notes keep it: exact, NaN as a word."""
    if not isinstance(stored, list) or len(stored) != len(Point._fields) or not isinstance(stored[0], int):
        return None
    time = wire.number(stored[1])
    return Point(stored[0], math.nan if time is None else time, *(wire.number(value) for value in stored[2:]))


def _dressed(
    series: RunSeries,
    metas: Mapping[int, dict[str, Any]],
    marks: Mapping[bytes, bytes],
    spans: Mapping[bytes, bytes],
) -> RunSeries:
    found = []
    for data in marks.values():
        try:
            found.append(wire.decode_as(Mark, data))
        except wire.Unreadable:
            continue
    series.marks = tuple(sorted(found, key=lambda mark: -math.inf if mark.step is None else mark.step))
    series.attempts = tuple(attempts_from(spans))
    kind = next((meta.get("kind") for meta in reversed(list(metas.values())) if meta.get("kind") in _STEP_KINDS), None)
    series.step_kind = cast("StepKind", kind or "printed")
    return series
