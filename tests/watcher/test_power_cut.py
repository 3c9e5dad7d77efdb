"""The power fails while snapshots are taken: what has its name is whole, and what was told of is there (A34)."""

import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.watcher.conftest import ROOT
from tests.watcher.following import lines
from tests.watcher.power import Disk, why_not
from tests.watcher.test_snapshot_safety import is_whole
from watcher.shelf import Shelf

CUTS = int(os.environ.get("RUNWATCH_TEST_CUTS", "6"))
pytestmark = [pytest.mark.scenario, pytest.mark.skipif(bool(why_not()), reason=why_not())]


@pytest.fixture
def disk(tmp_path):
    found = Disk(tmp_path)
    for rank in range(4):
        (found.folder / f"rank{rank}.log").write_bytes(lines(0, 2_000))
    os.sync()
    yield found
    found.close()


@pytest.mark.timeout(300 + 20 * CUTS)
def test_a_power_cut_leaves_a_whole_snapshot_or_none(disk):
    """And the last one that was told of is there, whatever the disk still owed."""
    interrupted = 0
    with saving(disk) as (process, told):
        for folder, last in cuts(disk, process, told):
            shelf = Shelf(folder / "snapshots")
            assert all(is_whole(one) for one in shelf.whole("run42"))
            assert (shelf.home("run42") / Path(last).name) in shelf.whole("run42"), last
            interrupted += len(list(shelf.home("run42").glob("*.part")))
            shelf.remove_interrupted("run42")
            assert not list(shelf.home("run42").glob("*.part"))

    assert interrupted


@pytest.mark.timeout(300)
def test_without_syncing_a_power_cut_leaves_halves(disk):
    """The control: a test that cannot fail proves nothing."""
    bad = 0
    with saving(disk, "--never-sync") as (process, told):
        for folder, last in cuts(disk, process, told):
            shelf = Shelf(folder / "snapshots")
            whole = shelf.whole("run42")
            bad += not all(is_whole(one) for one in whole) or shelf.home("run42") / Path(last).name not in whole

    assert bad


@contextmanager
def saving(disk, *options):
    """A process that takes one snapshot after the other; where each lies, as it says so."""
    told = []
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("snapshot_process.py")), str(disk.folder), *options],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    reader = threading.Thread(target=lambda: told.extend(line.strip() for line in process.stdout), daemon=True)
    told_first = process.stdout.readline().strip()
    told.append(told_first)
    reader.start()
    try:
        yield process, told
    finally:
        process.kill()
        process.wait()
        reader.join(60)


def cuts(disk, process, told):
    """The disk after each of so many cuts, and the last snapshot that was told of before it."""
    chance = random.Random(7)
    for _ in range(CUTS):
        time.sleep(0.3 + chance.random())
        last = told[-1]
        with disk.cut(process) as folder:
            yield folder, last
