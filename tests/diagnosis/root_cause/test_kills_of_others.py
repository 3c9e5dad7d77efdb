"""A kernel ends processes of anybody: what it did elsewhere, or at another time, is no proof for this run."""

import json

import pytest

from bot.inspect import inspect
from diagnosis.exhibits import has_kernel_pids
from diagnosis.observations import Category
from tests.diagnosis.root_cause.stories_containers import docker

STEPS = "".join(f"2026-03-14 09:{i // 60:02d}:{i % 60:02d} [rank{i % 2}] step {i} loss 2.5\n" for i in range(600))
DEATH = (
    "E0314 09:10:05.000000 4711 torch/distributed/elastic/multiprocessing/api.py:874] "
    "failed (exitcode: -9) local_rank: 1 (pid: 5000) of binary: /usr/bin/python\n"
)
KILL = "2026-03-14T{time}+00:00 {node} kernel: Memory cgroup out of memory: Killed process {pid} (python) total-vm:4kB, anon-rss:7kB\n"


@pytest.mark.parametrize(
    ("time", "node", "pid", "is_ours"),
    [
        ("09:10:03", "node07", 77, True),
        ("09:02:00", "node07", 77, True),
        ("07:10:02", "node07", 77, True),
        ("08:33:10", "node07", 77, False),
        ("09:33:10", "node07", 77, False),
        ("08:33:10", "node07", 5000, True),
        ("09:10:03", "node09", 77, False),
    ],
    ids=[
        "at that moment",
        "noticed late",
        "a stamp of another zone",
        "long before",
        "long after",
        "its own pid",
        "another node",
    ],
)
def test_only_what_can_have_been_this_process_proves_its_end(tmp_path, time, node, pid, is_ours):
    """Else the rank died for a reason that is not known, and the kernel's silence about it is said."""
    (tmp_path / "train_node07.log").write_text(STEPS + DEATH)
    (tmp_path / f"{node}-dmesg.txt").write_text(KILL.format(time=time, node=node, pid=pid))

    said = inspect([tmp_path]).diagnosis

    assert said.culprit_rank == 1
    assert (said.category is Category.HOST_OOM and said.confidence == "high") == is_ours
    assert any("Killed process" in reason for reason in said.because) == is_ours


@pytest.mark.parametrize(
    ("pid", "has_kernel_pids", "is_ours"),
    [(77, True, False), (77, False, True), (5000, True, True), (5001, True, True)],
    ids=["a stranger's", "a container's numbers", "its own", "another rank of the job"],
)
def test_a_kill_of_a_process_that_is_not_the_jobs_proves_nothing(tmp_path, pid, has_kernel_pids, is_ours):
    """At the very second too; only where the kernel's numbers are those of the job."""
    (tmp_path / "train_node07.log").write_text(STEPS + DEATH)
    (tmp_path / "node07-dmesg.txt").write_text(KILL.format(time="09:10:05", node="node07", pid=pid))
    processes = [
        {"pid": number, "rank": rank, "state": "gone", "wchan": None} for rank, number in enumerate((4999, 5000, 5001))
    ]
    said = {"time": 0.0, "node": "node07", "has_kernel_pids": has_kernel_pids, "processes": processes}
    (tmp_path / "processes.json").write_text(json.dumps(said, indent=1))

    found = inspect([tmp_path]).diagnosis

    assert (found.culprit_rank, found.category is Category.HOST_OOM) == (1, is_ours)


def test_the_watcher_says_whether_its_numbers_are_the_kernels(tmp_path):
    """What it wrote down is what is read of it."""
    assert has_kernel_pids(json.dumps({"time": 1.5, "node": "n1", "has_kernel_pids": True, "processes": []}, indent=1))
    assert not has_kernel_pids(json.dumps([{"pid": 1, "command": '"has_kernel_pids": true'}]))


@pytest.mark.parametrize(("is_oom", "code"), [(False, 137), (False, 1), (True, 137)])
def test_who_runs_docker_is_not_sent_to_kubernetes(tmp_path, is_oom, code):
    """The advice names the tool that the report came from."""
    (tmp_path / "inspect.json").write_text(docker(oom=is_oom, code=code))

    said = inspect([tmp_path]).diagnosis

    assert not any("kubectl" in step for step in said.next)
    assert is_oom or any("`docker logs`" in step for step in said.next)


@pytest.mark.parametrize(
    ("stamp", "confidence"),
    [("2026-03-14T09:09:50+00:00 node07 kernel:", "high"), ("[  811.100000]", "medium")],
    ids=["at that moment", "so many seconds after a start of the machine"],
)
def test_a_kernels_line_without_a_date_is_less_sure(tmp_path, stamp, confidence):
    """Nothing tells whether it was then: the machine may have run for weeks."""
    (tmp_path / "train_node07.log").write_text(STEPS)
    (tmp_path / "node07-dmesg.txt").write_text(f"{stamp} nfs: server filer7 not responding, still trying\n")

    said = inspect([tmp_path]).diagnosis

    assert (said.category, said.culprit_node, said.confidence) == (Category.STORAGE_STALL, "node07", confidence)
