"""Each disk of a job says once how full it is, to every snapshot that asks."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Scene
from watcher.evidence.disks import Disks, _ask
from watcher.settings import WatchedRun


def test_two_snapshots_hear_the_answer_of_one_slow_disk(tmp_path, monkeypatch):
    """Two runs of a node are saved at once: the second does not call a disk dead that the first is asking."""
    is_asked, may_answer, real = threading.Event(), threading.Event(), os.statvfs

    def slow(folder):
        is_asked.set()
        may_answer.wait()
        return real(folder)

    monkeypatch.setattr(os, "statvfs", slow)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(_ask, [tmp_path])
        is_asked.wait()
        second = pool.submit(_ask, [tmp_path])
        threading.Timer(0.2, may_answer.set).start()

    assert "inodes free" in first.result()[tmp_path]
    assert second.result() == first.result()


def test_a_folder_that_two_name_is_told_once_and_what_is_none_not_at_all(tmp_path):
    """Shared memory is looked at always; a name that cannot be one is no dead mount."""
    folders = (tmp_path, Path("/dev/shm"), tmp_path / "missing", Path("/no\0name"))

    result = Disks().collect(Scene(WatchedRun("run42", ()), "node17", folders=folders), Bin(tmp_path, 1 << 20))

    said = (tmp_path / "disks.txt").read_text().splitlines()
    assert result.outcome is Outcome.COLLECTED
    assert [line.split(":")[0] for line in said] == [str(tmp_path), "/dev/shm"]
