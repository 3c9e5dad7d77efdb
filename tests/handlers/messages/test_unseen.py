"""What could not be looked at is told once, and short."""

from dataclasses import replace

import pytest

from diagnosis.observations import Category
from diagnosis.root_cause.answer import Diagnosis
from handlers.messages.stall import stall_answer
from handlers.messages.unseen import unseen
from tests.handlers.test_standing import NOW, node, picture, rank

BLIND = ("no NVIDIA driver here", "kernel log not readable: operation not permitted")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], ""),
        ([f"n1: {problem}" for problem in BLIND], "no NVIDIA driver here (n1); kernel log not readable (n1)"),
        (
            [f"n{number}: kernel log not readable: reason {number}" for number in range(5)],
            "kernel log not readable (5 nodes)",
        ),
        (
            [f"n1: {BLIND[0]}", f"n1: {BLIND[1]}", "no GPU readings", "no kernel log (Xid, NFS)", "no process states"],
            "no NVIDIA driver here (n1); kernel log not readable (n1); no process states",
        ),
        (["a b: c"], "a b: c"),
        ([f"lack {number}" for number in range(6)], "lack 0; lack 1; lack 2; lack 3; 2 more"),
    ],
)
def test_the_same_lack_is_told_once(told, said):
    """With the nodes it holds for; a reason that stands elsewhere falls."""
    assert unseen(told) == said


def test_a_run_that_trains_is_told_without_what_nobody_needed():
    """A node without a driver is no news while all is well; it is where the cause of a stop is asked."""
    nodes = [node("n3", problems=BLIND)]
    fine = picture([rank(0)], nodes)
    stalled = replace(picture([rank(0, quiet=700)], nodes), diagnosis=Diagnosis(Category.NONE, "low"))

    hanging = picture([rank(0)], [node("n3", problems=("NVML does not answer",))])

    assert "could not look" not in str(stall_answer("run42", fine, NOW, 1, 1).blocks)
    assert "NVML does not answer (n3)" in str(stall_answer("run42", hanging, NOW, 1, 1).blocks)
    assert str(stall_answer("run42", stalled, NOW, 1, 1).blocks).count("no NVIDIA driver here") == 1
