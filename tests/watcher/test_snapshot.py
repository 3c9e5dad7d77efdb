"""Saving everything a node can say about a run."""

import asyncio
import hashlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.exhibits import kind_of, read_processes
from diagnosis.observations import GpuSample, ProcessSample
from tests.watcher.conftest import findings, until
from tests.watcher.following import append, lines
from watcher import evidence
from watcher.bins import Bin
from watcher.evidence import COLLECTORS
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.evidence.log_tails import LogTails
from watcher.evidence.programs import Program
from watcher.gpu_ring import GpuRing
from watcher.settings import WatchedRun
from watcher.snapshot import Order
from watcher.snapshots import Snapshots


@pytest.fixture
def snapshots(tmp_path):
    """No reserve: what is tested here must not depend on the disk of the machine."""
    return Snapshots(tmp_path / "snapshots", reserve_bytes=0, reserve_share=0.0)


@pytest.fixture
def job():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "--api-key", "s3cr3t-value-1"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def scene(tmp_path, job):
    log = tmp_path / "rank3.log"
    log.write_bytes(lines(0, 100) + b"using WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n")
    (tmp_path / "rank3.log.1").write_bytes(lines(0, 10))
    ring = GpuRing()
    for second in range(60):
        ring.add([GpuSample("node17", 0, 1000.0 + second, "GPU-a", utilization_percent=97.0, power_watts=120.0)])
    process = ProcessSample("node17", job.pid, time.time(), "python3", "sleeping", rank=3, local_rank=3)
    run = WatchedRun("run42", (str(log),))
    return Scene(run, "node17", (log,), (process,), ring, {"problems": ""}, (tmp_path,))


def manifest_of(snapshot):
    return json.loads((Path(snapshot.path) / "manifest.json").read_text())


async def test_everything_is_saved_with_a_manifest_that_can_be_checked(snapshots, scene):
    """Each file is there with its size and hash; who asked, when and why stands beside it."""
    snapshot = await snapshots.take(scene, Order(by="U1", note="before the restart", at=5.0))

    manifest = manifest_of(snapshot)
    assert (manifest["asked_by"], manifest["note"], manifest["run"]) == ("U1", "before the restart", "run42")
    assert [piece["name"] for piece in manifest["pieces"]] == [collector.name for collector in COLLECTORS]
    for piece in manifest["pieces"]:
        for file in piece["files"]:
            data = (Path(snapshot.path) / file["name"]).read_bytes()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
    assert {"rank3.log", "gpu-node17.csv", "processes.json", "rotated-logs.txt", "disks.txt"} <= _names(snapshot)


async def test_nobody_else_can_read_it(snapshots, scene):
    """0700 for the folder, 0600 for what is in it."""
    snapshot = await snapshots.take(scene, Order())

    assert Path(snapshot.path).stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in Path(snapshot.path).iterdir()} == {0o600}


async def test_no_secret_leaves_the_node(snapshots, scene):
    """Masked in logs and command lines, and counted."""
    snapshot = await snapshots.take(scene, Order())

    everything = b"".join(path.read_bytes() for path in Path(snapshot.path).iterdir())
    assert b"0123456789abcdef0123456789abcdef01234567" not in everything
    assert b"s3cr3t-value-1" not in everything
    assert snapshot.as_answer()["masked"] == 3  # in the log, in the process's entry, in its launch command


async def test_what_it_saves_is_what_inspect_reads(snapshots, scene):
    """A snapshot's folder is evidence like any other."""
    snapshot = await snapshots.take(scene, Order())
    folder = Path(snapshot.path)

    kinds = {path.name: kind_of(path.read_bytes()[:8192], path.name) for path in folder.iterdir()}

    assert kinds["rank3.log"] == "training_log"
    assert kinds["gpu-node17.csv"] == "gpu_samples"
    assert kinds["processes.json"] == "process_state"
    assert kinds["manifest.json"] == "manifest"
    (process,) = read_processes((folder / "processes.json").read_text())
    assert (process.rank, process.state) == (3, "sleeping")


