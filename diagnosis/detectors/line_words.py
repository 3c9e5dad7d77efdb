"""What a telling line says, in few words: by its row where the row is precise, else by its category.

Nothing here claims more than the line shows. A process that was killed was killed; that the host ran out of
memory is only said where a kernel, a scheduler or Ray said so.
"""

from collections.abc import Mapping

from diagnosis.observations import Category, Role, Symptom
from diagnosis.signatures.exit_codes import name_of_signal, signal_of
from diagnosis.wording import duration

SAID: Mapping[Category, str] = {
    Category.GPU_OOM: "a GPU ran out of memory",
    Category.HOST_OOM: "the host ran out of memory and killed a process",
    Category.NAN_INF: "the training itself reports a NaN or an overflow it cannot survive",
    Category.LOSS_SPIKE: "the training itself reports a loss spike",
    Category.COLLECTIVE_HANG: "a collective timed out",
    Category.NETWORK_FAULT: "the network between ranks failed",
    Category.GPU_HARDWARE: "a GPU reports a fault",
    Category.DATALOADER_CRASH: "a data loader died",
    Category.DATALOADER_STALL: "a data loader does not deliver",
    Category.STORAGE_STALL: "storage does not answer",
    Category.DISK_FULL: "a disk is full",
    Category.CHECKPOINT_FAILURE: "a checkpoint could not be written or read",
    Category.RANK_CRASH: "a process of the training crashed",
    Category.PREEMPTED: "the job was told to stop",
    Category.NODE_LOST: "a node was lost",
    Category.INIT_TIMEOUT: "the ranks did not find each other in time",
    Category.SLOWDOWN: "the training itself reports that it is slow",
}
"""By category, for rows that have no words of their own."""

BY_ROW: Mapping[str, str] = {
    "amd_gpu_hang": "a GPU hangs: {reason}",
    "amd_memory_fault": "a GPU kernel touched memory that is not its own",
    "amd_uncorrectable": "a GPU met an error that it cannot correct",
    "barrier_missed": "ranks {ranks} did not come to a barrier",
    "batch_memory_limit": "the job reached its memory limit and was killed",
    "batch_time_limit": "the job reached its time limit",
    "cancelled_by": "the job was cancelled by user {user}",
    "collective_fingerprints_differ": "the ranks do not call the same collective",
    "collective_nan_check": "NCCL was given a NaN",
    "collective_size_mismatch": "the ranks do not send the same size in a collective",
    "container_exit": "container {container} ended with exit code {exit_code}",
    "coordination_barrier": "tasks did not come to the barrier {barrier}",
    "coordination_task_lost": "task {rank} no longer answers the coordinator",
    "coordination_unhealthy": "tasks no longer answer the coordinator",
    "cublas_failed": "cuBLAS failed",
    "cuda_ecc": "a GPU met a memory error that cannot be corrected (ECC)",
    "cuda_illegal_access": "a GPU kernel touched memory that is not its own (illegal memory access)",
    "cuda_launch_error": "a GPU kernel failed",
    "cuda_nvlink": "an NVLink between GPUs failed",
    "desync_lagging_ranks": "torch names ranks {ranks} as lagging in a collective",
    "desync_unfinished": "ranks {ranks} did not join a collective",
    "device_assert": "a check inside a GPU kernel failed (often an index out of range)",
    "device_assertion": "a check inside a GPU kernel failed (often an index out of range)",
    "duplicate_gpu": "ranks {first} and {second} use the same GPU",
    "fatal_signal": "a process crashed: {text}",
    "gpu_fell_off_bus": "a GPU fell off the bus",
    "gpu_vanished": "a GPU is lost",
    "gradient_nan": "a gradient is NaN",
    "horovod_missing": "ranks {ranks} did not submit what the others wait for",
    "host_allocation_failed": "the host has no memory left for what a process asked for",
    "hung_task": "{name} (pid {pid}) hangs in the kernel",
    "job_preempted": "the job was preempted",
    "kernel_panic": "a node's kernel panicked",
    "kernel_segfault": "{name} crashed with a segmentation fault",
    "kubernetes_evicted": "the pod was evicted",
    "loader_worker_bus_error": "a data loader worker died of a bus error: /dev/shm is probably full",
    "loader_worker_killed": "a data loader worker was killed by SIGKILL",
    "loader_worker_segfault": "a data loader worker crashed with a segmentation fault",
    "launcher_rank_ended": "a process was killed by SIGKILL",
    "local_disk_failed": "a local disk failed",
    "loss_is_nan": "the training stops because its loss is NaN",
    "loss_scale_floor": "the loss scale is at its minimum and gradients still overflow",
    "machine_check": "a node reports a hardware error (machine check)",
    "megatron_nan": "the training stops because it found a NaN",
    "megatron_rerun": "a step that was run again gave another result: the GPU computes wrongly",
    "mlx5_link": "a network port reports a link event",
    "mpi_daemon_lost": "mpirun lost its daemon on {node}",
    "nccl_dump_observed": "the NCCL watchdog reports a timeout",
    "nccl_dump_signal": "the NCCL watchdog reports a timeout",
    "nccl_going_down": "the NCCL watchdog ends the process after a timeout",
    "nccl_aborted": "the NCCL watchdog ended a communicator",
    "nccl_mismatch": "the ranks do not call the same collective",
    "nccl_thread_terminated": "the NCCL watchdog ended the process",
    "nccl_watchdog_stuck": "the NCCL watchdog itself is stuck in a CUDA or NCCL call",
    "nccl_work_counters": "the NCCL watchdog reports a timeout",
    "nfs_not_responding": "the NFS server {server} does not respond",
    "node_shutting_down": "the node is shutting down",
    "npu_core_exception": "a kernel of the NPU failed",
    "npu_memory_error": "an NPU met a memory or link error",
    "port_taken": "a port is taken already, so the process cannot start",
    "ray_node_dead": "Ray no longer hears of a node",
    "segfault": "a process crashed with a segmentation fault",
    "shell_killed": "a process was killed by SIGKILL",
    "shm_bus_error": "a data loader died of a bus error: /dev/shm is probably full",
    "slurm_node_failure": "Slurm reports a failed node",
    "soft_lockup": "the kernel reports a CPU that hangs (soft lockup)",
    "storage_io_error": "storage reports an error",
    "store_clients_missing": "only {joined} of {world} processes came to the start",
    "sxid": "an NVSwitch reports SXid {sxid}",
    "tensorboard_nan": "the training logs a NaN or an infinite value",
    "too_many_files": "a data loader has too many open files",
    "verbs_failed": "the network between ranks failed",
    "wrapper_killed": "a process was killed by SIGKILL",
    "xid": "a GPU reports Xid {xid}",
}
"""By row; a place in braces is a field of the line, and a row whose field is missing falls back to its category."""

