"""What each trouble is called, and what to do about those that are no category."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from diagnosis.observations import Category
from handlers.messages.phrase import Clause, Phrase, say


@dataclass(frozen=True, slots=True)
class Called:
    """One trouble in words: one of it, many of it, and the next steps."""

    one: str
    many: str
    next: tuple[str, ...] = ()


CALLED: Mapping[str, Called] = MappingProxyType(
    {
        Category.NAN_INF: Called("non-finite value", "non-finite values"),
        Category.LOSS_SPIKE: Called("loss spike", "loss spikes"),
        Category.GPU_OOM: Called("GPU out of memory", "GPUs out of memory"),
        Category.HOST_OOM: Called("host out of memory", "hosts out of memory"),
        Category.COLLECTIVE_HANG: Called("collective timeout", "collective timeouts"),
        Category.NETWORK_FAULT: Called("network fault", "network faults"),
        Category.GPU_HARDWARE: Called("GPU fault", "GPU faults"),
        Category.DATALOADER_CRASH: Called("data loader crash", "data loader crashes"),
        Category.DATALOADER_STALL: Called("data loader stall", "data loader stalls"),
        Category.STORAGE_STALL: Called("storage stall", "storage stalls"),
        Category.DISK_FULL: Called("full disk", "full disks"),
        Category.CHECKPOINT_FAILURE: Called("checkpoint failure", "checkpoint failures"),
        Category.RANK_CRASH: Called("crashed process", "crashed processes"),
        Category.PREEMPTED: Called("preemption", "preemptions"),
        Category.NODE_LOST: Called("lost node", "lost nodes"),
        Category.INIT_TIMEOUT: Called("failed start", "failed starts"),
        Category.SLOWDOWN: Called("slowdown", "slowdowns"),
        "aftermath": Called("message of other processes", "messages of other processes"),
        "stall": Called("stall", "stalls"),
        "run_down": Called(
            "ended run", "ended runs", ("Read the last lines of its logs, on the rank that ended first.",)
        ),
        "disk_forecast": Called(
            "disk that fills up",
            "disks that fill up",
            ("Delete old checkpoints or logs there, or let the trainer keep fewer, before the disk is full.",),
        ),
        "lines_lost": Called(
            "lossy rotation",
            "lossy rotations",
            ("`runwatch rotation config` prints a rotation that fits this writer; `rotation check` counts the rest.",),
        ),
        "watcher_silent": Called(
            "silent watcher",
            "silent watchers",
            ("Nobody looks at that node now: check that the watcher runs there and reaches Redis.",),
        ),
    }
)
"""Names of every trouble; the next steps of a category stand in `diagnosis/advice.py`."""


def called(trouble: str) -> Called:
    """How a trouble is called; an unknown one by its own name."""
    known = CALLED.get(trouble)
    if known:
        return known
    name = trouble.replace("_", " ")
    return Called(name, f"{name} findings")


def counted(trouble: str, count: int) -> Phrase:
    """`1 collective timeout`, `511 collective timeouts`."""
    names = called(trouble)
    return say("{n} {trouble}", n=f"{count:,}", trouble=Clause(names.one if count == 1 else names.many))
