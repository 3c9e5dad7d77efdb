"""Following logs through everything that happens to log files."""

import gzip
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.watcher.following import Follower, append, lines, steps
from watcher.globs import Globs
from watcher.lingering import LINGER_SECONDS
from watcher.tail import LONGEST_RESCAN_SECONDS


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(lines(0, 10))
    return path


@pytest.fixture
def writer(log):
    """Another process that appends to the log through one descriptor, as a job does."""
    with log.open("ab") as file:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)

    class Writer:
        def write(self, data):
            descriptor = os.open(f"/proc/{process.pid}/fd/1", os.O_RDONLY)
            size = os.fstat(descriptor).st_size + len(data)
            process.stdin.write(data)
            process.stdin.flush()
            while os.fstat(descriptor).st_size < size:
                time.sleep(0.001)
            os.close(descriptor)

    yield Writer()
    process.stdin.close()
    process.wait()


def test_what_is_appended_is_read_once(log):
    """Every line comes once, in order, however it is cut into writes."""
    follower = Follower(log).poll()
    for byte in lines(10, 13):
        append(log, bytes([byte]))
        follower.poll()

    assert steps(follower.lines) == list(range(13))


def test_a_file_that_appears_later_is_read_from_its_start(tmp_path):
    """A rank that starts late is followed as soon as its file is there."""
    follower = Follower(tmp_path / "rank*.log").poll()
    (tmp_path / "rank7.log").write_bytes(lines(0, 5))

    follower.poll(times=5)

    assert steps(follower.lines) == list(range(5))


@pytest.mark.parametrize("stalled", [0.0, 1.0, 8.0, 600.0])
def test_a_listing_that_took_long_is_no_reason_to_look_seldom(tmp_path, monkeypatch, stalled):
    """The machine was busy, or a file server slow: a log that appears then is followed some seconds later."""
    follower, matches = Follower(tmp_path / "rank*.log"), Globs.matches

    def slowly(self, pattern):
        follower.now += stalled
        return matches(self, pattern)

    with monkeypatch.context() as busy:
        busy.setattr(Globs, "matches", slowly)
        follower.poll()
    (tmp_path / "rank7.log").write_bytes(lines(0, 5))
    follower.poll(times=4 + 4 * round(min(stalled, LONGEST_RESCAN_SECONDS)))

    assert steps(follower.lines) == list(range(5))


def test_a_folder_in_place_of_a_log_is_named_and_its_pattern_told(tmp_path):
    """It is no log that is silently empty."""
    follower = Follower(tmp_path).poll()

    assert follower.batch.problems == (f"{tmp_path} is a folder; name the logs in it, as in '{tmp_path}/*.log'",)


def test_renamed_file_is_read_to_its_end(log, writer):
    """What a writer still puts into the renamed file is read beside the new one."""
    follower = Follower(log).poll()
    log.rename(log.with_name("train.log.1"))
    log.write_bytes(lines(20, 25))

    follower.poll()
    writer.write(lines(10, 20))
    follower.poll(times=3)

    assert sorted(steps(follower.lines)) == list(range(25))


def test_a_writer_that_never_reopens_is_followed_for_hours(log, writer):
    """A plain shell redirection writes on into the renamed file; the new name stays empty."""
    follower = Follower(log).poll()
    log.rename(log.with_name("train.log.1"))
    log.touch()
    follower.poll(times=50, seconds=100.0)

    writer.write(lines(10, 20))
    follower.poll()

    assert steps(follower.lines) == list(range(20))


def test_a_file_compressed_at_once_is_followed_through_its_open_handle(log, writer):
    """gzip reads the renamed file once and removes it while the job goes on writing to it."""
    follower = Follower(log).poll()
    rotated = log.with_name("train.log.1")
    log.rename(rotated)
    log.touch()
    rotated.with_name("train.log.1.gz").write_bytes(gzip.compress(rotated.read_bytes()))
    rotated.unlink()
    follower.poll(times=20, seconds=60.0)

    writer.write(lines(10, 20))
    follower.poll()

    assert steps(follower.lines) == list(range(20))


@pytest.mark.parametrize("compress", [False, True])
def test_after_copytruncate_the_rest_is_read_from_the_copy(log, compress):
    """Lines that were not read before the truncation are found in the rotated copy, plain or compressed."""
    follower = Follower(log).poll()
    append(log, lines(10, 1000))
    copy = log.with_name("train.log.1")
    shutil.copyfile(log, copy)
    if compress:
        copy.with_name("train.log.1.gz").write_bytes(gzip.compress(copy.read_bytes()))
        copy.unlink()
    os.truncate(log, 0)
    append(log, lines(1000, 1010))

    follower.poll(times=4)

    assert steps(follower.lines) == list(range(1010))


def test_truncated_and_regrown_past_the_old_place_is_noticed(log):
    """The bytes before the place differ, though the file is longer than before."""
    follower = Follower(log).poll()
    log.write_bytes(lines(500, 600))

    follower.poll(times=2)

    assert steps(follower.lines) == [*range(10), *range(500, 600)]