_EXITS = frozenset({"elastic_worker_failed", "launcher_exit", "composer_rank_exit", "script_exit", "batch_exit"})
"""Rows of launchers that print an exit code."""

UNPROVEN_KILLS = _EXITS | {"shell_killed", "wrapper_killed", "launcher_rank_ended", "loader_worker_killed"}
"""Rows that show a SIGKILL and not who sent it."""
KILLED = "killed"
"""The kind of finding they lead to: its text says what is seen, its details what it often is."""

OF_ANY_CONTAINER = frozenset({"container_exit"})
"""Rows that tell how a container ended, be it the training's or a helper's."""

OFTEN_MEANT = "Often that is the kernel's out-of-memory killer, but nothing here proves it."
"""Beside a bare SIGKILL; where the proof would be is its first next step."""

TOLD = ("what", "text", "message", "reason")
"""Fields of a symptom that say in words what happened, the best first."""
MOST_CHARACTERS = 120


def is_unproven_kill(seen: Symptom) -> bool:
    """Whether a process was killed and nothing in the line says by whom."""
    return seen.category is Category.HOST_OOM and seen.signature in UNPROVEN_KILLS | OF_ANY_CONTAINER


def words_of(seen: Symptom) -> str:
    """What the line says happened."""
    return words_for(seen.signature, seen.category, seen.fields)


def words_for(signature: str, category: Category, fields: Mapping[str, str]) -> str:
    """The same of a line of which only this is known."""
    code = fields.get("exit_code", "")
    if signature in _EXITS and _is_number(code):
        return _ended(int(code))
    form = BY_ROW.get(signature)
    if form is None:
        return SAID[category]
    try:
        return form.format_map(fields)[: 2 * MOST_CHARACTERS]
    except KeyError:
        return SAID[category]


def told_by(seen: Symptom) -> str:
    """What the line itself names beside that, in few words."""
    fields = seen.fields
    if seen.category is Category.PREEMPTED:
        return fields.get("reason", "")
    if "tried" in fields:
        free = f" with {fields['free']} free" if "free" in fields else ""
        return f"it asked for {fields['tried']}{free}"
    if "op" in fields and "seq" in fields:
        milliseconds = fields.get("ran_ms", "")
        after = f" after {duration(int(milliseconds) / 1000)}" if _is_number(milliseconds) else ""
        return f"{fields['op']} number {fields['seq']}{after}"
    if seen.signature == "kernel_oom_kill" and "name" in fields:
        return f"{fields['name']} (pid {fields['pid']})"
    if "type" in fields:
        return f"{fields['type']}: {fields.get('message', '')}"[:MOST_CHARACTERS].rstrip(": ")
    if "{" in BY_ROW.get(seen.signature, ""):
        return ""
    return next((fields[name][:MOST_CHARACTERS] for name in TOLD if fields.get(name)), "")


def where_of(seen: Symptom) -> str:
    """` on rank 3`, ` on node17`, or nothing."""
    if seen.category is Category.PREEMPTED:
        return ""
    rank = seen.origin.rank if seen.origin.rank is not None else seen.fields.get("rank")
    if rank is not None:
        return f" on rank {rank}"
    return f" on {seen.origin.node}" if seen.origin.node else ""


def is_consequence(seen: Symptom) -> bool:
    """Whether the line only follows from another failure; a watchdog's timeout is often all that a hang prints."""
    return seen.role is Role.CASCADE and seen.category is not Category.COLLECTIVE_HANG


def _ended(code: int) -> str:
    number = signal_of(code)
    name = name_of_signal(number) if number is not None else ""
    if name == "SIGKILL":
        return f"a process was killed by SIGKILL (exit code {code})"
    return f"a process crashed with {name} (exit code {code})" if name else f"a process ended with exit code {code}"


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal() and len(text) < 16
