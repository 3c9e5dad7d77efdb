"""A snapshot is whole or not there, whatever happens meanwhile, and never costs the job its disk or its time."""

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.watcher.conftest import ROOT, until
from tests.watcher.following import lines
from watcher import store
from watcher.bookmarks import file_name
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.evidence.log_tails import LogTails
from watcher.settings import WatchedRun
from watcher.shelf import Shelf
from watcher.snapshot import Order
from watcher.snapshots import Snapshots
from watcher.store import NotStored, Store

KILLS = int(os.environ.get("RUNWATCH_TEST_KILLS", "20"))


def scene_of(tmp_path, *logs, name="run42"):
    return Scene(WatchedRun(name, tuple(map(str, logs))), "node17", logs, folders=(tmp_path,))


def snapshots_in(tmp_path, **more):
    return Snapshots(tmp_path / "snapshots", reserve_bytes=0, reserve_share=0.0, **{"per_hour": 1000} | more)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "rank0.log"
    path.write_bytes(lines(0, 1000))
    return path


class Slow:
    name, seconds, bytes = "slow", 20.0, 1000

    def __init__(self):
        self.at_once = self.most = 0

    def collect(self, scene, into):
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        time.sleep(0.1)
        self.at_once -= 1
        return Result(Outcome.EMPTY)


def is_whole(folder):
    """True when every file of its manifest is there with its size and hash, and no other."""
    told = json.loads((folder / "manifest.json").read_text())
    files = {file["name"]: file for piece in told["pieces"] for file in piece["files"]}
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"}
    return told["state"] in ("whole", "partial") and {
        name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in found.items()
    } == {name: (file["bytes"], file["sha256"]) for name, file in files.items()}


