"""Stamps of every style become Unix seconds; what a stamp lacks comes from what the log said before."""

import pytest

from diagnosis.formats.timestamps import Clock

NOON = 1714564800.0  # 2024-05-01 12:00:00 UTC


@pytest.mark.parametrize(
    ("line", "time", "style"),
    [
        ("2024-05-01 12:00:00 INFO x", NOON, "local"),
        ("2024-05-01 12:00:00,250 INFO x", NOON + 0.25, "local"),
        ("[2024-05-01 12:00:00.250000] x", NOON + 0.25, "local"),
        ("2024/05/01 12:00:00 x", NOON, "local"),
        ("2024-05-01T12:00:00.25Z x", NOON + 0.25, "zoned"),
        ("[2024-05-01T20:00:00+08:00] x", NOON, "zoned"),
        ("05/01/2024 12:00:00 - INFO", NOON, "local"),
        ("31/05/2024 12:00:00 - INFO", NOON + 30 * 86400, "local"),
        ("[20240501 12:00:00][rank-7/8] x", NOON, "local"),
        ("[ERROR] 2024-05-01-12:00:00 (PID:927000) x", NOON, "local"),
        ("EI0006: 2024-05-01-12:00:00.213.001 Getting socket", NOON + 0.213001, "local"),
        ("May  1 12:00:00 2024 x", NOON, "local"),
        ("DLL 2024-05-01 12:00:00.755998 - Iteration", NOON + 0.755998, "local"),
    ],
)
def test_a_dated_stamp_is_read(line, time, style):
    """Whatever stands between its parts."""
    clock = Clock()
    found = clock.find(line)

    assert found is not None
    assert found[2] == pytest.approx(time)
    assert clock.style == style


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("05/01 12:00:00 - mmengine - INFO", NOON),
        ("[05/01 12:00:00 d2.utils.events]:  eta: 0:03:49", NOON),
        ("I0501 12:00:00.500000 1 metric_logger.py:210]", NOON + 0.5),
        ("[W501 12:00:00.500000000 ProcessGroupNCCL.cpp:1250]", NOON + 0.5),
        ("May  1 12:00:00 node001 x", NOON),
    ],
)
def test_a_stamp_without_a_year_takes_it_from_the_log(line, time):
    """Or from the watcher's clock, while the log has none."""
    told, watched = Clock(), Clock()
    told.find("2024-03-01 00:00:00 first")
    watched.assume_day(NOON + 3600)

    for clock in (told, watched):
        found = clock.find(line)
        assert found is not None
        assert found[2] == pytest.approx(time)


def test_a_time_of_day_takes_its_date_from_the_log_and_passes_midnight():
    """`23:59:59` and then `00:00:01` are two seconds apart."""
    clock = Clock()
    clock.find("2024-05-01 12:00:00 first")

    late = clock.find("23:59:59 SUCCESS Step 0")
    early = clock.find("00:00:01 SUCCESS Step 1")

    assert late is not None
    assert early is not None
    assert early[2] - late[2] == 2


@pytest.mark.parametrize(
    "line",
    [
        "eta: 2:46:39  time: 2.8918",
        "elapsed 0:16:59, exp. remaining 0:03:45",
        "loss 1.5 step 20240501",
        "25:61:99 nonsense",
        "99/99/2024 12:00:00 nonsense",
        "",
    ],
)
def test_durations_and_nonsense_are_no_stamps(line):
    """A duration is not a time of day."""
    assert Clock().find(line) is None


def test_two_stamps_of_a_minute_are_read_alike():
    """The second one comes from memory."""
    clock = Clock()

    assert clock.read("2024-05-01 12:00:01.5") == NOON + 1.5
    assert clock.read("2024-05-01 12:00:59,25") == NOON + 59.25
    assert clock.read("2024-05-01 12:00:59") == NOON + 59
    assert clock.read("2024-05-01 12:00:59+01:00") == NOON + 59 - 3600
