"""One rank runs out of memory, 511 cry for it ten minutes later, in any order and with clocks that differ."""

import random
from pathlib import Path

import pytest

from bot.inspect import inspect
from tests.diagnosis.root_cause.build import agent, counters, down, plain, timeout, traceback

WORLD = 512
PER_NODE = 8
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.06 "
    "GiB is free."
)


def cascade(folder: Path, culprit: int | None, seed: int) -> None:
    """64 node logs; every clock is off by up to two seconds, and within a log the ranks' blocks come in any order."""
    order = random.Random(seed)
    for node in range(WORLD // PER_NODE):
        skew = order.uniform(-2, 2)
        ranks = list(range(node * PER_NODE, (node + 1) * PER_NODE))
        head = "".join(f"[rank{rank}]: up\n" for rank in ranks)
        steps = plain(1, 30, begin=skew) if node == 0 else ""
        blocks = [
            traceback(f"[rank{rank}]: {OOM}", prefix="") if rank == culprit
            else timeout(rank, 812, at=662 + skew) + counters(rank, 812, 814, 811, at=662 + skew) + down(rank, 722 + skew)
            for rank in ranks
        ]  # fmt: skip
        order.shuffle(blocks)
        victim = order.choice([rank for rank in ranks if rank != culprit])
        tail = agent(-6, victim % PER_NODE, 5000 + victim, rank=victim, host=f"node{node:03d}", at=724 + skew)
        (folder / f"node{node:03d}.log").write_text(head + steps + "".join(blocks) + tail)


@pytest.mark.parametrize(("culprit", "seed"), [(77, 1), (0, 2), (511, 3)])
def test_the_one_that_ran_out_of_memory_is_found(tmp_path: Path, culprit: int, seed: int):
    """Among 511 timeouts and 64 launchers that each blame somebody else."""
    cascade(tmp_path, culprit, seed)

    said = inspect([tmp_path]).diagnosis

    assert said.category == "gpu_oom"
    assert said.culprit_rank == culprit
    assert said.culprit_node == f"node{culprit // PER_NODE:03d}"
    assert said.first_bad_step == 31
    assert said.confidence == "high"


def test_without_a_cause_nobody_of_512_is_accused(tmp_path: Path):
    """All waited alike: the answer says so."""
    cascade(tmp_path, None, 4)

    said = inspect([tmp_path]).diagnosis

    assert said.category == "collective_hang"
    assert said.culprit_rank is None
    assert "never finished" in " ".join(said.because)


def test_the_rank_without_a_word_is_named_when_it_is_one(tmp_path: Path):
    """511 timed out, one printed nothing."""
    cascade(tmp_path, None, 5)
    path = tmp_path / "node040.log"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("[rank323]:[E")))

    said = inspect([tmp_path]).diagnosis

    assert said.culprit_rank == 323
    assert said.culprit_node == "node040"
