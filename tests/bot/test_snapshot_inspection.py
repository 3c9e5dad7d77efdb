"""What the watcher saves is what `inspect` understands: snapshots of two nodes tell who a run waits for."""

import json
import time

import pytest

from bot.inspect import inspect
from bot.snapshot_manifest import Manifest, read_manifest
from diagnosis.observations import GpuSample
from watcher.gpu_ring import GpuRing

NOW = 1_773_480_000.0


def log_of(rank, steps=200):
    return "".join(
        f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(NOW - 1500 + step * 2))},000 INFO [rank{rank}] step {step}/9000 loss {2.5 - step / 1e4:.4f}\n"
        for step in range(1, steps + 1)
    )


def ring_of(node, idle=()):
    ring = GpuRing()
    for second in range(0, 900, 10):
        ring.add(
            GpuSample(
                node,
                gpu,
                NOW - 900 + second,
                f"GPU-{node}-{gpu}",
                utilization_percent=0.0 if gpu in idle else 100.0,
                memory_used_bytes=60 << 30,
                power_watts=80.0 if gpu in idle else 120.0,
                power_limit_watts=700.0,
            )
            for gpu in range(4)
        )
    return "\n".join(ring.csv()) + "\n"


def snapshot(folder, node, first, *, idle=(), states=None, kernel="", cgroup="", steps=200):
    """A folder as the watcher leaves it."""
    folder.mkdir(parents=True)
    files = {f"rank{rank}.log": log_of(rank, steps) for rank in range(first, first + 4)}
    files[f"gpu-{node}.csv"] = ring_of(node, idle)
    files[f"nvidia-smi-{node}.csv"] = (
        "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
        + "".join(
            f"2026/03/14 09:20:00.000, {gpu}, {0 if gpu in idle else 100} %, 61440 MiB, 120.00 W\n" for gpu in range(4)
        )
    )
    files["processes.json"] = json.dumps(
        {
            "time": NOW,
            "node": node,
            "processes": [
                {
                    "pid": 4000 + rank,
                    "rank": rank,
                    "local_rank": rank - first,
                    "name": name,
                    "state": "sleeping",
                    "wchan": "futex_wait_queue",
                    "threads": [],
                    **((states or {}).get((rank, name)) or {}),
                }
                for rank in range(first, first + 4)
                for name in ("python3", "pt_data_worker")
            ],
        },
        indent=1,
    )
    files["versions.json"] = json.dumps({"node": node, "time": NOW, "uptime_seconds": 500_000.0})
    files["disks.txt"] = "/scratch: 12 of 1,000 bytes free (1.2 %), 3 of 10 inodes free\n"
    files["host-memory.txt"] = "== /proc/loadavg\n1.0 2.0 3.0 1/100 4000\n"
    if kernel:
        files["kernel.log"] = kernel
    if cgroup:
        files["cgroup.txt"] = cgroup
    pieces = {
        "log_tails": [name for name in files if name.startswith("rank")],
        "gpu_ring": [f"gpu-{node}.csv"],
        "nvidia_smi_table": [f"nvidia-smi-{node}.csv"],
        "processes": ["processes.json"],
        "cgroups": ["cgroup.txt"] if cgroup else [],
        "kernel_messages": ["kernel.log"] if kernel else [],
        "host_memory": ["host-memory.txt"],
        "disks": ["disks.txt"],
        "versions": ["versions.json"],
    }
    files["manifest.json"] = json.dumps(
        {
            "manifest": 1,
            "run": "run42",
            "node": node,
            "pieces": [
                {"name": name, "outcome": "collected", "files": [{"name": file} for file in found]}
                for name, found in pieces.items()
            ],
        }
    )
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_manifest_names_the_node_and_the_kinds(tmp_path):
    snapshot(tmp_path / "a", "gpu-b17", 0, kernel="[1.5] NVRM: hello\n")

    told = read_manifest(tmp_path / "a")
    files = {file.path: file for file in inspect([tmp_path / "a"]).case.files}

    assert told.node == "gpu-b17"
    assert told.booted == NOW - 500_000.0
    assert files["kernel.log"].kind == "kernel_log"
    assert files["disks.txt"].kind == "unknown"
    assert {file.node for file in files.values()} == {"gpu-b17"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', '{"manifest": 1, "node": 5, "pieces": {"a": 1}}', '{"pieces": [[1], {"files": 3}]}']
)
def test_a_manifest_that_is_none_does_no_harm(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)

    assert read_manifest(tmp_path).node is None
    assert read_manifest(tmp_path / "nowhere") == Manifest()


