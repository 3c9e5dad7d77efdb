"""Moves the facts of a loss series, and the curves of a chart, past many points."""
# ruff: noqa: SLF001 - a twin moves what a summary and a thinner remember

import numpy as np

from diagnosis.formats.bulk.block import Whole
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.run import Run
from diagnosis.summary import KEPT_POINTS, LOOK_BACK, MOST, LossSummary, Rank
from diagnosis.thinning import KEPT_NONFINITE, Bucket, RunThinner, Thinner


class SummaryTwin:
    """Moves a `LossSummary` past points that no other rank has told."""

    def __init__(self, summary: LossSummary) -> None:
        self._of = summary

    def calm(self, run: Run) -> int:
        """How many points are news by their step alone."""
        of, rank = self._of, self._of._rank
        is_first = rank is None or of._origin is not run.block.origin or (run.loss is not None and of.first is None)
        if is_first or rank is None:
            return 0
        if run.loss is None:
            return len(run) if of._step_kind != "none" else 0
        is_news = rank.last_step is not None and int(run.steps[0]) > rank.last_step and rank.cursor == len(of._steps)
        return len(run) if is_news and int(run.steps[-1]) < MOST else 0

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of, rank = self._of, self._of._rank
        assert rank is not None
        skipped = run.field("skipped_steps")
        if skipped is not None:
            told = skipped[:count]
            rank.counter += int(np.trunc(told[np.isfinite(told)]).sum())
        if run.loss is None:
            if of._leads(run.sample(0)):
                self._take_rest(run, count)
            return
        kept = slice(max(0, count - LOOK_BACK), count)
        rank.recent.extend(zip(run.steps[kept].tolist(), run.loss[kept].tolist(), strict=True))
        rank.last_step = int(run.steps[count - 1])
        self._keep(run.steps[:count], run.loss[:count])
        rank.cursor = len(of._steps)
        of.points += count
        of.last = run.sample(count - 1)
        if run.is_finite:
            self._take_finite(rank, run, count)
        else:
            of.nonfinite += count
        self._take_rest(run, count)

    def _keep(self, steps: Whole, losses: Floats) -> None:
        """The points by which other ranks' repeats are recognised."""
        of, place = self._of, 0
        told = steps.astype(np.float64)
        while place < len(told):
            room = KEPT_POINTS + 1 - len(of._steps)
            of._steps.frombytes(told[place : place + room].tobytes())
            of._losses.frombytes(losses[place : place + room].tobytes())
            place += room
            if len(of._steps) > KEPT_POINTS:
                of._forget()

    def _take_finite(self, rank: Rank, run: Run, count: int) -> None:
        of, loss = self._of, run.loss
        assert loss is not None
        first = 0 if rank.finite is not None else 1
        known = loss[:count] if rank.finite is None else np.concatenate(([rank.finite], loss[:count]))
        deltas = np.abs(np.diff(known))
        if len(deltas):
            place = int(deltas.argmax())
            if of._jump is None or deltas[place] > of._jump[0]:
                of._jump = (float(deltas[place]), run.sample(place + first), float(known[place]))
        rank.finite = float(loss[count - 1])

    def _take_rest(self, run: Run, count: int) -> None:
        of = self._of
        if run.norm is not None:
            of.grad_norm_points += count
            if run.has_finite_norm:
                place = int(run.norm[:count].argmax())
                value = float(run.norm[place])
                if of._grad_norm_max is None or value > of._grad_norm_max[0]:
                    of._grad_norm_max = (value, int(run.steps[place]))
        if run.lr is not None:
            of.lr_points += count
            of.last_lr = float(run.lr[count - 1])


def draw(thinner: RunThinner, run: Run, count: int) -> None:
    """Add the first points of a run to the curves of a chart."""
    steps = run.steps[:count].astype(np.float64)
    times = None if run.times is None else run.times[:count]
    for name, column in (("loss", run.loss), ("grad_norm", run.norm), ("lr", run.lr)):
        if column is not None:
            _add(thinner._metrics[name], steps, column[:count], times)


def _add(of: Thinner, steps: Floats, values: Floats, times: Floats | None) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        of.nonfinite += len(bad)
        for place in bad[: KEPT_NONFINITE - len(of._bad)].tolist():
            time = None if times is None else float(times[place])
            of._bad.append((float(steps[place]), float(values[place]), time))
        steps, values = steps[finite], values[finite]
        times = None if times is None else times[finite]
    place, count = 0, len(values)
    if not count:
        return
    of.points += count
    of._first = of._first or _point(steps, values, times, 0)
    of._last = _point(steps, values, times, count - 1)
    while place < count:
        bucket = of._buckets[-1] if of._buckets else None
        if bucket is None or bucket.count >= of.width:
            if len(of._buckets) == of._most:
                of._double()
                continue
            whole = min((count - place) // of.width, of._most - len(of._buckets))
            if whole > 1:
                stop = place + whole * of.width
                cut = None if times is None else times[place:stop]
                of._buckets += _buckets(steps[place:stop], values[place:stop], cut, of.width)
                place = stop
                continue
            step, value, time = _point(steps, values, times, place)
            of._buckets.append(Bucket(1, step, step, time, value, value, step, value, step))
            place += 1
            continue
        stop = min(count, place + of.width - bucket.count)
        _extend(bucket, steps[place:stop], values[place:stop], None if times is None else float(times[stop - 1]))
        place = stop


def _extend(bucket: Bucket, steps: Floats, values: Floats, time: float | None) -> None:
    """As `Thinner._extend` for one point after the other, with the same rounding."""
    bucket.count += len(values)
    bucket.last_step = float(steps[-1])
    bucket.time = bucket.time if time is None else time
    if len(values) < 8:
        for value in values.tolist():
            bucket.total += value
    else:
        bucket.total = float(np.cumsum(np.concatenate(([bucket.total], values)))[-1])
    low, high = int(values.argmin()), int(values.argmax())
    if values[low] < bucket.lowest:
        bucket.lowest, bucket.lowest_step = float(values[low]), float(steps[low])
    if values[high] > bucket.highest:
        bucket.highest, bucket.highest_step = float(values[high]), float(steps[high])


def _buckets(steps: Floats, values: Floats, times: Floats | None, width: int) -> list[Bucket]:
    """Whole buckets, as if their points had been added one after the other."""
    rows, table = values.reshape(-1, width), steps.reshape(-1, width)
    low, high = rows.argmin(axis=1), rows.argmax(axis=1)
    count = np.arange(len(rows))
    columns = (
        np.cumsum(rows, axis=1)[:, -1],
        rows[count, low],
        table[count, low],
        rows[count, high],
        table[count, high],
    )
    ends = [None] * len(rows) if times is None else times.reshape(-1, width)[:, -1].tolist()
    told = zip(table[:, 0].tolist(), table[:, -1].tolist(), ends, *(column.tolist() for column in columns), strict=True)
    return [Bucket(width, *one) for one in told]


def _point(steps: Floats, values: Floats, times: Floats | None, place: int) -> tuple[float, float, float | None]:
    return float(steps[place]), float(values[place]), None if times is None else float(times[place])
