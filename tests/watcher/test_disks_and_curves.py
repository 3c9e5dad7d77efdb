"""What is said before a disk is full, what a rotation lost, and the run's own small file of numbers."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.findings import Cleared, Severity
from diagnosis.observations import Evidence, Origin, StepSample
from tests.watcher.conftest import findings, until
from watcher import curve_file
from watcher.curve_file import CurveFile
from watcher.disk_forecast import DiskForecast, DiskLook, full_in, say_bytes
from watcher.lost_lines import LostLines
from watcher.run_disks import look_at_disks

GB = 10**9


def look(at, free, *, checkpoint=None, folder="/data", device=1):
    return DiskLook(folder, device, free, 1000 * GB, at, checkpoint)


def texts(said):
    return [one.text for one in said]


def test_a_disk_that_fills_up_is_said_hours_before():
    """`full in about 3 h at this rate`, once; again when it becomes urgent; over when it has room again."""
    forecast = DiskForecast("run42", "node17")
    said = []
    for minute in range(180):
        said += forecast.look([look(60.0 * minute, 50 * GB - minute * GB // 4)])

    first, second = said
    assert first.severity is Severity.WARNING
    assert (
        "the disk of /data on node17 is full in about 3 h at this rate: 46 GB free, 15 GB more every hour" in first.text
    )
    assert (second.severity, second.kind) == (Severity.CRITICAL, "disk_forecast")
    over = [one for minute in range(180, 320) for one in forecast.look([look(60.0 * minute, 500 * GB)])]
    assert [type(one) for one in over] == [Cleared]


def test_a_quiet_disk_and_one_that_was_just_cleaned_say_nothing():
    forecast = DiskForecast("run42", "node17")
    sizes = [100 * GB + (7 * minute % 5) * 1000 for minute in range(120)] + [300 * GB] * 120

    assert [one for minute, free in enumerate(sizes) for one in forecast.look([look(60.0 * minute, free)])] == []
    assert full_in([(60.0 * minute, free) for minute, free in enumerate(sizes)]) is None


def test_too_few_looks_forecast_nothing():
    """A checkpoint being written in the first minutes is no rate."""
    assert full_in([(0.0, 100 * GB), (60.0, 50 * GB), (120.0, 10 * GB)]) is None


def test_a_checkpoint_that_will_not_fit_is_said_at_once_and_once():
    forecast = DiskForecast("run42", "node17")

    said = forecast.look([look(0.0, 900 * GB, checkpoint=1300 * GB)])
    again = forecast.look([look(60.0, 900 * GB, checkpoint=1300 * GB)])
    over = forecast.look([look(120.0, 1400 * GB, checkpoint=1300 * GB)])

    assert texts(said) == ["the next checkpoint of 1.3 TB will not fit into /data on node17: 900 GB free"]
    assert said[0].severity is Severity.CRITICAL
    assert (again, [type(one) for one in over]) == ([], [Cleared])


def test_one_disk_with_many_folders_is_one_forecast():
    forecast = DiskForecast("run42", "node17")

    said = [
        one
        for minute in range(20)
        for one in forecast.look([look(60.0 * minute, 10 * GB - minute * GB // 10, folder=f"/d/{n}") for n in range(9)])
    ]

    assert len(said) == 1


def test_only_settled_checkpoints_are_measured(tmp_path):
    """One that is still being written has no size yet."""
    (tmp_path / "checkpoint-1").mkdir()
    (tmp_path / "checkpoint-1" / "model.pt").write_bytes(b"x" * 1000)
    changed = (tmp_path / "checkpoint-1" / "model.pt").stat().st_mtime

    (fresh,) = look_at_disks([], [], [str(tmp_path)], changed + 1)
    (settled,) = look_at_disks([], [], [str(tmp_path)], changed + 100)

    assert (fresh.checkpoint_bytes, settled.checkpoint_bytes) == (None, 1000)


@pytest.mark.parametrize(("count", "said"), [(1.3e12, "1.3 TB"), (12e9, "12 GB"), (5, "5 bytes"), (1500, "1.5 kB")])
def test_sizes_are_said_as_disks_are_sold(count, said):
    assert say_bytes(count) == said


def sample(step, *, file="train.log", rank=None, loss=2.5):
    return StepSample(
        Origin("run42", "node17", rank), step, "printed", loss, Evidence(file, step, f"step {step}", step)
    )


def fed(lost, steps, **more):
    return [found for step in steps if (found := lost.observe(sample(step, **more), 0)) is not None]


def test_a_hole_right_after_a_rotation_is_told_once():
    lost = LostLines()
    fed(lost, range(100))
    lost.rotated("train.log")

    (found,) = fed(lost, [100, 101, 105, 106, 110])

    assert (
        "about 3 loss lines are missing after a rotation of the log: it goes on at step 105 after step 101"
        in found.text
    )
    assert (found.kind, found.step) == ("lines_lost", 105)


def test_without_a_hole_or_without_a_rotation_nothing_is_told():
    """Every tenth step is no hole; a jump without a rotation is somebody else's business; nor is a new attempt."""
    lost = LostLines()
    lost.rotated("train.log")
    assert fed(lost, range(0, 1000, 10)) == []
    calm = LostLines()
    assert fed(calm, [*range(50), 90, 91]) == []
    anew = LostLines()
    fed(anew, range(50))
    anew.rotated("train.log")
    assert anew.observe(sample(500), 1) is None


