"""What to do next, by category: the shortest check first. Rows of `signatures/` add what their line calls for."""

from collections.abc import Mapping

from diagnosis.observations import Category

ADVICE: Mapping[Category, tuple[str, ...]] = {
    Category.GPU_OOM: (
        "take a smaller micro-batch or sequence, activation checkpointing or more sharding",
        "look at that rank's memory over time: a steady rise is a leak or longer sequences, a sudden one the batch",
        "ask nvidia-smi on that node whether a stale process holds memory; end it by pid, after looking whose it is",
    ),
    Category.HOST_OOM: (
        "read the kernel log (dmesg) and the cgroup's memory.events of that node",
        "take fewer loader workers and less prefetch, no offload, or a higher --mem or pod limit",
    ),
    Category.NAN_INF: (
        "keep the newest checkpoint from before the first bad step: rotation may delete it",
        "look at the batch, learning rate and dtype of that step",
        "run that step again from the checkpoint before it: the same rank again is data or code, else its GPU",
    ),
    Category.LOSS_SPIKE: (
        "only note it where the loss came back within some tens of steps",
        "go back to the checkpoint before it where it did not; skip those batches or lower the learning rate",
    ),
    Category.COLLECTIVE_HANG: (
        "take py-spy dump --nonblocking of every rank, and group the stacks: the odd one is the culprit",
        "switch the flight recorder on for the next run: TORCH_FR_BUFFER_SIZE=2000, TORCH_NCCL_DUMP_ON_TIMEOUT=1",
        "save the kernel log and GPU state of the suspect's node before the job is stopped",
    ),
    Category.NETWORK_FAULT: (
        "read the peer's own log first: it may have died of something else",
        "look at port counters and link events of both nodes, then run nccl-tests between them",
    ),
    Category.GPU_HARDWARE: (
        "drain the node and run nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU, replace it when it repeats",
        "start again without that node from the newest checkpoint",
    ),
    Category.DATALOADER_CRASH: (
        "look at the sample or file that the traceback names",
        "run once with num_workers=0, to see the error in the main process",
    ),
    Category.DATALOADER_STALL: (
        "look at the stacks of the loader workers (comm pt_data_worker): the cause is there",
        "preprocess offline when rank 0 is busy before the first collective; or set a longer timeout",
    ),
    Category.STORAGE_STALL: (
        "check the mount on that node: df, ls with a timeout, the kernel log; then ask the storage team",
        "give each node its own cache",
    ),
    Category.DISK_FULL: (
        "look at df -h, df -i and the quota of the target; /tmp, ~/.cache and /dev/shm count too",
        "resume from the checkpoint before the one that was being written: that one is probably incomplete",
    ),
    Category.CHECKPOINT_FAILURE: (
        "check space, quota and speed of the checkpoint storage, and whether the last checkpoint is whole",
        "resume from the checkpoint before it",
        "save asynchronously or sharded: that shortens the pause",
    ),
    Category.RANK_CRASH: (
        "read the first traceback or signal of that process, from its own standard error",
        "set PYTHONFAULTHANDLER=1 and TORCHELASTIC_ERROR_FILE for the next run",
    ),
    Category.PREEMPTED: (
        "find out who sent it: sacct or scontrol, node events, a time limit, a person",
        "resume from the newest checkpoint; save on the warning signal",
    ),
    Category.NODE_LOST: (
        "find out whether the node is alive: its console, the scheduler's view, when its logs ended",
        "start again without it from the newest checkpoint",
    ),
    Category.INIT_TIMEOUT: (
        "find the ranks that never came: nodes without a log, image pulls, MASTER_ADDR, firewall, port",
    ),
    Category.SLOWDOWN: (
        "compare SM clocks, power, temperature and PCIe width of every GPU: one slow GPU slows all ranks",
        "run a benchmark on each node; halve the nodes until the slow one is found",
    ),
    Category.NONE: (),
}


def advice_for(category: Category) -> tuple[str, ...]:
    """The next steps for a category."""
    return ADVICE.get(category, ())
