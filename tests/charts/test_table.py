import csv
import io
import math

import pytest

from charts.table import to_csv
from diagnosis.series import RunSeries
from tests.charts.samples import STARTED, healthy, series_of


def rows_of(series, **options):
    return list(csv.DictReader(io.StringIO(to_csv(series, **options).decode())))


def test_one_row_for_each_step():
    """Metrics of the same step stand in one row, with the time in UTC."""
    series = RunSeries(
        "run42",
        loss=series_of("loss", [10, 20], [2.5, 2.25], [STARTED, STARTED + 1.5]),
        lr=series_of("lr", [20, 30], [1e-4, 2e-4], [STARTED + 1.5, STARTED + 3]),
    )

    assert rows_of(series) == [
        {"attempt": "1", "step": "10", "time": "2024-05-13T22:40:00.000Z", "loss": "2.5", "grad_norm": "", "lr": ""},
        {
            "attempt": "1",
            "step": "20",
            "time": "2024-05-13T22:40:01.500Z",
            "loss": "2.25",
            "grad_norm": "",
            "lr": "0.0001",
        },
        {"attempt": "1", "step": "30", "time": "2024-05-13T22:40:03.000Z", "loss": "", "grad_norm": "", "lr": "0.0002"},
    ]


def test_a_logged_nan_is_not_a_missing_value():
    """Empty means not logged; NaN and infinity are written as such."""
    values = [math.nan, math.inf, -math.inf, 1.0]
    series = RunSeries("run42", loss=series_of("loss", range(4), values), lr=series_of("lr", range(5), [1e-4] * 5))

    assert [row["loss"] for row in rows_of(series)] == ["NaN", "inf", "-inf", "1.0", ""]


def test_an_overwritten_step_keeps_both_values():
    """Two attempts that passed the same step are two rows; so are two values one attempt logged for it."""
    series = RunSeries("run42", loss=series_of("loss", [1, 2, 3, 2, 3, 3], [1, 2, 3, 4, 5, 6]))

    assert [(row["attempt"], row["step"], row["loss"]) for row in rows_of(series)] == [
        ("1", "1", "1.0"),
        ("1", "2", "2.0"),
        ("1", "3", "3.0"),
        ("2", "2", "4.0"),
        ("2", "3", "5.0"),
        ("2", "3", "6.0"),
    ]


def test_a_metric_that_began_later_belongs_to_the_newest_attempt():
    """Grad norm switched on with the resume is not the first attempt's."""
    series = RunSeries(
        "run42",
        loss=series_of("loss", [1, 2, 1, 2], [1, 2, 3, 4]),
        grad_norm=series_of("grad_norm", [1, 2], [0.1, 0.2]),
    )

    assert [(row["attempt"], row["grad_norm"]) for row in rows_of(series)] == [
        ("1", ""),
        ("1", ""),
        ("2", "0.1"),
        ("2", "0.2"),
    ]


def test_thinned_rows_keep_the_extremes():
    """A short file for a chat keeps the spike and the NaN, and says each number exactly."""
    series = healthy(50_000)
    series.loss.values[30_000], series.loss.values[40_000] = 77.125, math.nan

    rows = rows_of(series, most_rows=600)

    assert len(rows) < 3 * 600
    losses = {row["step"]: row["loss"] for row in rows}
    assert (losses["30000"], losses["40000"]) == ("77.125", "NaN")


def test_a_band_has_its_extremes_beside_it():
    """Points that stand for several have three columns."""
    loss = series_of("loss", [1, 2], [2.0, 3.0])
    loss.lows.extend([1.5, 2.5])
    loss.highs.extend([2.5, 9.0])

    assert rows_of(RunSeries("run42", loss=loss))[1]["loss_high"] == "9.0"


def test_nothing_is_a_header():
    """An empty run is an empty table."""
    assert to_csv(RunSeries("run42")) == b"attempt,step,time,loss,grad_norm,lr\n"


def test_times_no_calendar_knows_are_empty():
    """The row stays."""
    series = RunSeries("run42", loss=series_of("loss", [1, 2, 3], [1, 2, 3], [1e30, math.inf, math.nan]))

    assert [row["time"] for row in rows_of(series)] == ["", "", ""]


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        (5.611299991607666, "5.6113"),
        (12.543000221252441, "12.543"),
        (-0.0012300000526010990, "-0.00123"),
        (2.9999999242136255e-05, "3e-05"),
        (1234.5677490234375, "1234.568"),
        (123456792.0, "123456792.0"),
        (12345678.5, "12345680.0"),
        (0.1, "0.1"),
        (1e-30, "1e-30"),
        (0.0, "0.0"),
    ],
)
def test_a_number_is_written_as_it_was_logged(kept, written):
    """Seven digits matter; the rest is noise of the four bytes in which it is kept. Whole numbers stay."""
    rows = rows_of(RunSeries("run42", loss=series_of("loss", [1, 2], [kept, math.nan])))

    assert [row["loss"] for row in rows] == [written, "NaN"]
