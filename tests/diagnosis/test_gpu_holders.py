"""Whoever holds GPU memory without training is named, with the safe way to end it."""

from diagnosis.gpu_holders import with_holders
from diagnosis.node_facts import GpuHolder
from diagnosis.observations import Category
from diagnosis.root_cause import Diagnosis

OOM = Diagnosis(Category.GPU_OOM, "high", culprit_rank=3, next=("Use a smaller batch.",))
HANG = Diagnosis(Category.COLLECTIVE_HANG, "medium", next=("Take stacks.",))


def holder(pid: int = 4711, state: str = "S", **more: object) -> GpuHolder:
    told = {"name": "python3", "gpus": (3,), "bytes_there": 71 << 30, "parent": 4000, "parent_name": "torchrun"} | more
    return GpuHolder("node17", pid, state=state, **told)  # type: ignore[arg-type]


def test_a_zombie_is_ended_by_its_parent():
    """It cannot be killed itself."""
    said = with_holders(OOM, [holder(state="Z", is_of_run=True)], is_down=False)

    assert "pid 4711 (python3, a zombie) is still on GPU 3 of node17, 71.0 GiB in use there" in said.because
    assert "kill -TERM 4000" in said.next[0]
    assert "kill -KILL" not in " ".join(said.next)


def test_a_zombie_that_nobody_reaps_needs_a_reset():
    """Its parent is init."""
    said = with_holders(OOM, [holder(state="Z", parent=1, is_of_run=True)], is_down=False)

    assert "nvidia-smi --gpu-reset -i 3" in said.next[0]


def test_a_left_over_of_an_earlier_job_is_asked_before_it_is_killed():
    """Where the GPU it sits on ran out of memory, or the run is down."""
    said = with_holders(OOM, [holder(shares=True)], is_down=False)

    assert "not of this run" in said.because[-1]
    assert said.next[0].index("ps -o") < said.next[0].index("kill -TERM 4711") < said.next[0].index("kill -KILL 4711")


def test_a_process_in_the_driver_does_not_hear_signals():
    """The node is drained."""
    said = with_holders(HANG, [holder(state="D", is_of_run=True)], is_down=False)

    assert said.next[0] == "Take stacks."
    assert "drain node17" in said.next[1]


def test_the_runs_own_ranks_and_other_peoples_gpus_are_left_alone():
    """A job beside ours is nobody's left-over, and neither are ranks that live."""
    beside, own, small = holder(), holder(is_of_run=True), holder(shares=True, bytes_there=300 << 20)

    assert with_holders(HANG, [beside, own, small], is_down=False) is HANG
    assert with_holders(OOM, [beside, own, small], is_down=False) is OOM


def test_ranks_that_outlive_their_run_are_named():
    """The launcher is gone, and the memory is not."""
    said = with_holders(Diagnosis(Category.RANK_CRASH, "low"), [holder(is_of_run=True)], is_down=True)

    assert "pid 4711 (python3)" in said.because[0]