def test_ranks_in_one_file_are_counted_apart():
    lost = LostLines()
    for step in range(50):
        for rank in range(4):
            assert lost.observe(sample(step, rank=rank), 0) is None
    lost.rotated("train.log")

    assert [lost.observe(sample(50, rank=rank), 0) for rank in range(4)] == [None] * 4


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_curve_survives_a_torn_line_and_goes_on(tmp_path):
    curve = CurveFile(tmp_path, "run42")
    curve.add(sample(1), 0)
    curve.write()
    with curve.path.open("a") as file:
        file.write("0,2,2.")

    again = CurveFile(tmp_path, "run42")
    again.add(sample(3, loss=math.nan), 1)
    again.write()

    assert [(row["attempt"], row["step"], row["loss"]) for row in rows(curve.path)] == [
        ("0", "1", "2.5"),
        ("0", "2", "2."),
        ("1", "3", "nan"),
    ]


def test_the_curve_never_takes_more_than_its_share(tmp_path, monkeypatch):
    monkeypatch.setattr(curve_file, "MOST_BYTES", 1000)
    curve = CurveFile(tmp_path, "run42")

    for step in range(500):
        curve.add(sample(step), 0)
        curve.write()

    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2500
    assert len(list(tmp_path.iterdir())) == 2


async def test_a_watcher_keeps_the_curve_and_tells_what_a_rotation_lost(watching, settings, registry, log, monkeypatch):
    """Followed live: the numbers stand in the run's own file, the hole is a finding."""
    monkeypatch.setattr("watcher.run_watch.CURVE_SECONDS", 0.1)

    def write(first, last):
        with log.open("ab") as file:
            file.write(b"".join(b"step=%d loss=2.5 lr=0.0001 grad_norm=1.0\n" % step for step in range(first, last)))

    write(0, 50)
    await watching(settings)
    curve = settings.home / "curves" / "run42.csv"

    async def has_rows(count=50):
        return curve.exists() and len(rows(curve)) >= count

    await until(has_rows)
    Path(f"{log}.1").write_bytes(log.read_bytes())
    log.write_bytes(b"")
    write(57, 70)
    (found,) = await until(lambda: findings(registry, "lines_lost"))

    assert "about 7 loss lines are missing" in found.text
    await until(lambda: has_rows(63))


async def test_a_watcher_says_that_the_next_checkpoint_will_not_fit(watching, settings, registry, log, monkeypatch):
    log.write_bytes(b"step=1 loss=2.5 lr=0.0001 grad_norm=1.0\n")
    monkeypatch.setattr(
        "watcher.run_disks.look_at_disks", lambda *_: [look(1.0, 900 * GB, checkpoint=1300 * GB, folder="/ckpt")]
    )

    await watching(replace(settings, disk_look_seconds=0.1))

    (found,) = await until(lambda: findings(registry, "disk_forecast"))
    assert "1.3 TB will not fit into /ckpt" in found.text