@pytest.mark.timeout(600 + 10 * KILLS)
def test_a_kill_at_any_moment_leaves_a_whole_snapshot_or_none(tmp_path):
    """And what was interrupted is gone once the watcher lives again."""
    for rank in range(4):
        (tmp_path / f"rank{rank}.log").write_bytes(lines(0, 2_000))
    chance = random.Random(5)
    shelf = Shelf(tmp_path / "snapshots")
    interrupted = 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("snapshot_process.py")), str(tmp_path)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        process.stdout.readline()
        time.sleep(chance.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        interrupted += len(list(shelf.home("run42").glob("*.part")))
        assert shelf.whole("run42")
        assert all(is_whole(folder) for folder in shelf.whole("run42"))
        shelf.remove_interrupted("run42")
        assert not list(shelf.home("run42").glob("*.part"))
    assert interrupted


async def test_a_watcher_removes_what_was_interrupted_when_it_starts(watching, settings, log):
    """Of its own runs; what is whole, and what belongs to another watcher on the node, stays."""
    shelf = Shelf(settings.home / "snapshots")
    for run, name in (
        ("run42", "20260101T000000Z-abcdef.part"),
        ("run42", "20260101T000000Z-012345"),
        ("other", "x.part"),
    ):
        (shelf.home(run) / name).mkdir(parents=True)
        (shelf.home(run) / name / "train.log").write_text("half")

    await watching(settings)

    async def is_gone():
        return [path.name for path in shelf.home("run42").iterdir()] == ["20260101T000000Z-012345"]

    await until(is_gone)
    assert (shelf.home("other") / "x.part").exists()


async def test_one_is_taken_at_a_time_on_a_node(tmp_path, log):
    """Runs wait for each other; who asks for the same run joins."""
    slow = Slow()
    snapshots = snapshots_in(tmp_path, collectors=(slow,))

    taken = await asyncio.gather(
        *(snapshots.take(scene_of(tmp_path, log, name=f"run{number % 5}"), Order()) for number in range(100))
    )

    assert slow.most == 1
    assert len({snapshot.path for snapshot in taken}) == 5


async def test_who_waits_too_long_is_told(tmp_path, log):
    slow = Slow()
    slow.collect = lambda scene, into: time.sleep(3) or Result(Outcome.EMPTY)
    snapshots = snapshots_in(tmp_path, collectors=(slow,))
    first = asyncio.create_task(snapshots.take(scene_of(tmp_path, log, name="a"), Order()))
    await asyncio.sleep(0.1)

    second = await snapshots.take(scene_of(tmp_path, log, name="b"), Order(seconds=5.1))

    assert "another snapshot" in second.error
    assert not (await first).error


async def test_a_run_is_not_asked_for_evidence_all_the_time(tmp_path, log):
    """Beyond the hour's count the answer names the newest one; before a stop one is always taken."""
    snapshots = snapshots_in(tmp_path, per_hour=2, collectors=(LogTails(),))
    scene = scene_of(tmp_path, log)
    taken = [await snapshots.take(scene, Order()) for _ in range(3)]

    urgent = await snapshots.take(scene, Order(is_urgent=True))

    assert [bool(snapshot.error) for snapshot in taken] == [False, False, True]
    assert taken[1].path in taken[2].error
    assert urgent.error == ""


async def test_a_disk_that_fills_up_meanwhile_is_given_back(tmp_path, log, monkeypatch):
    """What was written is removed, and the answer says what it was."""
    snapshots = snapshots_in(tmp_path)

    class Fills:
        name, seconds, bytes = "fills", 5.0, 1000

        def collect(self, scene, into):
            snapshots.reserve_bytes = 1 << 60
            return Result(Outcome.EMPTY)

    snapshots.collectors = (LogTails(), Fills())

    snapshot = await snapshots.take(scene_of(tmp_path, log), Order())

    assert "filled up meanwhile" in snapshot.error
    assert "log_tails collected" in snapshot.error
    assert not [path for path in snapshots.folder.rglob("*") if path.is_file()]


async def test_the_first_manifest_says_what_it_was_to_be(tmp_path, log):
    """Whoever finds an interrupted one knows who asked."""
    seen = []

    class Looks:
        name, seconds, bytes = "looks", 5.0, 1000

        def collect(self, scene, into):
            (part,) = (tmp_path / "snapshots").glob("*/*.part")
            seen.append(json.loads((part / "manifest.json").read_text()))
            return Result(Outcome.EMPTY)

    await snapshots_in(tmp_path, collectors=(Looks(),)).take(scene_of(tmp_path, log), Order(by="U1", note="why"))

    assert [(told["state"], told["asked_by"], told["note"]) for told in seen] == [("being taken", "U1", "why")]


async def test_what_programs_are_waited_for_does_not_hold_up_what_is_read(tmp_path, log):
    """They run beside each other."""

    class Waits:
        name, seconds, bytes = "nvidia_smi_table", 30.0, 1000

        def collect(self, scene, into):
            time.sleep(60)
            return Result(Outcome.EMPTY)

    snapshots = snapshots_in(tmp_path, collectors=(Waits(), LogTails()))

    snapshot = await snapshots.take(scene_of(tmp_path, log), Order(seconds=5.0))

    assert [piece.outcome for piece in snapshot.pieces] == [Outcome.TIMED_OUT, Outcome.COLLECTED]
    assert snapshot.missing == ()


async def test_what_a_stop_must_wait_for_is_named(tmp_path):
    """A log that could not be read is; a kernel log that nobody here may read is not."""
    snapshots = snapshots_in(tmp_path, collectors=(LogTails(),))

    snapshot = await snapshots.take(scene_of(tmp_path, tmp_path / "gone.log"), Order())

    assert snapshot.missing == ("log_tails",)
    assert snapshot.as_answer()["essential_missing"] == ["log_tails"]


def test_only_whole_ones_of_our_own_are_counted_and_removed(tmp_path):
    """What else lies in the folder is left alone."""
    shelf = Shelf(tmp_path, keep_bytes=0)
    home = shelf.home("r")
    for name in ("20260101T000000Z-abcdef", "20260101T000000Z-abcdef.part", "mine"):
        (home / name).mkdir(parents=True)
        (home / name / "x").write_text("x")

    shelf.remove_old()

    assert {path.name for path in home.iterdir()} == {"20260101T000000Z-abcdef.part", "mine"}
    assert home.name == file_name("r")


@pytest.mark.parametrize("chances", [("000000", "ffffff"), ("ffffff", "000000")])
def test_of_two_taken_within_one_second_the_first_goes_first(tmp_path, chances):
    """The end of a name is chance, and says nothing about which is older."""
    shelf = Shelf(tmp_path, keep_bytes=1)
    first, second = (shelf.home("r") / f"20260101T000000Z-{chance}" for chance in chances)
    now = time.time()
    for snapshot, taken_at in ((first, now - 0.5), (second, now)):
        snapshot.mkdir(parents=True)
        (snapshot / "x").write_text("x")
        os.utime(snapshot, (taken_at, taken_at))

    assert shelf.whole("r") == [first, second]

    shelf.remove_old()

    assert shelf.whole("r") == [second]


async def test_a_copy_lies_in_the_shared_folder(tmp_path, log):
    """Beside those of the other nodes that were asked with it; the node keeps its own."""
    snapshots = snapshots_in(tmp_path, url=f"file://{tmp_path}/shared", collectors=(LogTails(),))

    snapshot = await snapshots.take(scene_of(tmp_path, log), Order(at=1_800_000_000.0))

    assert (snapshot.error, snapshot.url_problem) == ("", "")
    assert "/shared/run42/20270115T080000Z/node17-" in snapshot.url
    assert is_whole(Path(snapshot.url.removeprefix("file://")))
    assert is_whole(Path(snapshot.path))


async def test_a_store_that_takes_nothing_is_said(tmp_path, log, monkeypatch):
    """The snapshot stays on the node."""
    monkeypatch.setattr("watcher.snapshots.STORE_PAUSES", (0.0, 0.0))
    (tmp_path / "shared").write_text("a file in the way")
    snapshots = snapshots_in(tmp_path, url=f"{tmp_path}/shared", collectors=(LogTails(),))

    snapshot = await snapshots.take(scene_of(tmp_path, log), Order())

    assert (snapshot.error, snapshot.url) == ("", "")
    assert snapshot.url_problem
    assert is_whole(Path(snapshot.path))


def test_an_object_store_gets_the_manifest_last(tmp_path, monkeypatch):
    """Through fsspec, where it is installed."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    order = []
    real = type(memory).put_file
    monkeypatch.setattr(type(memory), "put_file", lambda self, a, b, **k: order.append(b) or real(self, a, b, **k))
    for name in ("manifest.json", "a.log", "z.log"):
        (tmp_path / name).write_text(name)

    Store("memory://bucket").put(tmp_path, Store("memory://bucket").place("node17", "run42", "x", None))

    assert [path.rsplit("/", 1)[1] for path in order] == ["a.log", "z.log", "manifest.json"]
    assert memory.cat(order[-1]) == b"manifest.json"


def test_without_fsspec_a_url_is_refused_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)

    with pytest.raises(NotStored, match=r"runwatch\[store\]"):
        store.Store("s3://bucket").put(tmp_path, "s3://bucket/x")


@pytest.mark.scenario
@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount a small disk")
async def test_a_small_disk_is_never_filled(tmp_path, log):
    """Refused before the first byte, or stopped at the reserve."""
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(small)], check=True)
    try:
        log.write_bytes(b"x" * 99 * 1_000_000)
        few = Snapshots(small / "s", reserve_bytes=90 << 20, reserve_share=0.0, per_hour=100)
        refused = await few.take(scene_of(tmp_path, log), Order())
        many = replace_reserve(few, 30 << 20)
        taken = await many.take(scene_of(tmp_path, log), Order())

        usage = os.statvfs(small)
        assert "not enough room" in refused.error
        assert taken.error == ""
        assert usage.f_bavail * usage.f_frsize >= 30 << 20
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


def replace_reserve(snapshots, reserve):
    return replace(snapshots, reserve_bytes=reserve, _turn=asyncio.Lock(), _at_work={}, _copying=set())
