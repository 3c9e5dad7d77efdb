"""What a node says of itself and of the job: processes, network, scheduler, dumps, checkpoints, versions."""

import json
import os
import pickle
import subprocess
import sys
import time

import pytest

from diagnosis.observations import HostSample
from watcher import process_tree
from watcher.bins import Bin, DiskFull
from watcher.checkpoint_folders import checkpoints_in, folders_of
from watcher.evidence.checkpoints import Checkpoints
from watcher.evidence.collector import Outcome
from watcher.evidence.disks import Disks
from watcher.evidence.flight_recorder import FlightRecorder
from watcher.evidence.host_ring import HostRingTable
from watcher.evidence.launch_command import LaunchCommand
from watcher.evidence.network import Network
from watcher.evidence.nvidia_smi import SmiReport, SmiTable
from watcher.evidence.processes import Processes
from watcher.evidence.scheduler import Scheduler
from watcher.evidence.stacks import Stacks
from watcher.evidence.versions import Versions
from watcher.host_ring import HostRing
from watcher.settings import WatchedRun

SLEEPS = "import time; time.sleep(600)"


@pytest.fixture
def start():
    """Start a process that sleeps, with these arguments and names."""
    running = []

    def begin(*arguments, code=SLEEPS, **names):
        process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=os.environ | names)
        running.append(process)
        deadline = time.monotonic() + 60
        while not process_tree.command_of(process.pid).startswith(sys.executable) and time.monotonic() < deadline:
            time.sleep(0.01)
        return process

    yield begin
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Stand-ins on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def put(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return put


@pytest.fixture
def podinfo(tmp_path, monkeypatch):
    folder = tmp_path / "podinfo"
    folder.mkdir()
    monkeypatch.setattr("watcher.evidence.scheduler.POD_FILES", (folder,))
    return folder


def loaders(pid):
    """What the process has started, once it bears its own command line."""
    return [child for child in process_tree.look().below(pid) if process_tree.command_of(child).endswith("loader")]


def test_the_whole_family_is_listed_with_files_and_memory(tmp_path, scene_of, into, saved, start):
    """The rank, what it started, and which file it writes at which place."""
    log = tmp_path / "out.txt"
    code = (
        "import subprocess, sys, time\n"
        f"file = open({str(log)!r}, 'w'); file.write('x' * 100); file.flush()\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', 'loader']); time.sleep(600)"
    )
    rank = start(code=code)
    deadline = time.monotonic() + 60
    while not loaders(rank.pid) and time.monotonic() < deadline:
        time.sleep(0.02)

    result = Processes().collect(scene_of(pids=(rank.pid,)), into)

    told = json.loads(saved("processes.json"))["processes"]
    child = next(entry for entry in told if entry["parent"] == rank.pid)
    assert result.outcome is Outcome.COLLECTED
    assert told[0]["pid"] == rank.pid
    assert "VmRSS" in told[0]["memory"]
    assert f"{log} (at 100)" in told[0]["files"]
    assert child["command"].endswith("loader")
    os.kill(child["pid"], 9)


def test_the_launcher_is_the_process_that_started_the_ranks(start):
    """Not the shell above it, and not who runs the tests."""
    code = (
        "import subprocess, sys, time\n"
        "for rank in range(2): subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "time.sleep(600)"
    )
    launcher = start(code=code)
    deadline = time.monotonic() + 60
    while len(ranks := process_tree.look().below(launcher.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)

    tree = process_tree.look()

    assert tree.launchers(ranks) == [launcher.pid]
    assert tree.launchers([launcher.pid]) == [launcher.pid]
    assert set(tree.family(ranks)) == {launcher.pid, *ranks}
    for rank in ranks:
        os.kill(rank, 9)


def test_only_allowed_names_of_an_environment_are_taken(scene_of, into, saved, start):
    """Where the job runs, not what opens its doors."""
    rank = start("--lr", "1e-4", RANK="3", NCCL_DEBUG="INFO", MY_SECRET="abc", HF_TOKEN="hf_" + "a" * 30)

    LaunchCommand().collect(scene_of(pids=(rank.pid,)), into)

    (told,) = json.loads(saved("launch.json"))["launched"]
    assert told["environment"]["RANK"] == "3"
    assert told["environment"]["NCCL_DEBUG"] == "INFO"
    assert not {"MY_SECRET", "HF_TOKEN", "PATH"} & set(told["environment"])
    assert told["command"].endswith("--lr 1e-4")


def test_the_network_is_counted(scene_of, into, saved):
    Network().collect(scene_of(), into)

    assert b"/proc/net/dev" in saved("network.txt")


def test_infiniband_counters_that_are_not_zero_are_saved(tmp_path, scene_of, into, saved, monkeypatch):
    port = tmp_path / "ib" / "mlx5_0" / "ports" / "1"
    for group, name, value in (("counters", "symbol_error", "17"), ("hw_counters", "out_of_buffer", "0")):
        (port / group).mkdir(parents=True)
        (port / group / name).write_text(f"{value}\n")
    (port / "state").write_text("4: ACTIVE\n")
    monkeypatch.setattr("watcher.evidence.network.INFINIBAND", tmp_path / "ib")

    result = Network().collect(scene_of(), into)

    assert b"state: 4: ACTIVE\n" in saved("network.txt")
    assert b"symbol_error: 17" in saved("network.txt")
    assert b"out_of_buffer" not in saved("network.txt")
    assert result.why == ""


def test_the_scheduler_is_asked_for_the_jobs_own_number(scene_of, into, saved, start, programs):
    programs("scontrol", 'echo "JobId=$3 JobName=train"')
    programs("sacct", "exit 1")
    rank = start(SLURM_JOB_ID="4711")

    result = Scheduler().collect(scene_of(pids=(rank.pid,)), into)

    assert saved("slurm-job.txt") == b"JobId=4711 JobName=train\n"
    assert "sacct ended with exit code 1" in result.why


@pytest.mark.parametrize("job", ["", "; rm -rf /", "--help"])
def test_a_job_number_that_is_none_is_not_asked_for(scene_of, into, start, programs, job):
    programs("scontrol", "echo called")
    rank = start(SLURM_JOB_ID=job)

    result = Scheduler().collect(scene_of(pids=(rank.pid,)), into)

    assert (result.outcome, into.files) == (Outcome.UNAVAILABLE, [])


def test_what_kubernetes_gives_a_pod_is_saved_but_never_its_token(podinfo, scene_of, into, saved, start):
    folder = podinfo
    (folder / "labels").write_text('app="train"')
    (folder / "outside").symlink_to("/etc/hostname")
    rank = start(KUBERNETES_SERVICE_HOST="10.0.0.1", POD_NAME="train-0")

    Scheduler().collect(scene_of(pids=(rank.pid,)), into)

    text = saved("kubernetes.txt").decode()
    assert 'labels: app="train"' in text
    assert "POD_NAME: train-0" in text
    assert "outside" not in text


def test_dumps_of_the_flight_recorder_are_copied_as_they_are(tmp_path, scene_of, into, saved, start):
    prefix = tmp_path / "trace_"
    rank = start(TORCH_FR_DUMP_TEMP_FILE=str(prefix))
    data = pickle.dumps({"version": "2.10", "entries": [{"record_id": 1}]})
    (tmp_path / "trace_0").write_bytes(data)

    result = FlightRecorder().collect(scene_of(pids=(rank.pid,)), into)

    assert (result.outcome, saved("trace_0")) == (Outcome.COLLECTED, data)


def test_a_dump_with_a_secret_or_behind_a_link_stays_where_it_is(tmp_path, scene_of, into, start):
    one = start(TORCH_FR_DUMP_TEMP_FILE=str(tmp_path / "a_"))
    two = start(TORCH_FR_DUMP_TEMP_FILE=str(tmp_path / "b_"))
    (tmp_path / "a_0").write_bytes(b"\x80\x02 hf_" + b"A1" * 20)
    (tmp_path / "elsewhere").write_bytes(b"\x80\x02")
    (tmp_path / "b_1").symlink_to(tmp_path / "elsewhere")

    result = FlightRecorder().collect(scene_of(pids=(one.pid, two.pid)), into)

    assert into.files == []
    assert "looks like a secret" in result.why


def test_checkpoints_are_found_by_the_jobs_arguments(tmp_path, scene_of, into, saved, start):
    """Names, sizes, times; of a folder the sum."""
    out = tmp_path / "out"
    for step in (1000, 2000):
        (out / f"checkpoint-{step}").mkdir(parents=True)
        (out / f"checkpoint-{step}" / "model.safetensors").write_bytes(b"x" * step)
        (out / f"checkpoint-{step}" / "optimizer.pt").write_bytes(b"x" * 10)
    rank = start("--output_dir", str(out))

    result = Checkpoints().collect(scene_of(pids=(rank.pid,)), into)

    text = saved("checkpoints.txt").decode()
    assert result.outcome is Outcome.COLLECTED
    assert "2,010" in text
    assert "2 files" in text
    assert text.index("checkpoint-1000") < text.index("checkpoint-2000")


def test_a_folder_of_checkpoints_is_opened_once(tmp_path):
    for step in (5, 10):
        (tmp_path / "checkpoints" / f"step-{step}").mkdir(parents=True)
        (tmp_path / "checkpoints" / f"step-{step}" / "x.pt").write_bytes(b"1")

    assert [found.path.rsplit("/", 1)[1] for found in checkpoints_in(tmp_path)] == ["step-5", "step-10"]
    assert folders_of([], [tmp_path / "a.log"]) == [tmp_path]


def test_versions_are_read_from_names(tmp_path, scene_of, into, saved, start):
    """The packages of the job's own Python; nothing is imported."""
    site = tmp_path / "venv" / "lib" / "python3.12" / "site-packages"
    for name in ("torch-2.13.0", "flash_attn-2.8.3", "requests-2.0"):
        (site / f"{name}.dist-info").mkdir(parents=True)
    rank = start(VIRTUAL_ENV=str(tmp_path / "venv"))

    Versions().collect(scene_of(pids=(rank.pid,)), into)

    packages = json.loads(saved("versions.json"))["job_packages"]
    assert packages["torch"] == "2.13.0"
    assert packages["flash-attn"] == "2.8.3"
    assert "requests" not in packages


def test_a_silent_driver_is_asked_once(scene_of, into, programs):
    """Every further call would cost its whole limit."""
    programs("nvidia-smi", "sleep 60")
    scene = scene_of()
    table, report = SmiTable(), SmiReport()
    table.seconds = 2.2

    first, second = table.collect(scene, into), report.collect(scene, into)

    assert (first.outcome, second.outcome) == (Outcome.TIMED_OUT, Outcome.UNAVAILABLE)
    assert "not asked" in second.why


def test_nvidia_smi_is_saved_under_a_name_of_its_own(scene_of, into, programs, saved):
    programs("nvidia-smi", 'echo "$@"')

    SmiReport().collect(scene_of(), into)

    assert saved("nvidia-smi-report-node17.txt") == b"-q\n"


def test_stacks_are_taken_only_where_allowed(scene_of, into, programs, start, saved):
    programs("py-spy", 'echo "$@"')
    rank = start()

    refused = Stacks().collect(scene_of(pids=(rank.pid,)), into)
    allowed = Stacks().collect(scene_of(pids=(rank.pid,), run=WatchedRun("r", (), stacks=True)), into)

    assert (refused.outcome, allowed.outcome) == (Outcome.UNAVAILABLE, Outcome.COLLECTED)
    assert b"--nonblocking" in saved(f"pyspy-rank0-python3-{rank.pid}.txt")


def test_the_hosts_last_minutes_are_a_table(scene_of, into, saved):
    ring = HostRing(capacity=2)
    for second in range(3):
        ring.add(HostSample("node17", float(second), 1 << 30, 2 << 30, {"/": 100.0}))

    HostRingTable().collect(scene_of(host_ring=ring), into)

    head, *rows = saved("host-node17.csv").decode().splitlines()
    assert head.startswith("time,host_memory_available_bytes,")
    assert [row.split(",")[0] for row in rows] == ["1.000", "2.000"]


def test_the_disks_of_the_checkpoints_are_looked_at_too(tmp_path, scene_of, into, saved):
    """Wherever the job writes: its logs, its checkpoints, shared memory; each folder once."""
    (tmp_path / "ckpt").mkdir()
    run = WatchedRun("run42", (), checkpoints=(str(tmp_path / "ckpt"), str(tmp_path)))

    result = Disks().collect(scene_of(run=run), into)

    assert result.outcome is Outcome.COLLECTED
    said = saved("disks.txt").decode().splitlines()
    assert [line.split(":")[0] for line in said] == [str(tmp_path), str(tmp_path / "ckpt"), "/dev/shm"]
    assert all("inodes free" in line for line in said)


def test_a_disk_that_fills_up_meanwhile_stops_a_collector(tmp_path):
    """The room is looked at while writing, not only before."""
    room = iter([True, True, False])
    into = Bin(tmp_path, 64 << 20, has_room=lambda: next(room, False))

    with pytest.raises(DiskFull), into.file("a.txt") as file:
        file.write((b"x" * 99 + b"\n") * 100_000)

    assert into.files == []
