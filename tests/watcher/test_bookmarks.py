"""Where reading goes on after a restart."""

import hashlib
import os
import random
import subprocess

import pytest

from tests.watcher.following import Follower, append, lines, steps
from watcher.bookmarks import Bookmarks, file_name
from watcher.identity import Digest, FileId, Place, Recent


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    path = folder / "train.log"
    path.write_bytes(lines(0, 10))
    return path


@pytest.fixture
def bookmarks(tmp_path):
    return Bookmarks(tmp_path / "state", "run42")


def restarted(follower, bookmarks, pattern):
    """The follower after a kill: all it knows is what the bookmark says."""
    bookmarks.save(follower.places(), {})
    follower.tail.close()
    places = bookmarks.load()
    return Follower(pattern, places=places)


def test_reading_goes_on_where_it_stood(log, bookmarks):
    """Nothing is read twice and nothing is left out; what lies before warms the baselines."""
    first = Follower(log).poll()
    second = restarted(first, bookmarks, log)
    append(log, lines(10, 20))

    second.poll()

    assert steps(second.lines) == list(range(10, 20))
    assert steps(second.warm) == list(range(10))


def test_half_a_line_is_read_again(log, bookmarks):
    """The bookmark stands before a line that has no end yet."""
    append(log, b"step=10 loss=")
    first = Follower(log).poll()
    append(log, b"2.5\n")

    second = restarted(first, bookmarks, log).poll()

    assert second.lines == [b"step=10 loss=2.5"]


def rename(log):
    log.rename(log.with_name("train.log.1"))


def copytruncate(log):
    log.with_name("train.log.1").write_bytes(log.read_bytes())
    os.truncate(log, 0)


def rename_and_gzip(log):
    rename(log)
    subprocess.run(["gzip", log.with_name("train.log.1")], check=True)


def copytruncate_and_gzip(log):
    copytruncate(log)
    subprocess.run(["gzip", log.with_name("train.log.1")], check=True)


def rename_to_a_date(log):
    log.rename(log.with_name("train.log-20290102"))


@pytest.mark.parametrize("rotate", [rename, copytruncate, rename_and_gzip, copytruncate_and_gzip, rename_to_a_date])
def test_a_rotation_while_nobody_looked_loses_nothing(log, bookmarks, rotate):
    """The rest of the old file is found by its bytes, under whatever name."""
    first = Follower(log).poll()
    append(log, lines(10, 20))
    rotate(log)
    append(log, lines(20, 30))

    second = restarted(first, bookmarks, log).poll(times=3)

    assert steps(second.lines) == list(range(10, 30))


def test_three_rotations_while_nobody_looked(log, bookmarks):
    """All files in between are read, oldest first."""
    first = Follower(log).poll()
    bookmarks.save(first.places(), {})
    append(log, lines(10, 20))
    for number, begin in ((3, 20), (2, 30), (1, 40)):
        log.rename(log.with_name(f"train.log.{number}"))
        log.write_bytes(lines(begin, begin + 10))
    subprocess.run(["gzip", log.with_name("train.log.2")], check=True)

    second = restarted(first, bookmarks, log).poll(times=3)

    assert steps(second.lines) == list(range(10, 50))


def test_a_deleted_file_that_the_job_still_writes_is_found_again(log, bookmarks):
    """It lives on in the job's descriptor, and that is where it is read."""
    first = Follower(log).poll()
    with log.open("ab") as file:
        job = subprocess.Popen(["sh", "-c", "sleep 60"], stdout=file)
        file.write(lines(10, 20))
    log.unlink()

    second = restarted(first, bookmarks, log).poll(times=2)
    job.kill()
    job.wait()

    assert steps(second.lines) == list(range(10, 20))


def test_another_file_with_the_same_inode_is_not_taken_for_the_old_one(log, bookmarks):
    """ext4 hands an inode out again at once; the bytes decide."""
    first = Follower(log).poll()
    bookmarks.save(first.places(), {})
    log.write_bytes(lines(500, 600))

    second = restarted(first, bookmarks, log).poll(times=2)

    assert steps(second.lines) == list(range(500, 600))


