"""The chart of a stop: utilisation and power of every GPU over time, or of those that differ from the rest."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from charts.columns import Columns, Floats
from charts.drawing import paint_gpus
from charts.look import Look
from charts.names import one_line, shortened
from charts.thinning import condensed
from charts.ticks import Tick, time_ticks
from charts.words import is_a_time, say_clock, say_count, say_day
from diagnosis.observations import GpuSample

MOST_ROWS = 16
MOST_DIFFERING = 11
"""Where there are more GPUs than rows: those that differ most, then all others in one row."""
GRID = 240
"""Moments at which many GPUs are laid over each other."""
DIFFERS_BY_PERCENT, DIFFERS_BY_POWER = 25.0, 0.15
"""From which distance to the middle of all GPUs one differs: points of utilisation, share of the power limit."""

Gpu = tuple[str, int]
"""Node and the driver's index."""


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One GPU, or many that are alike, over time. Power is a share of the highest limit."""

    name: str
    time: Floats
    utilisation: Floats
    power: Floats
    reading: str
    problem_at: float | None = None
    """When the driver stopped giving readings."""
    bands: tuple[Floats, Floats, Floats, Floats] | None = None
    """Lowest and highest utilisation, lowest and highest power of many GPUs."""
    is_odd: bool = False
    """It differs from the others."""


@dataclass(frozen=True, slots=True)
class GpuSketch:
    """What the chart shows."""

    look: Look
    title: str
    facts: tuple[str, ...]
    rows: tuple[GpuRow, ...]
    first: float
    last: float
    ticks: tuple[Tick, ...]
    day: str
    power_watts: float
    """What the upper edge of a row means."""
    stopped_at: float | None = None
    stopped_words: str = ""


def draw_gpus(
    samples: Sequence[GpuSample],
    look: Look,
    *,
    stopped_at: float | None = None,
    ranks: Mapping[Gpu, int] | None = None,
    title: str = "GPUs",
    title_facts: Sequence[str] = (),
) -> bytes:
    """A PNG with one row per GPU.

    Args:
        samples: Readings in any order.
        look: Light or dark.
        stopped_at: When progress stopped, Unix seconds on the clock of the samples; None: not known.
        ranks: The global rank that runs on a GPU (node, index), where that is known.
        title: Usually the run's name.
        title_facts: Short facts for the line below the title.
    """
    return paint_gpus(
        sketch_gpus(samples, look, stopped_at=stopped_at, ranks=ranks, title=title, title_facts=title_facts)
    )


def sketch_gpus(
    samples: Sequence[GpuSample],
    look: Look,
    *,
    stopped_at: float | None = None,
    ranks: Mapping[Gpu, int] | None = None,
    title: str = "GPUs",
    title_facts: Sequence[str] = (),
) -> GpuSketch:
    """What `draw_gpus` shows."""
    tracks = _tracks([sample for sample in samples if is_a_time(sample.time)])
    top = _power_top(tracks)
    first, last = _extent(tracks, stopped_at)
    rows = _rows(tracks, top, stopped_at, (first, last), ranks or {})
    nodes = {track.gpu[0] for track in tracks}
    facts = [one_line(fact) for fact in title_facts] or [_say_counts(len(tracks), nodes)]
    known_stop = stopped_at if stopped_at is not None and is_a_time(stopped_at) else None
    return GpuSketch(
        look=look,
        title=one_line(title) or "GPUs",
        facts=tuple(facts),
        rows=rows,
        first=first,
        last=last,
        ticks=time_ticks(first, last) if tracks else (),
        day=say_day(first) if tracks else "",
        power_watts=top,
        stopped_at=known_stop,
        stopped_words=f"stopped {say_clock(known_stop, 0)}" if known_stop is not None else "",
    )


@dataclass(frozen=True, slots=True)
class _Track:
    """All readings of one GPU, by time."""

    gpu: Gpu
    time: Floats
    utilisation: Floats
    watts: Floats
    limit: float | None
    problem: str | None
    problem_at: float | None

    def after(self, moment: float) -> "tuple[float, float]":
        """Middle utilisation and power from a moment on; NaN where nothing was read."""
        wanted = self.time >= moment
        return _middle(self.utilisation[wanted]), _middle(self.watts[wanted])


def _tracks(samples: Sequence[GpuSample]) -> list[_Track]:
    by_gpu: dict[Gpu, list[GpuSample]] = {}
    for sample in samples:
        by_gpu.setdefault((sample.node, sample.gpu_index), []).append(sample)
    return [_track(gpu, sorted(own, key=lambda sample: sample.time)) for gpu, own in sorted(by_gpu.items())]


def _track(gpu: Gpu, own: Sequence[GpuSample]) -> _Track:
    problems = [sample for sample in own if sample.problem]
    # A problem that went away is no longer what the row should say.
    problem = problems[-1] if problems and problems[-1] is own[-1] else None
    limits = [sample.power_limit_watts for sample in own if sample.power_limit_watts]
    since = problem.time if problem else None
    for sample in reversed(own):
        if problem is None or not sample.problem:
            break
        since = sample.time
    return _Track(
        gpu=gpu,
        time=np.array([sample.time for sample in own], dtype=np.float64),
        utilisation=_numbers([sample.utilization_percent for sample in own]),
        watts=_numbers([sample.power_watts for sample in own]),
        limit=max(limits, default=None),
        problem=shortened(one_line(problem.problem or ""), 22) if problem else None,
        problem_at=since,
    )


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _middle(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else math.nan


def _power_top(tracks: Sequence[_Track]) -> float:
    """The highest limit; the highest reading where the driver gave no limit."""
    limits = [track.limit for track in tracks if track.limit is not None and math.isfinite(track.limit)]
    readings = [float(track.watts[np.isfinite(track.watts)].max(initial=0.0)) for track in tracks]
    return max(limits or readings, default=0.0) or 1.0


def _extent(tracks: Sequence[_Track], stopped_at: float | None) -> tuple[float, float]:
    if not tracks:
        return 0.0, 1.0
    first, last = min(float(track.time[0]) for track in tracks), max(float(track.time[-1]) for track in tracks)
    if stopped_at is not None and is_a_time(stopped_at):
        first, last = min(first, stopped_at), max(last, stopped_at)
    return (first, last) if last > first else (first - 30.0, last + 30.0)


def _rows(
    tracks: Sequence[_Track],
    top: float,
    stopped_at: float | None,
    extent: tuple[float, float],
    ranks: Mapping[Gpu, int],
) -> tuple[GpuRow, ...]:
    scores = _differences(tracks, top, stopped_at if stopped_at is not None else extent[0] + np.ptp(extent) * 2 / 3)
    has_nodes = len({track.gpu[0] for track in tracks}) > 1
    rows = [
        replace(_row(track, top, extent, _name(track.gpu, ranks, has_nodes=has_nodes)), is_odd=score > 1)
        for track, score in zip(tracks, scores, strict=True)
    ]
    if len(rows) <= MOST_ROWS:
        return tuple(rows)
    order = sorted(range(len(rows)), key=lambda index: -scores[index])
    odd = sorted(index for index in order[:MOST_DIFFERING] if scores[index] > 1)
    others = [track for index, track in enumerate(tracks) if index not in set(odd)]
    return (*(rows[index] for index in odd), _summary(others, top, extent, has_odd=bool(odd)))


def _differences(tracks: Sequence[_Track], top: float, since: float) -> list[float]:
    """How far each GPU is from the middle of all, in units of what counts as differing; a lost one is furthest."""
    middles = [track.after(since) for track in tracks]
    usual, usual_watts = (_middle(np.array(column)) for column in zip(*middles, strict=True)) if middles else (0, 0)
    scores = []
    for track, (percent, watts) in zip(tracks, middles, strict=True):
        if track.problem is not None or (math.isnan(percent) and math.isnan(watts) and not math.isnan(usual)):
            scores.append(math.inf)
            continue
        distances = (abs(percent - usual) / DIFFERS_BY_PERCENT, abs(watts - usual_watts) / top / DIFFERS_BY_POWER)
        scores.append(max((distance for distance in distances if not math.isnan(distance)), default=0.0))
    return scores


def _name(gpu: Gpu, ranks: Mapping[Gpu, int], *, has_nodes: bool) -> str:
    node, index = gpu
    where = f"{shortened(one_line(node), 12)} GPU {index}" if has_nodes else f"GPU {index}"
    return f"rank {ranks[gpu]} · {where}" if gpu in ranks else where


def _row(track: _Track, top: float, extent: tuple[float, float], name: str) -> GpuRow:
    """The readings, with a gap where the sampling paused."""
    time, utilisation, power = track.time, track.utilisation, track.watts / top
    gaps = np.flatnonzero(np.diff(time) > _longest_pause(time)) + 1
    time, utilisation, power = (
        np.insert(time, gaps, time[gaps]),
        np.insert(utilisation, gaps, np.nan),
        np.insert(power, gaps, np.nan),
    )
    time_of_power, power = _few(time, power)
    time, utilisation = _few(time, utilisation)
    if len(time) != len(time_of_power):
        power = np.interp(time, time_of_power, power)
    is_silent = extent[1] - track.time[-1] > 3 * _longest_pause(track.time)
    reading = track.problem or ("no reading" if is_silent else _say_reading(track.utilisation[-1], track.watts[-1]))
    return GpuRow(name, time, utilisation, power, reading, track.problem_at)


def _few(time: Floats, values: Floats) -> tuple[Floats, Floats]:
    rows = condensed(Columns(time, time, values, values, values))
    return rows.step, np.where(np.isfinite(rows.value), rows.value, np.nan)


def _longest_pause(time: Floats) -> float:
    return max(3.5 * float(np.median(np.diff(time))), 5.0) if len(time) > 1 else 5.0


def _say_reading(percent: float, watts: float) -> str:
    parts = [f"{percent:.0f} %" if math.isfinite(percent) else "", f"{watts:.0f} W" if math.isfinite(watts) else ""]
    return " · ".join(part for part in parts if part) or "no reading"


def _summary(tracks: Sequence[_Track], top: float, extent: tuple[float, float], *, has_odd: bool) -> GpuRow:
    """Many GPUs in one row: their middle, and between which values they all lie."""
    edges = np.linspace(extent[0], extent[1], GRID + 1)
    grids = [
        (_gridded(track.time, track.utilisation, edges), _gridded(track.time, track.watts, edges)) for track in tracks
    ]
    used, watts = (np.array(column) for column in zip(*grids, strict=True))
    with np.errstate(all="ignore"):
        low, high = np.fmin.reduce(used), np.fmax.reduce(used)
        low_power, high_power = np.fmin.reduce(watts) / top, np.fmax.reduce(watts) / top
        middle, middle_power = _column_medians(used), _column_medians(watts)
    count = f"{say_count(len(tracks))} {'others' if has_odd else 'GPUs'}"
    known = np.flatnonzero(np.isfinite(middle) | np.isfinite(middle_power))
    reading = _say_reading(middle[known[-1]], middle_power[known[-1]]) if len(known) else "no reading"
    moments = (edges[:-1] + edges[1:]) / 2
    return GpuRow(count, moments, middle, middle_power / top, reading, bands=(low, high, low_power, high_power))


def _gridded(time: Floats, values: Floats, edges: Floats) -> Floats:
    """The newest known reading at each moment, for as long as readings usually hold."""
    known = np.isfinite(values)
    time, values = time[known], values[known]
    if not len(time):
        return np.full(GRID, np.nan)
    place = np.searchsorted(time, edges[1:], side="right") - 1
    age = edges[1:] - time[np.maximum(place, 0)]
    is_fresh = (place >= 0) & (age <= max(_longest_pause(time), edges[1] - edges[0]))
    return np.where(is_fresh, values[np.maximum(place, 0)], np.nan)


def _column_medians(values: Floats) -> Floats:
    return np.array([_middle(column) for column in values.T])


def _say_counts(count: int, nodes: set[str]) -> str:
    if not count:
        return "no GPU readings"
    gpus = f"{say_count(count)} GPU{'s' if count != 1 else ''}"
    return f"{gpus} on {one_line(next(iter(nodes)))}" if len(nodes) == 1 else f"{gpus} on {say_count(len(nodes))} nodes"