def test_a_stopped_rank_on_the_second_node(tmp_path):
    snapshot(tmp_path / "one", "node1", 0)
    snapshot(
        tmp_path / "two", "node2", 4, idle={2}, states={(6, "python3"): {"state": "stopped", "wchan": "do_signal_stop"}}
    )

    said = inspect([tmp_path]).diagnosis

    assert (str(said.category), said.culprit_rank, said.culprit_node) == ("collective_hang", 6, "node2"), said.because
    assert said.first_bad_step == 201
    assert said.confidence == "high"


def test_a_loader_that_waits_for_storage(tmp_path):
    snapshot(
        tmp_path / "one",
        "node1",
        0,
        idle={1},
        states={(1, "pt_data_worker"): {"state": "disk-sleep", "wchan": "nfs_wait_bit_killable"}},
    )
    snapshot(tmp_path / "two", "node2", 4)

    said = inspect([tmp_path]).diagnosis

    assert (str(said.category), said.culprit_rank, said.culprit_node) == ("dataloader_stall", 1, "node1"), said.because
    assert "nfs_wait_bit_killable" in said.because[0]


def test_a_thread_that_waits_for_storage(tmp_path):
    threads = {"threads": [{"tid": "9", "name": "python3", "status": "D", "waits_in": "rpc_wait_bit_killable"}]}
    snapshot(tmp_path / "one", "node1", 0, idle={3}, states={(3, "python3"): threads})
    snapshot(tmp_path / "two", "node2", 4)

    said = inspect([tmp_path]).diagnosis

    assert (str(said.category), said.culprit_rank) == ("storage_stall", 3), said.because


@pytest.mark.parametrize(("seconds", "category"), [(498_700.0, "gpu_hardware"), (100.0, "collective_hang")])
def test_an_xid_from_long_before_the_run_is_no_cause(tmp_path, seconds, category):
    """The kernel counts from its start; the manifest's neighbour tells when that was."""
    snapshot(tmp_path / "one", "node1", 0)
    xid = f"[{seconds:12.6f}] NVRM: Xid (PCI:0000:5d:00): 79, pid=1, GPU has fallen off the bus.\n"
    snapshot(tmp_path / "two", "node2", 4, idle={2}, kernel=xid)

    said = inspect([tmp_path]).diagnosis

    assert str(said.category) == category, said.because
    assert said.culprit_node == "node2"


def test_counters_of_several_groups_are_not_compared_with_each_other(tmp_path):
    cgroup = (
        "# /sys/fs/cgroup/kubepods\nmemory.events:\nlow 0\noom 9\noom_kill 9\n"
        "# /sys/fs/cgroup/kubepods/pod1\nmemory.events:\nlow 0\noom 0\noom_kill 0\n"
    )
    folder = snapshot(tmp_path / "one", "node1", 0, cgroup=cgroup)

    report = next(file.cgroup for file in inspect([folder]).case.files if file.cgroup is not None)

    assert report.kills == 9


def test_a_run_that_works_is_left_in_peace(tmp_path):
    snapshot(tmp_path / "one", "node1", 0, steps=700)
    snapshot(tmp_path / "two", "node2", 4, steps=700)

    said = inspect([tmp_path]).diagnosis

    assert str(said.category) in {"none", "collective_hang"}
    assert said.culprit_rank is None
