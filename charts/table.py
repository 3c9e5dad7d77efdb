"""A run's numbers as a CSV file, for a spreadsheet or a notebook."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from charts.columns import Columns, Floats
from charts.loss import columns_by_metric
from charts.thinning import in_order, thin
from diagnosis.series import RunSeries

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["attempt", "step", "repeat"]
ROWS_PER_BUCKET = 6
DIGITS, SMALLEST = 7, 1e-15
"""Digits that matter; what is smaller than this is written as it is."""
LATEST = 200e9
"""No calendar reaches further (the year 8307); logs hold such numbers all the same."""


def to_csv(series: RunSeries, *, most_rows: int | None = None) -> bytes:
    """UTF-8 CSV with one row per attempt and step: `attempt, step, time, loss, grad_norm, lr`.

    A value that was not logged is empty, one that was logged as NaN or infinite is `NaN`, `inf` or `-inf`. Points
    that stand for several have `…_low` and `…_high` beside them. Times are ISO 8601 in UTC (a log without zone: its
    own clock). With `most_rows` each metric is thinned first; extremes and non-finite points stay.
    """
    import pandas as pd  # noqa: PLC0415 - it takes longer to load than the bot to start

    table = {name: in_order(columns) for name, columns in columns_by_metric(series).items()}
    if most_rows is not None:
        table = {name: thin(columns, max(most_rows // ROWS_PER_BUCKET, 1)) for name, columns in table.items()}
    attempts = max((len(columns.passes) for columns in table.values()), default=0)
    frames = [_frame(name, columns, attempts) for name, columns in table.items() if len(columns)]
    if not frames:
        return b"attempt,step,time,loss,grad_norm,lr\n"
    joined = frames[0]
    for frame in frames[1:]:
        joined = _joined(joined, frame)
    out = pd.DataFrame({"attempt": joined["attempt"], "step": _whole(joined["step"].to_numpy(dtype=np.float64))})
    out["time"] = _say_times(joined["time"].to_numpy(dtype=np.float64))
    for name in table:
        for column in (name, f"{name}_low", f"{name}_high"):
            if column in joined:
                out[column] = _said(_short(joined[column]), joined[f"{name}_logged"])
            elif column == name:
                out[column] = ""
    return out.to_csv(index=False).encode()


def _joined(left: "pd.DataFrame", right: "pd.DataFrame") -> "pd.DataFrame":
    """Both metrics in one row where they were logged for the same step."""
    if left[KEYS].equals(right[KEYS]):  # the usual log has every metric in every line
        return left.assign(**{str(name): right[name] for name in right if name not in left})
    joined = left.merge(right, on=KEYS, how="outer", sort=True)
    joined["time"] = joined.pop("time_x").combine_first(joined.pop("time_y"))
    return joined


def _frame(name: str, columns: Columns, attempts: int) -> "pd.DataFrame":
    """One metric with its keys. The newest attempt is the newest of every metric, whichever began later."""
    import pandas as pd  # noqa: PLC0415 - the same

    starts = columns.passes
    number = np.searchsorted(starts, np.arange(len(columns)), side="right") + (attempts - len(starts))
    frame = pd.DataFrame({"attempt": number, "step": columns.step, "time": columns.time, name: columns.value})
    frame["repeat"] = frame.groupby(["attempt", "step"]).cumcount()
    frame[f"{name}_logged"] = True
    if columns.is_band:
        frame[f"{name}_low"], frame[f"{name}_high"] = columns.low, columns.high
    return frame


def _whole(steps: Floats) -> NDArray[np.int64] | Floats:
    """Steps as whole numbers where all of them are."""
    is_whole = (np.abs(steps) < 2**53).all() and (steps == np.floor(steps)).all()
    return steps.astype(np.int64) if is_whole else steps


def _say_times(times: Floats) -> NDArray[np.object_]:
    """ISO 8601, empty where the time is not known."""
    known = np.abs(times) < LATEST
    moments = np.where(known, times, 0.0) * 1000
    said = np.datetime_as_string(moments.round().astype("datetime64[ms]"), unit="ms").astype(object)
    return np.where(known, said + "Z", "")


def _short(values: "pd.Series[float]") -> "pd.Series[float]":
    """At most seven digits that matter, as many as a log prints: 5.6113, which is kept as 5.611299991607666."""
    raw = values.to_numpy(dtype=np.float64)
    is_told = np.isfinite(raw) & (raw != np.floor(raw)) & (np.abs(raw) > SMALLEST)
    told = np.where(is_told, raw, 1.5)
    places = DIGITS - 1 - np.floor(np.log10(np.abs(told)))
    shifted = np.round(told * 10.0**places)
    # A division by a power of ten is exact to the last digit where a product with its inverse is not.
    rounded = np.where(places >= 0, shifted / 10.0 ** np.maximum(places, 0), shifted * 10.0 ** np.maximum(-places, 0))
    return values.where(~is_told, rounded)


def _said(values: "pd.Series[float]", logged: "pd.Series[bool]") -> "pd.Series[float] | pd.Series[str]":
    """Values with a word where NaN was logged, so that it is not taken for nothing."""
    is_nan = values.isna() & logged.notna()
    if not is_nan.any():
        return values
    said = values.astype(object)
    said[is_nan] = "NaN"
    return said
