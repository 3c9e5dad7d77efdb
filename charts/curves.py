"""Rows of a metric as the lines that show them: points, bands with their trend, overwritten attempts."""

import numpy as np
from numpy.typing import NDArray

from charts.columns import Columns
from charts.look import Ink
from charts.sketch import Curve
from charts.thinning import condensed

TREND_BUCKETS = 200
FEW = 60
"""Up to so many points, each has its dot."""
FEWEST_FOR_VOIDS = 8
VOID_STRIDES = 12.0
VOID_SHARE = 0.08
"""Steps are missing where two points lie so many strides, and so much of the axis, apart."""


def curves_of(rows: Columns, ink: Ink, *, is_dashed: bool = False) -> tuple[Curve, ...]:
    """The lines of one metric, from rows few enough to draw (`condensed`)."""
    if not len(rows):
        return ()
    overwritten = _is_overwritten(rows)
    curves = []
    if overwritten.any():
        curves.append(_curve(rows, overwritten, Ink.FAINT, is_pale=True))
    current = _curve(rows, ~overwritten, ink, is_dashed=is_dashed, has_dots=len(rows) <= FEW)
    bridges = _bridges(rows.pick(~overwritten), ink)
    if not rows.is_band:
        return (*curves, *bridges, current)
    trend = condensed(rows.pick(~overwritten), min(TREND_BUCKETS, max(len(rows) // 3, 1)))
    line = _curve(trend, np.ones(len(trend), dtype=np.bool_), ink, is_dashed=is_dashed, has_dots=len(rows) <= FEW)
    band = Curve(current.x, np.full(len(current.x), np.nan), ink, low=current.low, high=current.high)
    return (*curves, *bridges, band, Curve(line.x, line.y, ink, is_dashed=is_dashed, has_dots=line.has_dots))


def _voids(rows: Columns) -> NDArray[np.intp]:
    """Rows before which many more steps are missing than lie between two points: lines were cut out of the log."""
    if len(rows) < FEWEST_FOR_VOIDS:
        return np.empty(0, dtype=np.intp)
    apart = np.diff(rows.step)
    ahead = apart[apart > 0]
    if not len(ahead):
        return np.empty(0, dtype=np.intp)
    least = max(VOID_STRIDES * float(np.median(ahead)), VOID_SHARE * float(rows.step.max() - rows.step.min()))
    # A log that grows rarer and rarer has a wide stride beside a half as wide one; a cut has a dense side.
    before, behind = np.append(np.inf, apart[:-1]), np.append(apart[1:], np.inf)
    is_sudden = np.minimum(np.abs(before), np.abs(behind)) < apart / 4
    return np.flatnonzero((apart > least) & is_sudden) + 1


def _bridges(rows: Columns, ink: Ink) -> tuple[Curve, ...]:
    """A pale dashed line over each void, so that nobody takes it for logged."""
    voids = _voids(rows)
    if not len(voids):
        return ()
    nothing = np.full(len(voids), np.nan)
    x = np.column_stack([rows.step[voids - 1], rows.step[voids], rows.step[voids]]).ravel()
    y = np.column_stack([rows.value[voids - 1], rows.value[voids], nothing]).ravel()
    return (Curve(x, y, ink, is_pale=True, is_dashed=True),)


def _is_overwritten(rows: Columns) -> NDArray[np.bool_]:
    """Rows at or beyond the step at which a later attempt took over."""
    step, starts = rows.step, rows.passes
    if len(starts) == 1:
        return np.zeros(len(step), dtype=np.bool_)
    takeover = np.minimum.accumulate(step[starts][::-1])[::-1]
    passes = np.searchsorted(starts, np.arange(len(step)), side="right")
    return np.asarray(step >= np.append(takeover[1:], np.inf)[passes - 1])


def _curve(
    rows: Columns,
    wanted: NDArray[np.bool_],
    ink: Ink,
    *,
    is_pale: bool = False,
    is_dashed: bool = False,
    has_dots: bool = False,
) -> Curve:
    """The wanted rows as one curve, with a gap where a value is not finite and where the step goes back."""
    gap = np.where(wanted & rows.is_finite, 0.0, np.nan)
    breaks = np.union1d(rows.passes[1:], _voids(rows.pick(wanted)) if wanted.all() else rows.passes[1:]).astype(np.intp)
    y, low, high = (
        np.insert(np.where(np.isnan(gap), np.nan, column), breaks, np.nan)
        for column in (rows.value, rows.low, rows.high)
    )
    x = np.insert(rows.step, breaks, rows.step[breaks])
    if not rows.is_band:
        return Curve(x, y, ink, is_pale, is_dashed, has_dots)
    return Curve(x, y, ink, is_pale, is_dashed, has_dots, low, high)