def test_the_hole_before_a_writer_that_kept_its_offset_is_stepped_over(log):
    """After copytruncate a `>` writer leaves a hole; no NUL reaches a reader, and no line is lost."""
    follower = Follower(log).poll()
    with log.open("r+b", buffering=0) as writer:
        writer.seek(1 << 30)
        writer.write(lines(10, 11))
        follower.poll()
        os.truncate(log, 0)
        writer.write(lines(11, 20))
        follower.poll(times=3)

    assert steps(follower.lines) == list(range(20))


def test_zeros_that_are_filled_in_later_are_not_passed_by(log):
    """A logger that reserves space ahead writes into it later: a tail of NULs is waited for, not skipped."""
    size = log.stat().st_size
    with log.open("r+b", buffering=0) as writer:
        os.posix_fallocate(writer.fileno(), 0, size + (1 << 20))
        follower = Follower(log).poll(times=3)
        writer.seek(size)
        writer.write(lines(10, 20))
        follower.poll(times=2)

    assert steps(follower.lines) == list(range(20))


def test_deleted_and_created_anew_is_a_new_file(log):
    """Even when the file system hands out the same inode again."""
    follower = Follower(log).poll()
    log.unlink()
    log.write_bytes(lines(100, 110))

    follower.poll(times=2)

    assert steps(follower.lines) == [*range(10), *range(100, 110)]


def test_rotated_twice_between_two_looks(log):
    """The file that came and went is read whole, in its turn."""
    follower = Follower(log).poll()
    log.rename(log.with_name("train.log.2"))
    log.with_name("train.log.1").write_bytes(lines(10, 20))
    os.utime(log.with_name("train.log.1"), (4e9, 4e9))
    log.write_bytes(lines(20, 30))

    follower.poll(times=3)

    assert steps(follower.lines) == list(range(30))


def test_rotated_copies_matched_by_the_pattern_are_not_logs_of_their_own(log):
    """`train.log*` means train.log; its copies are only looked into when something is missing."""
    log.with_name("train.log.1").write_bytes(lines(900, 910))
    log.with_name("train.log-20240131.gz").write_bytes(gzip.compress(lines(800, 810)))

    follower = Follower(log.parent / "train.log*").poll(times=3)

    assert steps(follower.lines) == list(range(10))


def test_a_numbered_log_is_no_copy_when_there_is_no_original(tmp_path):
    """`workerlog.3` of Paddle is rank 3, not an old `workerlog`."""
    for rank in range(4):
        (tmp_path / f"workerlog.{rank}").write_bytes(lines(rank, rank + 1))

    follower = Follower(tmp_path / "workerlog.*").poll()

    assert steps(follower.lines) == [0, 1, 2, 3]


def test_a_busy_file_does_not_starve_a_quiet_one(tmp_path):
    """Each file gets one piece in its turn."""
    (tmp_path / "a.log").write_bytes(lines(0, 100_000))
    (tmp_path / "b.log").write_bytes(lines(0, 1))
    follower = Follower(tmp_path / "*.log")

    follower.now += 0.25
    first = follower.tail.poll()

    assert [piece.source[-5:] for piece in first.pieces if piece.data] == ["a.log", "b.log"]
    assert first.has_more


def test_a_large_old_log_is_begun_near_its_end(log):
    """A log nobody watched is not judged from the beginning; what lies just before warms the baselines."""
    append(log, lines(10, 200))
    follower = Follower(log, start="end").poll()
    append(log, lines(200, 203))

    follower.poll()

    assert steps(follower.lines) == [200, 201, 202]
    assert steps(follower.warm) == list(range(200))


def test_more_files_than_may_be_open_are_all_read(tmp_path):
    """Quiet files give their descriptor back and are looked at in turn."""
    for rank in range(40):
        (tmp_path / f"rank{rank}.log").write_bytes(lines(rank, rank + 1))
    follower = Follower(tmp_path / "rank*.log", most_open=8).poll(times=60)
    before = len(list(Path("/proc/self/fd").iterdir()))

    for rank in range(40):
        append(tmp_path / f"rank{rank}.log", lines(100 + rank, 101 + rank))
    follower.poll(times=80)

    assert sorted(steps(follower.lines)) == [*range(40), *range(100, 140)]
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1


def test_a_deleted_file_is_let_go(log):
    """The disk gets its bytes back some minutes after a deleted log went quiet."""
    follower = Follower(log).poll()
    log.unlink()

    follower.poll(times=10, seconds=60.0)

    assert follower.batch.files == 0


def test_a_renamed_file_is_let_go_when_it_is_quiet(log):
    """After its writer moved on, the old file's descriptor is given back."""
    follower = Follower(log).poll()
    log.rename(log.with_name("train.log.1"))
    log.write_bytes(lines(10, 20))

    follower.poll(times=3, seconds=LINGER_SECONDS)

    assert all(len(marks) == 1 for marks in follower.places().values())