def test_a_kill_inside_a_compressed_copy_goes_on_inside_it(log, bookmarks):
    """Reading a rotated copy can be interrupted like any other."""
    first = Follower(log, chunk_bytes=1000).poll()
    append(log, lines(10, 200))
    copytruncate_and_gzip(log)
    append(log, lines(200, 210))
    first.now += 1
    for _ in range(4):
        for piece in first.tail.poll().pieces:
            first._take(piece)

    second = restarted(first, bookmarks, log).poll(times=3)

    read = steps(first.lines) + steps(second.lines)
    assert len(steps(first.lines)) > 10
    assert read == list(range(210))


PLACES = {
    "/logs/train.log": (Place(FileId(66, 12), 500, 7, Digest.of(b"head"), Digest.of(b"behind")),),
    "/logs/two.log": (Place(FileId(66, 13), 0, 1), Place(FileId(66, 14), 9, None, Digest.of(b"x"), Digest.of(b"y"))),
}


def test_what_is_saved_is_what_is_loaded(bookmarks):
    """Places survive the way to the disk and back, with what moves beside them."""
    bookmarks.save(PLACES, {"attempt": 3})

    assert bookmarks.load() == PLACES
    assert bookmarks.extra == {"attempt": 3}


def test_any_damage_is_answered_with_the_bookmark_before(tmp_path):
    """Every byte of the file is broken in turn; the previous good copy, or the start policy, is used."""
    bookmarks = Bookmarks(tmp_path, "run42")
    bookmarks.save({}, {"number": 1})
    bookmarks.save(PLACES, {"number": 2})
    path = tmp_path / "run42.json"
    good = path.read_bytes()
    generator = random.Random(7)

    for at in range(len(good)):
        damaged = bytearray(good)
        damaged[at] ^= 1 << generator.randrange(8)
        for broken in (bytes(damaged), good[:at]):
            path.write_bytes(broken)
            again = Bookmarks(tmp_path, "run42")

            assert again.load() == {}
            assert again.extra == {"number": 1}


def test_a_bookmark_of_a_newer_version_is_left_alone(tmp_path):
    """We do not guess at what a later release meant."""
    bookmarks = Bookmarks(tmp_path, "run42")
    bookmarks.save({}, {})
    path = tmp_path / "run42.json"
    body = path.read_bytes().partition(b"\n")[2].replace(b'"version":1', b'"version":99')
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    assert bookmarks.load() == {}
    assert bookmarks.problem


@pytest.mark.parametrize(
    "name", ["run42", "../../etc/passwd", "a/b", "", "-rf", ".hidden", "läuft", "x" * 4096, "a\0b\n"]
)
def test_a_run_name_is_never_a_path(name):
    """Whatever a run is called, its file lies in our folder and is no other run's."""
    made = file_name(name)

    assert made
    assert "/" not in made
    assert made[0] not in ".-"
    assert len(made) < 80
    assert made != file_name(name + "x")


def test_the_fingerprint_is_of_the_bytes_consumed():
    """A place behind the bytes read last is still recognised, one that is long gone is not."""
    recent = Recent(1000, b"before")
    recent.add(b"x" * 300 + b"\n")
    recent.add(b"half a line")

    assert recent.digest_before(1301) == Digest.of(b"x" * 127 + b"\n")
    assert recent.digest_before(900) is None


def test_two_logs_with_the_same_first_lines_are_told_apart(log, bookmarks):
    """512 ranks print one banner; each has its own place."""
    for rank in range(20):
        log.with_name(f"rank{rank}.log").write_bytes(lines(0, 100))
    pattern = log.parent / "rank*.log"
    first = Follower(pattern).poll()
    for rank in range(20):
        append(log.with_name(f"rank{rank}.log"), lines(1000 + rank, 1001 + rank))

    second = restarted(first, bookmarks, pattern).poll()

    assert sorted(steps(second.lines)) == list(range(1000, 1020))
