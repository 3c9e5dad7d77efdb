"""A million points to what a screen can show, without losing an extreme or a non-finite value."""

from itertools import pairwise

import numpy as np

from charts.columns import Columns, Floats, Indices

PIXEL_PAIRS = 430
"""Buckets of a curve: two pixels each, about as wide as its line."""
SHARED = 0.8
"""Where a metric has fewer steps than this share of its rows, several ranks tell the same steps differently."""
MOST_RUNS = 64
"""A series whose steps go back more often is no sequence of attempts but shuffled lines; it is put in order first."""


def in_order(columns: Columns) -> Columns:
    """Rows as they were logged, or sorted by step where the order means nothing."""
    if len(columns.passes) <= MOST_RUNS:
        return columns
    return columns.pick(np.argsort(columns.step, kind="stable"))


def of_all_ranks(columns: Columns, attempts: int = 0) -> tuple[Columns, int]:
    """One row for each step where several ranks tell their own: mean, lowest and highest; and how many tell one.

    Ranks that are read one after the other go back to the first step each; of `attempts` (0: not known) that many do.
    A step that is not finite on one rank stays a gap: its cross says so.
    """
    if attempts and len(columns.passes) > attempts:
        joined = columns.pick(np.argsort(columns.step, kind="stable"))
    else:
        joined = in_order(columns)
    begins = np.append(0, np.flatnonzero(np.diff(joined.step)) + 1).astype(np.intp)
    if len(begins) > SHARED * len(columns):
        return columns, 1
    ends = np.append(begins[1:], len(joined))
    low, high, mean = _told(joined, begins, ends)
    broken = np.logical_or.reduceat(~joined.is_finite, begins)
    low, high, mean = (np.where(broken, np.nan, column) for column in (low, high, mean))
    spread = Columns(joined.step[begins], joined.time[begins], np.clip(mean, low, high), low, high, is_band=True)
    return spread, int((ends - begins).max())


def within(columns: Columns, first: float, last: float) -> Columns:
    """The rows from step `first` to step `last`."""
    if not len(columns) or (first <= columns.first and columns.last <= last):
        return columns
    return columns.pick((columns.step >= first) & (columns.step <= last))


def condensed(columns: Columns, buckets: int = PIXEL_PAIRS) -> Columns:
    """One row per bucket and pass: its mean and its exact extremes; a bucket without a finite value is a gap.

    A bucket is a slice of the step axis, so that it has one width on screen.
    """
    columns = in_order(columns)
    if len(columns) <= 2 * buckets:
        return columns
    begins = starts_of_buckets(columns, buckets)
    ends = np.append(begins[1:], len(columns))
    low, high, mean = _told(columns, begins, ends)
    middle = (columns.step[begins] + columns.step[ends - 1]) / 2
    middle[0], middle[-1] = columns.step[0], columns.step[-1]
    return Columns(middle, columns.time[begins], np.clip(mean, low, high), low, high, is_band=True)


def _told(columns: Columns, begins: Indices, ends: Indices) -> tuple[Floats, Floats, Floats]:
    """Lowest, highest and mean of the finite rows of each bucket; a NaN among them where there is none."""
    low, high, value = columns.low, columns.high, columns.value
    count: Floats = (ends - begins).astype(np.float64)
    if not columns.is_all_finite:
        finite = columns.is_finite
        count = np.add.reduceat(finite.astype(np.float64), begins)
        low, high = np.where(finite, low, np.inf), np.where(finite, high, -np.inf)
        value = np.where(finite, value, 0.0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.add.reduceat(value, begins) / count
    return np.minimum.reduceat(low, begins), np.maximum.reduceat(high, begins), mean


def thin(columns: Columns, buckets: int = PIXEL_PAIRS) -> Columns:
    """At most six rows per bucket and pass: first, last, lowest, highest, first and last non-finite.

    Rows keep their order and their exact numbers: whatever is left was logged.
    """
    columns = in_order(columns)
    if len(columns) <= 6 * buckets:
        return columns
    begins = starts_of_buckets(columns, buckets)
    ends = np.append(begins[1:], len(columns))
    kept = [begins, ends - 1, *_extremes(columns, begins, ends), *_edges_of_nonfinite(columns, begins)]
    return columns.pick(np.unique(np.concatenate(kept)))


def starts_of_buckets(columns: Columns, buckets: int) -> Indices:
    """Where each slice of each pass begins; none is empty.

    Within a pass steps only grow, so the edges are found by bisection instead of looking at every row.
    """
    edges = np.linspace(columns.first, columns.last, buckets + 1)[1:-1]
    passes = np.append(columns.passes, len(columns))
    begins = [
        start + np.searchsorted(columns.step[start:end], edges, side="left") for start, end in pairwise(passes.tolist())
    ]
    starts = np.unique(np.concatenate([passes, *begins]))
    return starts[:-1].astype(np.intp)


def _extremes(columns: Columns, begins: Indices, ends: Indices) -> list[Indices]:
    """First row with the bucket's lowest low, and with its highest high; any row where none is finite."""
    low, high = columns.low, columns.high
    if not columns.is_all_finite:
        low, high = np.where(columns.is_finite, low, np.inf), np.where(columns.is_finite, high, -np.inf)
    bounds = list(zip(begins.tolist(), ends.tolist(), strict=True))
    lowest = [begin + int(low[begin:end].argmin()) for begin, end in bounds]
    highest = [begin + int(high[begin:end].argmax()) for begin, end in bounds]
    return [np.array(lowest, dtype=np.intp), np.array(highest, dtype=np.intp)]


def _edges_of_nonfinite(columns: Columns, begins: Indices) -> list[Indices]:
    """First and last non-finite row of each bucket that has one."""
    bad = np.flatnonzero(~columns.is_finite)
    if not len(bad):
        return []
    bucket = np.searchsorted(begins, bad, side="right")
    is_first = np.append(True, bucket[1:] != bucket[:-1])
    is_last = np.append(is_first[1:], True)
    return [bad[is_first], bad[is_last]]
