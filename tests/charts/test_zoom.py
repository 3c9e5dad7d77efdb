from charts.zoom import last_points, last_seconds
from diagnosis.series import RunSeries
from tests.charts.samples import STARTED, healthy, series_of


def test_the_last_points_of_the_newest_attempt():
    """`--last 500` counts logged points, and never reaches back over a resume."""
    resumed = RunSeries("run42", loss=series_of("loss", [*range(0, 1000, 10), *range(500, 600, 10)], [2.0] * 110))

    assert last_points(resumed, 5) == (550, 590)
    assert last_points(resumed, 50) == (500, 590)


def test_the_last_seconds_by_the_clock_of_the_log():
    """`--last 2h` follows the times of the log."""
    series = RunSeries("run42", loss=series_of("loss", range(100), [2.0] * 100, [STARTED + 60 * i for i in range(100)]))

    assert last_seconds(series, 600) == (89, 99)
    assert last_seconds(healthy(), 1e9) == (0, 1999)


def test_without_points_or_times_there_is_no_last():
    """None is the answer, and the caller says why."""
    assert last_points(RunSeries("empty"), 5) is None
    assert last_seconds(RunSeries("empty"), 5) is None
    assert last_seconds(RunSeries("run42", loss=series_of("loss", [1, 2], [2.0, 2.0])), 5) is None
