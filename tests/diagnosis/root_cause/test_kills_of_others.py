"""A kernel ends processes of anybody: what it did elsewhere, or at another time, is no proof for this run."""

import json

import pytest

from bot.inspect import inspect
from diagnosis.exhibits import has_kernel_pids
from diagnosis.observations import Category
from tests.diagnosis.root_cause.build import kernel, plain
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


@pytest.mark.parametrize(
    ("name", "after", "found"),
    [
        ("my_model", 1, (Category.HOST_OOM, "medium", "gpu07")),
        ("python3", 1, (Category.HOST_OOM, "high", "gpu07")),
        ("my_model", -600, (Category.RANK_CRASH, "low", None)),
        ("chrome", 1, (Category.RANK_CRASH, "low", None)),
        ("mysqld", 1, (Category.RANK_CRASH, "low", None)),
    ],
    ids=["any name", "Python", "any name, long before", "a browser", "a database"],
)
def test_a_shells_word_and_the_kernels_of_one_moment_prove_each_other(tmp_path, name, after, found):
    """The limit of a group concerns that group alone: a name that says nothing is the run's only just then."""
    (tmp_path / "train.log").write_text(plain(1, 500) + "Killed\n")
    line = f"Memory cgroup out of memory: Killed process 29436 ({name}) total-vm:4kB, anon-rss:7kB"
    (tmp_path / "gpu07.dmesg.txt").write_text(kernel(998 + after, "gpu07", line))

    said = inspect([tmp_path]).diagnosis

    assert (said.category, said.confidence, said.culprit_node) == found


XID = "NVRM: Xid (PCI:0000:40:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("hours", "log", "later", "found"),
    [
        (0.0, "gpu07.log", "", ("high", "gpu07")),
        (-7.0, "gpu07.log", "", ("medium", "gpu07")),
        (-9.5, "gpu07.log", "", ("medium", "gpu07")),
        (-7.0, "train.log", "", ("medium", "gpu07")),
        (-7.05, "gpu07.log", "", ("low", None)),
        (-7.0, "train_node08.log", "", ("low", None)),
        (-7.0, "gpu07.log", "usb 1-1: new device", ("low", None)),
        (-0.5, "gpu07.log", "", ("medium", None)),
    ],
    ids=[
        "the same clock",
        "whole hours behind",
        "a half hour too",
        "the only kernel log there is",
        "minutes off",
        "a kernel log of another node",
        "that log goes on for long",
        "no zone is so near",
    ],
)
def test_a_kernel_log_of_another_zone_names_its_node_with_less_certainty(tmp_path, hours, log, later, found):
    """What is assumed of its clock is said; where the hours do not fit to the minute nobody is named."""
    at = 399 + hours * 3600
    (tmp_path / log).write_text(plain(1, 200))
    told = kernel(at, "gpu07", XID) + (kernel(at + 5000, "gpu07", later) if later else "")
    (tmp_path / "gpu07.dmesg.txt").write_text(told)

    said = inspect([tmp_path]).diagnosis

    assert (said.confidence, said.culprit_node) == found
    is_assumed = any("another time zone" in reason for reason in said.because)
    assert is_assumed == (found == ("medium", "gpu07"))
