"""How the loss of a run looks: normal, to be watched, or wrong, and since which step."""

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import median

from diagnosis import wording
from diagnosis.series import RunSeries, Series

RECENT_POINTS = 50
EARLIER_POINTS = 200
WATCH_SHARE = 0.1
"""Marks in the newest tenth of the run are worth a word."""
CLIMB_FLOOR, CLIMB_SHARE = 0.1, 0.05
"""The newest level stands this far, and by this share, above the level before."""
BAND_POINTS, BAND_LEAST = 50, 20
BAND_NEWEST = 4
"""So many newest points tell whether the loss still follows the trend."""
BAND_OUTSIDE, BAND_DEVIATIONS = 0.02, 5.0
"""The normal range leaves out this share of the points at either end, and what deviates so many times as much as
half of them do."""
LOUD = frozenset(
    {
        "spike",
        "loss_spike",
        "sustained_spike",
        "divergence",
        "nonfinite",
        "loss_zero",
        "loss_vanished",
        "overflow_streak",
        "loss_scale_floor",
    }
)
_PLACE = re.compile(r" (?:at|since|from) step [\d,]+$")


class Health(StrEnum):
    """The word before everything else."""

    NORMAL = "normal"
    WATCH = "watch"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the numbers says."""

    health: Health
    since_step: float | None = None
    why: str = ""
    """One plain clause: `loss is NaN`, `spike of 4.1`, `the loss climbs`."""
    last_step: float | None = None
    last_loss: float | None = None
    last_time: float | None = None
    last_good_step: float | None = None
    last_good_loss: float | None = None
    earlier_loss: float | None = None
    """The level before the newest points."""
    span_steps: float | None = None
    grad_norm: float | None = None
    lr: float | None = None
    points: int = 0
    band: tuple[float, float] | None = None
    """Where the loss lay before: the middle of its newest points, without the outermost."""
    has_incident: bool = False
    """Whether `why` is told by an open incident, not by the newest numbers."""


def look_at(series: RunSeries) -> Look:
    """Judge the newest numbers of a run; only what the numbers themselves show."""
    loss = series.loss
    if not len(loss):
        return Look(Health.UNKNOWN, grad_norm=_last(series.grad_norm), lr=_last(series.lr))
    finite = [place for place, value in enumerate(loss.values) if math.isfinite(value)]
    recent, earlier = _levels(loss, finite)
    look = Look(
        Health.NORMAL,
        last_step=loss.steps[-1],
        last_loss=loss.values[-1],
        last_time=_known(loss.times[-1]),
        earlier_loss=earlier,
        span_steps=_span(loss, finite),
        grad_norm=_last(series.grad_norm),
        lr=_last(series.lr),
        points=len(loss),
    )
    bad, norm_bad = _bad_end(loss), _bad_end(series.grad_norm)
    marked = _loud_mark(series)
    until = loss.steps[bad] if bad is not None else marked[0] if marked is not None else None
    look = replace(look, band=_band(loss, finite, until))
    if bad is not None:
        look = _with_last_good(look, series, finite, norm_bad)
        word = "NaN" if math.isnan(loss.values[bad]) else "infinite"
        return replace(look, health=Health.WRONG, since_step=loss.steps[bad], why=f"loss is {word}")
    if norm_bad is not None:
        since = series.grad_norm.steps[norm_bad]
        look = _with_last_good(look, series, finite, norm_bad)
        return replace(look, health=Health.WRONG, since_step=since, why="grad norm is not finite")
    if marked is not None:
        return replace(look, health=Health.WATCH, since_step=marked[0], why=marked[1])
    if recent is not None and earlier is not None and recent - earlier > max(CLIMB_FLOOR, CLIMB_SHARE * abs(earlier)):
        since = loss.steps[finite[-min(len(finite), RECENT_POINTS)]]
        return replace(look, health=Health.WATCH, since_step=since, why="the loss climbs")
    if look.band is not None and not look.band[0] <= loss.values[-1] <= look.band[1]:
        # Nothing is wrong with it, so the range is what is: better none than two words against each other.
        return replace(look, band=None)
    return look


def normal_band(series: RunSeries, until: float) -> tuple[float, float] | None:
    """Between which values the loss would be normal at a step, from the points before it; None: too few of them."""
    finite = [place for place, value in enumerate(series.loss.values) if math.isfinite(value)]
    return _band(series.loss, finite, until)


def _with_last_good(look: Look, series: RunSeries, finite: list[int], norm_bad: int | None) -> Look:
    """The newest point whose grad norm was finite too; the newest loss where none was."""
    loss = series.loss
    until = math.inf if norm_bad is None else series.grad_norm.steps[norm_bad]
    both = (place for place in reversed(finite) if loss.steps[place] < until)
    good = next(both, finite[-1] if finite else None)
    return look if good is None else replace(look, last_good_step=loss.steps[good], last_good_loss=loss.values[good])


def _bad_end(series: Series) -> int | None:
    """Where the unbroken non-finite end of a series begins."""
    place = len(series)
    while place and not math.isfinite(series.values[place - 1]):
        place -= 1
    return place if place < len(series) else None


def _levels(loss: Series, finite: list[int]) -> tuple[float | None, float | None]:
    values = [loss.values[place] for place in finite[-RECENT_POINTS - EARLIER_POINTS :]]
    recent, earlier = values[-RECENT_POINTS:], values[:-RECENT_POINTS]
    if len(earlier) < RECENT_POINTS:
        half = len(values) // 2
        recent, earlier = values[half:], values[:half]
        return (median(recent) if recent else None), (median(earlier) if len(earlier) >= 5 else None)
    return median(recent), median(earlier)


def _band(loss: Series, finite: list[int], until: float | None) -> tuple[float, float] | None:
    """Between which values a loss would be normal: along the trend of the points before, as far as they spread.

    Points before a step, or before the newest one. A spike among them neither bends nor widens it. Where the newest
    points left the trend, as at the end of a steep fall or of a spike, the range is about them.
    """
    before = [place for place in finite[:-1] if until is None or loss.steps[place] < until][-BAND_POINTS:]
    if len(before) < BAND_LEAST:
        return None
    half = len(before) // 2
    first, second = ([loss.values[place] for place in part] for part in (before[:half], before[half:]))
    slope = (median(second) - median(first)) / half
    middle = median(second) - slope * (half + (len(second) - 1) / 2)
    trend = [middle + slope * place for place in range(len(before) + 1)]
    lows, highs = (loss.lows, loss.highs) if loss.is_thinned else (loss.values, loss.values)
    below = sorted(lows[place] - level for place, level in zip(before, trend, strict=False))
    above = sorted(highs[place] - level for place, level in zip(before, trend, strict=False))
    usual = BAND_DEVIATIONS * median(
        abs(loss.values[place] - level) for place, level in zip(before, trend, strict=False)
    )
    outside = round(BAND_OUTSIDE * len(before))
    low = trend[-1] + max(below[outside], min(-usual, below[-1]))
    high = trend[-1] + min(above[-1 - outside], max(usual, above[0]))
    if until is None:
        newest = [loss.values[place] for place in before[-BAND_NEWEST:]]
        away = median(value - level for value, level in zip(newest, trend[-1 - len(newest) : -1], strict=True))
        if not low <= trend[-1] + away <= high:
            steps = (abs(later - earlier) for earlier, later in pairwise(loss.values[place] for place in before))
            reach = max(BAND_DEVIATIONS * median(steps), max(newest) - min(newest))
            low, high = median(newest) - reach, median(newest) + reach
    return (low, high) if math.isfinite(low) and math.isfinite(high) and low <= high else None


def _span(loss: Series, finite: list[int]) -> float | None:
    if len(finite) < 2:
        return None
    return loss.steps[finite[-1]] - loss.steps[finite[-min(len(finite), RECENT_POINTS + EARLIER_POINTS)]]


def _loud_mark(series: RunSeries) -> tuple[float, str] | None:
    """The newest mark in the newest part of the run that a person should know of."""
    first, last = series.loss.steps[0], series.loss.steps[-1]
    since = last - max(WATCH_SHARE * (last - first), 1.0)
    found = [mark for mark in series.marks if mark.kind in LOUD and mark.step is not None and mark.step >= since]
    if not found:
        return None
    mark = max(found, key=lambda mark: mark.step or 0.0)
    assert mark.step is not None
    name = {"grad_norm": "grad norm", "lr": "learning rate"}.get(mark.metric, mark.metric)
    if mark.kind == "nonfinite":
        return mark.step, f"{name} was not finite for a moment"
    told = _PLACE.sub("", wording.first_clause(mark.text))
    kind = mark.kind.replace("_", " ")
    return mark.step, told or (kind if kind.startswith(name) else f"{name} {kind}")


def _last(series: Series) -> float | None:
    return series.values[-1] if len(series) else None


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
