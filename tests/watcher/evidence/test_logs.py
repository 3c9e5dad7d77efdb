"""Which parts of a log are saved, and what is never opened."""

import gzip
import itertools
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from watcher import excerpts
from watcher.bins import Bin
from watcher.evidence.collector import Outcome
from watcher.evidence.log_tails import LogTails, _Pace
from watcher.evidence.rotated_logs import RotatedLogs
from watcher.excerpts import Span, spans
from watcher.identity import FileId
from watcher.moments import Moment
from watcher.settings import WatchedRun


def line(number):
    return b"step %08d loss 2.5 padding padding padding padding padding padding pad\n" % number


def lines(count, start=0):
    return b"".join(line(number) for number in range(start, start + count))


def moment(path, offset, file_id=None):
    found = file_id or FileId.of(path.stat())
    return Moment("nonfinite_loss", "loss is NaN", str(path), 1, "loss nan", 5, 0.0, {str(path): (found, offset)})


def test_a_short_log_is_saved_whole(tmp_path, scene_of, into, saved):
    log = tmp_path / "rank0.log"
    log.write_bytes(lines(1000))

    result = LogTails().collect(scene_of(log), into)

    assert (result.outcome, saved("rank0.log"), into.files[0].is_cut) == (Outcome.COLLECTED, lines(1000), False)


def test_of_a_long_log_head_trouble_and_end_are_saved(tmp_path, scene_of, saved, monkeypatch):
    """In order, in whole lines, and what was left out is named with its bytes."""
    log = tmp_path / "rank0.log"
    log.write_bytes(lines(100_000))
    trouble = len(line(0)) * 50_000
    folder = tmp_path / "snapshot"
    folder.mkdir()

    LogTails().collect(scene_of(log, moments=(moment(log, trouble),)), into := Bin(folder, 800_000))

    text = saved("rank0.log")
    assert text.startswith(line(0))
    assert text.endswith(line(99_999))
    assert line(50_000) in text
    assert text.count(b"were left out here, from byte") == 2
    assert into.files[0].is_cut
    known = set(lines(100_000).splitlines())
    assert {
        one for one in text.splitlines() if one and one not in known and not one.startswith(b"[runwatch: ")
    } == set()


def test_a_single_log_gets_its_whole_share(tmp_path, scene_of, into):
    """The pace of a node is only asked for where there are many."""
    log = tmp_path / "rank0.log"
    log.write_bytes(lines(150_000))

    LogTails().collect(scene_of(log), into)

    assert 7 << 20 < into.files[0].bytes <= 8 << 20


def test_many_logs_on_a_slow_node_each_get_something(monkeypatch):
    """Less of each, not nothing of most; never less than some lines."""
    now = iter([100.0, 101.0, 140.0])
    monkeypatch.setattr("watcher.evidence.log_tails.time", SimpleNamespace(monotonic=lambda: next(now)))
    into = SimpleNamespace(left=100 << 20, seconds_left=20.0)
    pace = _Pace(8 << 20, 101, into)

    first = pace.share(0)
    into.left, into.seconds_left = 99 << 20, 19.0
    second = pace.share(1)
    into.seconds_left = 0.1
    last = pace.share(90)

    assert (first, second, last) == (1 << 20, int(0.7 * (1 << 20) * 19 / 100), 64 << 10)


