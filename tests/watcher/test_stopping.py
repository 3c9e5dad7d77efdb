"""Stopping a real job of four processes: evidence first, the launcher is asked, and what is left is told."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.observations import GpuSample
from tests.watcher.conftest import ROOT, until
from watcher import process_tree, stopping
from watcher.process_tree import Relative, Tree
from watcher.saving import _held
from watcher.settings import WatchedRun
from watcher.stopping import Plan, plan_for


@pytest.fixture
def job(settings, log):
    """Start a job of four ranks whose launcher writes the followed log."""
    running = []

    def start(*arguments, **names):
        command = [sys.executable, "-u", "-m", "bot.demo.job", "--step-seconds", "0.05", "--ranks", "4", *arguments]
        with log.open("ab") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=out, cwd=ROOT, env=os.environ | names, start_new_session=True
            )
        running.append(process)
        deadline = time.monotonic() + 60
        while b"step 2/" not in log.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.05)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def ask(registry, agent, kind, seconds=60, **payload):
    until_ = await registry.now() + seconds
    request = await registry.requests.ask(agent.watcher, kind, {"run": "run42", **payload}, until_)
    return (await registry.requests.gather(request, [agent.watcher], until_))[agent.watcher].body


def allowing(settings):
    return replace(settings, runs=(replace(settings.runs[0], allow_stop=True),))


async def test_evidence_first_then_all_processes_are_gone(watching, settings, registry, job):
    """The launcher got SIGTERM and ended its ranks; the snapshot was taken while they lived."""
    launcher = job()
    agent = await watching(allowing(settings))
    await until(lambda: registry.ranks.all("run42"))
    family = process_tree.look().family([launcher.pid])

    said = await ask(registry, agent, "stop", by="U1", note="NaN")

    (snapshot,) = (settings.home / "snapshots").glob("*/*")
    assert (said["error"], said["left"], said["ended"]) == ("", [], 5), said
    assert len(family) == 5
    assert said["launchers"][0]["pid"] == launcher.pid
    assert '"state": "sleeping"' in (snapshot / "processes.json").read_text()
    assert "Received 15 death signal" in Path(settings.runs[0].logs[0].replace("*", "rank3")).read_text()


async def test_without_permission_nothing_is_touched_and_the_commands_are_told(watching, settings, registry, job):
    launcher = job()
    agent = await watching(settings)
    await until(lambda: registry.ranks.all("run42"))

    said = await ask(registry, agent, "stop")
    plan = await ask(registry, agent, "stop_plan")

    assert launcher.poll() is None
    assert "--allow-stop" in said["error"]
    assert said["commands"] == plan["commands"] == [f"kill -TERM {launcher.pid}"]
    assert plan["allowed"] is False
    assert not list((settings.home / "snapshots").glob("*/*"))


async def test_what_does_not_heed_is_told_with_the_command(watching, settings, registry, job, monkeypatch):
    """A rank that ignores SIGTERM is left, named with its state; nobody sends SIGKILL for us."""
    monkeypatch.setattr("watcher.saving.WAIT_SECONDS", 1.5)
    launcher = job("--fault", "busy:2:3", "--stubborn", "2")
    agent = await watching(allowing(settings))
    await until(lambda: registry.ranks.all("run42"))

    said = await ask(registry, agent, "stop")

    left = {one["pid"]: one for one in said["left"]}
    assert said["ended"] == 3, said
    assert set(left) >= {launcher.pid}
    assert set(left) <= {launcher.pid, *process_tree.look().below(launcher.pid)}
    (command,) = said["cleanup"]
    assert all(str(pid) in command for pid in left)


async def test_without_evidence_nothing_is_stopped(watching, settings, registry, job, monkeypatch):
    """A disk without room is no reason to lose what happened."""
    monkeypatch.setattr("watcher.snapshots.ESTIMATE_BYTES", 1 << 60)
    launcher = job()
    agent = await watching(allowing(settings))
    await until(lambda: registry.ranks.all("run42"))

    said = await ask(registry, agent, "stop")

    assert "not stopped: not enough room" in said["error"]
    assert launcher.poll() is None


async def test_ranks_that_nothing_ties_to_the_run_are_never_stopped(watching, settings, registry, log, job):
    """A job beside it that only looks like ranks belongs to somebody else."""
    launcher = job()
    log.rename(log.with_suffix(".other"))
    log.write_text("2026-01-01 00:00:00,000 INFO [rank0] step 1/9 loss 2.5\n")
    agent = await watching(allowing(settings))
    await until(lambda: registry.ranks.all("run42"))

    said = await ask(registry, agent, "stop")

    assert (said["launchers"], said["ended"]) == ([], 0)
    assert launcher.poll() is None


def relative(pid, parent, name="python3"):
    return Relative(pid, parent, name, "S", pid * 10)


@pytest.fixture
def placed(monkeypatch):
    """A tree of a launcher and two ranks with this environment and these command lines."""

    def make(environment, **commands):
        monkeypatch.setattr(stopping, "first_of", lambda _, *names: next(
            (environment[name] for name in names if name in environment), None))  # fmt: skip
        monkeypatch.setattr(process_tree, "command_of", lambda pid: commands.get(f"p{pid}", "python train.py"))
        return Tree([relative(50, 1, "bash"), relative(100, 50), relative(101, 100), relative(102, 100)])

    return make


def test_torchrun_is_known_by_its_command_line(placed):
    tree = placed({}, p100="python /usr/bin/torchrun --nproc 2 train.py")

    plan = plan_for("node17", [101, 102], tree)

    assert (plan.way, [one.pid for one in plan.launchers], plan.commands) == ("torchrun", [100], ("kill -TERM 100",))


@pytest.mark.parametrize(
    ("command", "way"),
    [
        ("python -m torch.distributed.run --nproc 2 train.py", "torchrun"),
        ("python /opt/conda/bin/deepspeed train.py", "deepspeed"),
        ("python -m deepspeed.launcher.launch --world_info x train.py", "deepspeed"),
        ("mpirun -np 2 python train.py", "launcher"),
        ("python -m accelerate.commands.launch train.py", "launcher"),
    ],
)
def test_each_launcher_is_known(placed, command, way):
    """Also above another one, and as the first process of a container."""
    tree = placed({}, p100=command)
    first = Tree([relative(1, 0), relative(101, 1), relative(102, 1)])

    assert (plan_for("node17", [101, 102], tree).way, tree.launchers([101, 102])) == (way, [100])
    placed({}, p1=command)
    assert first.launchers([101, 102]) == [1]


@pytest.mark.parametrize("name", ["bash", "tmux: server", "ssh", "sudo", "slurmstepd"])
def test_who_only_wraps_a_launcher_is_none(placed, name):
    """A shell that was given `torchrun …` as a text would die and leave it behind."""
    placed({}, p50="bash -c torchrun train.py", p100="python /usr/bin/torchrun train.py")
    tree = Tree([relative(50, 1, name), relative(100, 50), relative(101, 100), relative(102, 100)])

    assert tree.launchers([101, 102]) == [100]


def test_the_first_process_of_a_system_is_never_a_launcher(placed):
    placed({}, p1="/sbin/init splash")
    tree = Tree([relative(1, 0, "systemd"), relative(101, 1), relative(102, 1)])

    assert tree.launchers([101, 102]) == [101, 102]


def test_slurm_is_asked_by_scancel_where_it_is_there(placed, monkeypatch):
    """By the job's first node only; a person on another node gets the command."""
    monkeypatch.setattr(stopping.shutil, "which", lambda _: "/usr/bin/scancel")
    tree = placed({"SLURM_JOB_ID": "4711", "SLURM_NODEID": "0"})
    first = plan_for("node17", [101, 102], tree)
    placed({"SLURM_JOB_ID": "4711", "SLURM_NODEID": "1"})
    other = plan_for("node18", [101, 102], tree)

    assert first.command == ("scancel", "--signal=TERM", "4711")
    assert (other.command, other.launchers, other.commands) == ((), (), ("scancel --signal=TERM 4711",))


