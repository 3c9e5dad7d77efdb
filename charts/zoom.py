"""Which steps are the last two hours, or the last 500 points, of a run."""

import numpy as np

from charts.columns import Columns
from charts.loss import Zoom, columns_by_metric
from diagnosis.series import RunSeries


def last_points(series: RunSeries, count: int) -> Zoom | None:
    """From the step `count` logged points before the end, within the newest attempt, to the end; None: no points."""
    columns = _leading(series)
    if columns is None:
        return None
    newest = columns.step[columns.passes[-1] :]
    return float(newest[max(len(newest) - max(count, 1), 0)]), float(newest[-1])


def last_seconds(series: RunSeries, seconds: float) -> Zoom | None:
    """From the first step of the last so many seconds of the log to its end; None: the log tells no times."""
    columns = _leading(series)
    if columns is None:
        return None
    timed = columns.pick(np.isfinite(columns.time))
    if not len(timed):
        return None
    recent = timed.step[timed.time >= timed.time.max() - seconds]
    return float(recent.min()), float(recent.max())


def _leading(series: RunSeries) -> Columns | None:
    """The loss, or what else there is most of."""
    table = columns_by_metric(series)
    columns = table["loss"] if len(table["loss"]) else max(table.values(), key=len)
    return columns if len(columns) else None
