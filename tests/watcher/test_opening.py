"""What is read as a log, and what is refused with a reason."""

import os
import socket

import pytest

from tests.watcher.following import Follower, append, lines, steps
from watcher.opening import Refused, open_log


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path, other: path.symlink_to(other), "symbolic link"),
        (lambda path, _: os.mkfifo(path), "FIFO"),
        (lambda path, _: path.mkdir(), "directory"),
        (lambda path, _: socket.socket(socket.AF_UNIX).bind(str(path)), "socket"),
    ],
)
def test_only_plain_files_are_opened(tmp_path, make, reason):
    """Anything else is refused by name, at once, without being opened."""
    other = tmp_path / "other"
    other.write_text("secret")
    path = tmp_path / "train.log"
    make(path, other)

    with pytest.raises(Refused, match=reason):
        open_log(str(path))


def test_a_device_is_refused():
    """Opening one may already do something to it."""
    with pytest.raises(Refused, match="device"):
        open_log("/dev/null")


def test_a_link_among_the_folders_below_the_pattern_is_refused(tmp_path):
    """Whoever may write into the log folder must not lead us elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "shadow").write_text("secret")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "run").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Refused, match="symbolic link"):
        open_log(str(logs / "run" / "shadow"), str(logs))


def test_the_folder_that_the_user_names_may_be_a_link(tmp_path):
    """`/logs -> /mnt/share/logs` is how clusters are."""
    real = tmp_path / "real"
    real.mkdir()
    (real / "train.log").write_bytes(lines(0, 5))
    (tmp_path / "logs").symlink_to(real)

    follower = Follower(tmp_path / "logs" / "*.log").poll()

    assert steps(follower.lines) == list(range(5))
    assert list(follower.places()) == [str(tmp_path / "logs" / "train.log")]


def test_a_log_that_becomes_something_else_is_named_and_others_go_on(tmp_path):
    """The reason stands among the problems; the neighbour is read."""
    good, bad = tmp_path / "rank0.log", tmp_path / "rank1.log"
    good.write_bytes(lines(0, 1))
    bad.write_bytes(lines(100, 101))
    follower = Follower(tmp_path / "rank*.log").poll()
    bad.unlink()
    os.mkfifo(bad)
    append(good, lines(1, 3))

    follower.poll(times=4)

    assert steps(follower.lines) == [0, 100, 1, 2]
    assert any("is a FIFO" in problem for problem in follower.batch.problems)


def test_a_log_that_may_be_read_later_is_read_then(tmp_path, monkeypatch):
    """A permission that is missing is said, and asked for again."""
    log = tmp_path / "train.log"
    log.write_bytes(lines(0, 5))
    denied = [True]

    def open_unless_denied(path, beneath=None):
        if denied[0]:
            raise PermissionError(13, "Permission denied")
        return open_log(path, beneath)

    # Tests run as root too, whom no mode bits hold.
    monkeypatch.setattr("watcher.source.open_log", open_unless_denied)
    follower = Follower(log).poll(times=2)
    assert any("is not readable: permission denied" in problem for problem in follower.batch.problems)
    denied[0] = False

    follower.poll(times=3, seconds=5.0)

    assert steps(follower.lines) == list(range(5))
    assert follower.batch.problems == ()