@pytest.mark.parametrize("size", [0, 1, 100, 5_000, 10_000_000])
def test_spans_never_hold_more_than_their_share(size):
    """Apart, in order, within the file."""
    for share in (1, 1000, 100_000):
        for moments in ((), (0,), (size,), (size // 2, size // 3)):
            found = spans(size, share, moments)
            assert sum(span.end - span.start for span in found) <= share + 1
            assert all(one.end < other.start for one, other in itertools.pairwise(found))
            assert all(0 <= span.start < span.end <= size for span in found if size)
    assert spans(100, 1000, ()) == [Span(0, 100)]


def test_a_sparse_log_of_a_tebibyte_is_done_at_once(tmp_path, scene_of, into, saved):
    """Holes are not read, and zeros are not saved."""
    log = tmp_path / "rank0.log"
    with log.open("wb") as file:
        file.write(lines(10))
        file.truncate(1 << 40)
        file.seek(0, os.SEEK_END)
        file.write(lines(10, 10))

    result = LogTails().collect(scene_of(log), into)

    assert result.outcome is Outcome.COLLECTED
    assert lines(10, 10) in saved("rank0.log")
    assert b"\0" not in saved("rank0.log")


def test_what_is_no_regular_file_is_never_opened(tmp_path, scene_of, into):
    """A link, a FIFO, a device, a folder and a link in the way are refused, each with its reason."""
    secret = tmp_path / "secret"
    secret.write_text("root:x\n")
    root = tmp_path / "logs"
    root.mkdir()
    (root / "good.log").write_bytes(lines(1))
    (root / "link.log").symlink_to(secret)
    os.mkfifo(root / "fifo.log")
    (root / "folder.log").mkdir()
    (root / "way").symlink_to(tmp_path)
    (root / "zero.log").symlink_to("/dev/zero")
    logs = [root / name for name in ("good.log", "link.log", "fifo.log", "folder.log", "way/secret", "zero.log", "no")]

    result = LogTails().collect(scene_of(*logs, roots={str(log): str(root) for log in logs}), into)

    assert [file.name for file in into.files] == ["good.log"]
    for words in ("link.log is a symbolic link", "fifo.log is a FIFO", "folder.log is a directory", "way/secret"):
        assert words in result.why


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to have a file of somebody else")
def test_a_second_name_of_somebody_elses_file_is_refused(tmp_path, scene_of, into):
    foreign = tmp_path / "foreign"
    foreign.write_text("not yours\n")
    os.chown(foreign, 12345, 12345)
    log = tmp_path / "rank0.log"
    log.hardlink_to(foreign)

    result = LogTails().collect(scene_of(log), into)

    assert (result.outcome, into.files) == (Outcome.FAILED, [])
    assert "somebody else" in result.why


def test_files_that_vanish_or_shrink_meanwhile_are_said_and_leave_the_others(tmp_path, scene_of, into, monkeypatch):
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    first.write_bytes(lines(10))
    second.write_bytes(lines(10))
    real = os.fstat

    def shrink(descriptor):
        status = real(descriptor)
        first.write_bytes(b"")
        return status

    monkeypatch.setattr(excerpts.os, "fstat", shrink)

    result = LogTails().collect(scene_of(tmp_path / "gone.log", first, second), into)

    assert {file.name for file in into.files} == {"a.log", "b.log"}
    assert "gone.log: No such file" in result.why


def test_when_the_time_is_nearly_over_the_rest_is_named(tmp_path, scene_of, saved):
    logs = [tmp_path / f"rank{rank}.log" for rank in range(5)]
    for log in logs:
        log.write_bytes(lines(1))
    folder = tmp_path / "snapshot"
    folder.mkdir()

    result = LogTails().collect(scene_of(*logs), Bin(folder, 1 << 20, seconds=0.0))

    assert "no time was left for 5 more logs" in result.why


def test_a_log_rotated_a_moment_ago_brings_its_copy(tmp_path, scene_of, into, saved):
    """Plain or compressed, the copy's end is saved as text."""
    log, packed = tmp_path / "a.log", tmp_path / "b.log"
    log.write_bytes(b"")
    packed.write_bytes(b"")
    (tmp_path / "a.log.1").write_bytes(lines(100) + b"token=hunter2hunter2x\n")
    (tmp_path / "b.log.1.gz").write_bytes(gzip.compress(lines(100) + b"HF_TOKEN=hf_" + b"A1" * 20 + b"\n"))

    result = RotatedLogs().collect(scene_of(log, packed), into)

    assert result.outcome is Outcome.COLLECTED
    assert saved("a.log.1").startswith(lines(100))
    assert saved("b.log.1").startswith(lines(100))
    assert b"hf_A1" not in saved("b.log.1")
    assert b"a.log.1" in saved("rotated-logs.txt")


def test_a_compressed_bomb_is_left_alone(tmp_path, scene_of, into, monkeypatch):
    """It is named, not unpacked to its end."""
    monkeypatch.setattr("watcher.evidence.rotated_logs.UNPACKED_BYTES", 4 << 20)
    (tmp_path / "a.log").write_bytes(b"")
    (tmp_path / "a.log.1.gz").write_bytes(gzip.compress(bytes(64 << 20)))

    result = RotatedLogs().collect(scene_of(tmp_path / "a.log"), into)

    assert "too much to unpack" in result.why
    assert [file.name for file in into.files] == ["rotated-logs.txt"]


def test_the_copy_that_holds_the_trouble_is_saved_though_the_live_log_is_long(tmp_path, scene_of, into, saved):
    log, copy = tmp_path / "a.log", tmp_path / "a.log.1"
    copy.write_bytes(lines(100))
    log.write_bytes(lines(50_000, 100))
    trouble = moment(log, 10, FileId.of(copy.stat()))

    RotatedLogs().collect(scene_of(log, moments=(trouble,)), into)

    assert saved("a.log.1") == lines(100)


def test_nothing_beside_the_logs_is_an_answer(tmp_path, scene_of, into):
    (tmp_path / "a.log").write_bytes(lines(1))

    assert RotatedLogs().collect(scene_of(tmp_path / "a.log"), into).outcome is Outcome.EMPTY


def test_two_logs_of_one_name_both_stay(tmp_path, scene_of, into):
    logs = [tmp_path / folder / "stdout.log" for folder in ("0", "1")]
    for log in logs:
        log.parent.mkdir()
        log.write_text(str(log))

    LogTails().collect(scene_of(*logs, run=WatchedRun("r", ())), into)

    assert len({file.name for file in into.files}) == 2
    assert isinstance(logs[0], Path)
