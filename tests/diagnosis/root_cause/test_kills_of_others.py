"""A kernel ends processes of anybody: what it did elsewhere, or at another time, is no proof for this run."""

import pytest

from bot.inspect import inspect
from diagnosis.observations import Category

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