class Hangs:
    name, seconds, bytes = "hangs", 0.3, 1000

    def collect(self, scene, into):
        into.write("first.txt", "kept\n")
        time.sleep(60)
        return Result(Outcome.COLLECTED)


class Fails:
    name, seconds, bytes = "fails", 5.0, 1000

    def collect(self, scene, into):
        raise RuntimeError("no such luck")


class Floods:
    name, seconds, bytes = "floods", 20.0, 100_000

    def collect(self, scene, into):
        with into.file("flood.txt") as file:
            while file.write(b"x" * 63 + b"\n"):
                pass
        return Result(Outcome.COLLECTED)


async def test_one_piece_that_fails_leaves_the_others(snapshots, scene):
    """Each failure is a line in the manifest, and what was saved before it stays."""
    snapshots.collectors = (Hangs(), Fails(), LogTails())

    snapshot = await snapshots.take(scene, Order())

    assert [(piece.name, piece.outcome) for piece in snapshot.pieces] == [
        ("hangs", Outcome.TIMED_OUT),
        ("fails", Outcome.FAILED),
        ("log_tails", Outcome.COLLECTED),
    ]
    assert "no such luck" in snapshot.pieces[1].why
    assert {"first.txt", "rank3.log", "manifest.json"} == _names(snapshot)


async def test_a_piece_that_never_ends_is_cut(snapshots, scene):
    """It gets its share of bytes, and the manifest says that it was cut."""
    snapshots.collectors = (Floods(),)

    snapshot = await snapshots.take(scene, Order())

    (file,) = snapshot.pieces[0].files
    assert (file.bytes, file.is_cut) == (100_000, True)


async def test_the_whole_has_a_deadline(snapshots, scene):
    """What no time is left for is said."""
    snapshots.collectors = (Hangs(), LogTails())

    snapshot = await snapshots.take(scene, Order(seconds=2.1))

    assert [piece.outcome for piece in snapshot.pieces] == [Outcome.TIMED_OUT, Outcome.TIMED_OUT]


async def test_a_full_disk_is_left_alone(snapshots, scene):
    """Without room above the reserve nothing is written, and the answer says why."""
    snapshots.reserve_bytes = 1 << 60

    snapshot = await snapshots.take(scene, Order())

    assert "not enough room" in snapshot.error
    assert not list(snapshots.folder.glob("*/*"))


async def test_asked_twice_at_once_is_done_once(snapshots, scene):
    """The second one joins the first."""
    first, second = await asyncio.gather(snapshots.take(scene, Order()), snapshots.take(scene, Order()))

    assert first.path == second.path


async def test_old_ones_go_when_they_are_too_many(snapshots, scene):
    """The newest are kept."""
    snapshots.keep_bytes = 1
    first = await snapshots.take(scene, Order())

    second = await snapshots.take(scene, Order())

    assert not Path(first.path).exists()
    assert Path(second.path).exists()


async def test_a_run_name_is_never_a_path(snapshots, scene):
    """Whatever a run is called, its snapshots lie in our folder."""
    evil = replace(scene, run=replace(scene.run, name="../../evil\n"))

    snapshot = await snapshots.take(evil, Order())

    assert Path(snapshot.path).resolve().is_relative_to(snapshots.folder.resolve())


def test_a_program_that_hangs_is_killed_and_said(tmp_path, monkeypatch):
    """It gets its time, then the next piece has its turn."""
    into = _bin(tmp_path)

    result = Program(("sleep", "60"), "out.txt").collect(into, 0.2)

    assert (result.outcome, into.files) == (Outcome.TIMED_OUT, [])


def test_a_program_that_prints_without_end_is_cut(tmp_path):
    """The kernel stops it at its share."""
    into = _bin(tmp_path, 50_000)

    result = Program(("yes", "no"), "out.txt").collect(into, 20.0)

    assert result.outcome is Outcome.COLLECTED
    assert into.files[0].bytes <= 50_000


