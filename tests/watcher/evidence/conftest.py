"""A scene, and bins to collect into."""

import os
import time

import pytest

from diagnosis.observations import ProcessSample
from watcher.bins import Bin
from watcher.evidence.collector import Scene
from watcher.settings import WatchedRun


@pytest.fixture
def into(tmp_path):
    folder = tmp_path / "snapshot"
    folder.mkdir()
    return Bin(folder, 64 << 20, seconds=20.0)


@pytest.fixture
def saved(tmp_path):
    """What was saved under a name."""

    def read(name):
        return (tmp_path / "snapshot" / name).read_bytes()

    return read


@pytest.fixture
def scene_of(tmp_path):
    """A scene of these logs and processes."""

    def make(*logs, pids=(), **more):
        processes = tuple(
            ProcessSample("node17", pid, time.time(), "python3", "sleeping", rank=rank, local_rank=rank)
            for rank, pid in enumerate(pids)
        )
        run = more.pop("run", WatchedRun("run42", tuple(map(str, logs))))
        return Scene(run, "node17", tuple(logs), processes, folders=(tmp_path,), **more)

    return make


@pytest.fixture
def me():
    return os.getpid()
