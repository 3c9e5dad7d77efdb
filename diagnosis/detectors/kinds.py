"""Every kind of finding on one page: the category of the answer it belongs to, and one sentence.

The documents, mutes by kind and the root-cause search speak these names.
"""

from collections.abc import Mapping

from diagnosis.observations import Category

KINDS: Mapping[str, tuple[Category, str]] = {
    "nonfinite_loss": (Category.NAN_INF, "The train loss is NaN or infinite: critical at the first one."),
    "nonfinite_grad_norm": (
        Category.NAN_INF,
        "The grad norm is NaN or infinite and no scale search explains it; beside a loss of 0.0 it hides a NaN.",
    ),
    "nonfinite_eval": (Category.NAN_INF, "Only the loss of an evaluation is NaN or infinite: a warning."),
    "nonfinite_reported": (Category.NAN_INF, "The training itself reports a NaN or an overflow it cannot survive."),
    "loss_vanished": (Category.NAN_INF, "The loss field stood on every line and stands on none any more."),
    "nan_counter": (Category.NAN_INF, "The trainer counts iterations whose loss was NaN."),
    "loss_zero": (Category.NAN_INF, "The loss prints as exactly 0.0 after a non-zero history, without a gradient."),
    "overflow_streak": (Category.NAN_INF, "Many optimizer steps in a row were skipped for overflow."),
    "loss_scale_floor": (Category.NAN_INF, "Steps are skipped although the loss scale is at its minimum."),
    "loss_scale_drop": (Category.NAN_INF, "The loss scale fell by far: information."),
    "loss_spike": (
        Category.LOSS_SPIKE,
        "The loss stood far above the median of the points before it for some points.",
    ),
    "loss_spike_reported": (Category.LOSS_SPIKE, "The training itself reports a loss spike."),
    "sustained_spike": (Category.LOSS_SPIKE, "Even the lowest recent points stand above the usual band."),
    "divergence": (Category.LOSS_SPIKE, "The loss climbs and stays far above its best level."),
    "grad_norm_lead": (Category.LOSS_SPIKE, "The grad norm rises while the loss is calm: an early warning."),
    "jump": (Category.LOSS_SPIKE, "The loss moved by more than 1 between neighbouring points: a mark, no finding."),
    "plateau": (Category.NONE, "The loss no longer improves: information."),
    "slowdown": (Category.SLOWDOWN, "Most steps of a quarter of an hour are slower than the run's own normal."),
    "slowdown_reported": (Category.SLOWDOWN, "The training itself reports that it is slow."),
    "telling_line": (Category.NONE, "The detector of lines that name a failure; its findings have the kinds below."),
    "gpu_oom": (Category.GPU_OOM, "A GPU ran out of memory."),
    "host_oom": (
        Category.HOST_OOM,
        "The host, or a memory cgroup, ran out of memory: the kernel, the scheduler or Ray said so.",
    ),
    "killed": (Category.RANK_CRASH, "A process was killed by SIGKILL, and no line proves by whom."),
    "collective_timeout": (Category.COLLECTIVE_HANG, "A collective timed out, as the watchdog says."),
    "network_fault": (Category.NETWORK_FAULT, "The network between ranks failed."),
    "gpu_hardware": (Category.GPU_HARDWARE, "A GPU, its memory or its links report a fault."),
    "dataloader_crash": (Category.DATALOADER_CRASH, "A data loader died."),
    "dataloader_stall": (Category.DATALOADER_STALL, "A data loader does not deliver."),
    "storage_stall": (Category.STORAGE_STALL, "Storage does not answer."),
    "disk_full": (Category.DISK_FULL, "A disk is full."),
    "checkpoint_failure": (Category.CHECKPOINT_FAILURE, "A checkpoint could not be written or read."),
    "rank_crash": (Category.RANK_CRASH, "A process of the training crashed."),
    "preempted": (Category.PREEMPTED, "The job was told to stop: by a scheduler, a time limit or a person."),
    "node_lost_reported": (Category.NODE_LOST, "A line says that a node was lost."),
    "init_timeout": (Category.INIT_TIMEOUT, "The ranks did not find each other in time."),
}


def category_of(kind: str) -> Category:
    """The category of the answer that a finding of this kind points to."""
    return KINDS[kind][0] if kind in KINDS else Category.NONE