@pytest.mark.parametrize(
    ("command", "outcome", "words"),
    [
        (("sh", "-c", "echo No devices were found; exit 6"), Outcome.FAILED, "exit code 6"),
        (("true",), Outcome.EMPTY, ""),
        (("no-such-program",), Outcome.UNAVAILABLE, "no no-such-program here"),
    ],
)
def test_what_a_program_could_not_say(tmp_path, command, outcome, words):
    """Each way of failing has its own word."""
    result = Program(command, "out.txt").collect(_bin(tmp_path), 20.0)

    assert result.outcome is outcome
    assert words in result.why


def test_a_program_that_survives_the_kill_is_not_started_again(tmp_path, monkeypatch):
    """While one hangs in the kernel, a second one would hang too."""
    monkeypatch.setattr("os.killpg", lambda *_: None)
    program = Program(("sleep", "60"), "out.txt")

    first = program.collect(_bin(tmp_path), 0.2)
    second = program.collect(_bin(tmp_path), 0.2)

    assert "cannot be killed (pid" in first.why
    assert (second.outcome, "still hangs" in second.why) == (Outcome.UNAVAILABLE, True)
    monkeypatch.undo()
    os.killpg(int(first.why.split("pid ")[1].split(",")[0]), signal.SIGKILL)


def test_every_collector_stands_in_the_list():
    """Whoever adds a file adds the line."""
    files = {path.stem for path in Path(evidence.__file__).parent.glob("*.py")} - {
        "__init__",
        "collector",
        "programs",
    }

    assert {type(collector).__module__.rpartition(".")[2] for collector in COLLECTORS} == files
    for name in files:
        assert importlib.import_module(f"watcher.evidence.{name}").__doc__


async def test_asked_through_the_registry(watching, settings, registry, log):
    """A request to the node is answered with what was saved and what was not."""
    log.write_bytes(lines(0, 50))
    agent = await watching(settings)
    await until(lambda: registry.ranks.all("run42"))

    payload = {"run": "run42", "by": "U1", "note": "token=abcd1234efgh"}
    request = await registry.requests.ask(agent.watcher, "snapshot", payload, await registry.now() + 60)
    answers = await registry.requests.gather(request, [agent.watcher], await registry.now() + 60)

    body = answers[agent.watcher].body
    outcomes = {piece["name"]: piece["outcome"] for piece in body["pieces"]}
    assert (body["error"], outcomes["log_tails"]) == ("", "collected")
    manifest = json.loads((Path(body["path"]) / "manifest.json").read_text())
    assert "abcd1234efgh" not in manifest["note"]


def _names(snapshot):
    return {path.name for path in Path(snapshot.path).iterdir()}


def _bin(tmp_path, limit=1 << 20):
    return Bin(tmp_path, limit)


async def test_the_lines_around_the_trouble_are_saved_though_the_log_went_on(
    watching, settings, registry, log, monkeypatch
):
    """The place where each log was when the loss became NaN is remembered, far from its end."""
    monkeypatch.setattr("watcher.evidence.log_tails.LOG_BYTES", 400_000)
    log.write_bytes(lines(0, 20_000))
    other = log.with_name("rank4.log")
    other.write_bytes(lines(0, 20_000))
    agent = await watching(settings)

    async def both_were_read():
        return [rank.step for rank in await registry.ranks.all("run42")] == [19_999, 19_999]

    await until(both_were_read)
    append(log, b"step=20000 loss=nan lr=0.0001 grad_norm=nan\n")
    await until(lambda: findings(registry, "nonfinite_loss"))
    for path in (log, other):
        append(path, lines(20_001, 60_000))

    payload = {"run": "run42"}
    request = await registry.requests.ask(agent.watcher, "snapshot", payload, await registry.now() + 60)
    body = (await registry.requests.gather(request, [agent.watcher], await registry.now() + 60))[agent.watcher].body

    saved = {path.name: path.read_bytes() for path in Path(body["path"]).glob("rank*.log")}
    assert b"step=20000 loss=nan" in saved["rank3.log"]
    assert lines(19_990, 20_000) in saved["rank4.log"]
    assert all(len(data) < 450_000 and data.endswith(lines(59_990, 60_000)) for data in saved.values())
    assert body["moments"][0]["kind"] == "nonfinite_loss"
    assert "loss=nan" in body["moments"][0]["quote"]