def test_in_kubernetes_the_pod_is_named(placed):
    tree = placed({"POD_NAME": "train-0", "POD_NAMESPACE": "ml"})

    plan = plan_for("node17", [101, 102], tree)

    assert plan.commands == ("kill -TERM 100", "kubectl delete pod train-0 --grace-period=60 -n ml")


def test_a_process_that_has_its_number_anew_is_not_meant():
    """The number alone is no identity."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    now = process_tree.read(process.pid)
    older = replace(now, started_ticks=now.started_ticks - 1)

    done = stopping.stop(Plan("node17", "process", (older,), (older,)), 0.5)

    assert (done.left, done.error) == ((), "")
    assert process.poll() is None
    process.kill()
    process.wait()


def test_a_scheduler_that_refuses_is_quoted(tmp_path, monkeypatch):
    (tmp_path / "scancel").write_text("#!/bin/sh\necho Invalid job id >&2; exit 1\n")
    (tmp_path / "scancel").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    done = stopping.stop(Plan("n", "slurm", (), (), ("scancel", "--signal=TERM", "1")), 30.0)

    assert "exit code 1: Invalid job id" in done.error


def test_memory_of_the_jobs_gpus_that_is_still_in_use_is_told():
    """By whoever the driver names; other GPUs and an idle driver's own share are nobody's business."""
    gpus = [
        GpuSample("node17", 0, 1.0, memory_used_bytes=40 << 30, pids=(4711,)),
        GpuSample("node17", 1, 1.0, memory_used_bytes=500 << 20, pids=()),
        GpuSample("node17", 2, 1.0, memory_used_bytes=70 << 30, pids=()),
    ]

    assert _held(gpus, {0, 1}) == ["GPU 0: 40.0 GiB still in use by 4711"]
    assert _held(gpus, {2}) == ["GPU 2: 70.0 GiB still in use by no process that the driver names"]


async def test_a_snapshot_of_one_run_tells_nothing_of_another_beside_it(watching, settings, registry, job, log):
    """A watcher that follows two runs keeps their processes apart."""
    job()
    other = log.parent.parent / "other.log"
    other.write_text("2026-01-01 00:00:00,000 INFO [rank0] step 1/9 loss 2.5\n")
    second = WatchedRun("other", (str(other),))
    agent = await watching(replace(settings, runs=(*settings.runs, second)))
    await until(lambda: registry.ranks.all("other"))
    await until(lambda: registry.ranks.all("run42"))

    mine, others = [await ask(registry, agent, "snapshot", run=run) for run in ("run42", "other")]

    assert outcome_of(mine, "processes") == "collected"
    assert outcome_of(others, "processes") == "unavailable"


def outcome_of(body, name):
    return next(piece["outcome"] for piece in body["pieces"] if piece["name"] == name)
