"""Failures in the words of other runtimes: Ascend, AMD, JAX, Ray, Horovod; and of newer NCCL."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    comm,
    counters,
    glog,
    megatron,
    plain,
    timeout,
    traceback,
)

_NOTIFY = (
    "EI0002: [PID: 2969] 2026-03-14-09:40:00.713.335 The wait execution of the Notify register times out. Reason: The Notify "
    "register has not received the Notify record from remote rank: [{awaited}]. base information: [streamID:[109], taskID[38], "
    "taskType[Notify Wait], tag[AllReduce_group_name_1654]].\n"
    "        Possible Cause: 1. An exception occurs during the execution on some NPUs in the cluster. 2. The execution speed on "
    "some NPU in the cluster is too slow. (default 1800s, You can set the interval by using HCCL_EXEC_TIMEOUT.)\n"
)


_RAY_STEPS = "".join(
    f"(TaskRunner pid=85000) step:{step} - actor/pg_loss:0.0{step:02d} - actor/grad_norm:0.4{step:02d} - timing_s/step:93.1\n"
    for step in range(1, 25)
)


_LOST = (
    "2026-03-14 09:08:15.140058: E xla/tsl/distributed_runtime/coordination/coordination_service.cc:954] /job:jax_worker/replica:0/"
    "task:{task} has been set to ERROR in coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:{task} heartbeat "
    "timeout. This indicates that the remote task has failed, got preempted, or crashed unexpectedly.\n"
)


_UNHEALTHY = (
    "F0314 09:26:32.075587  157988 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This "
    "most likely indicates that another task died; see the other task logs for more details. absl::Status: UNAVAILABLE: The "
    "following tasks are unhealthy (stopped sending heartbeats):\n{tasks}"
    "The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction) to debug "
    "further.\n"
)


def xid45(bus: str, before: int) -> str:
    return (
        f"Mar 14 09:11:02 gpu01 kernel: NVRM: Xid (PCI:0000:{bus}:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous "
        f"Xid {before}\n"
    )


RUNTIMES = (
    Story(
        "an NPU waits for a rank of its group that nobody can name: the number counts within the group",
        {"train.log": megatron(1, 30) + _NOTIFY.format(awaited=24)},
        "collective_hang",
        step=(31, 31),
        evidence="Notify register times out",
    ),
    Story(
        "an NPU runs out of memory, and the others wait for it",
        {
            "all.log": plain(1, 30, rank=0)
            + traceback(
                "[rank5]: RuntimeError: NPU out of memory. Tried to allocate 386.00 MiB (NPU 5; 60.97 GiB total capacity; 59.57 GiB "
                "already allocated; 59.57 GiB current active; 16.54 MiB free; 60.06 GiB reserved in total by PyTorch)",
                prefix="",
            )
            + _NOTIFY.format(awaited=5)
        },
        "gpu_oom",
        rank=5,
        step=(31, 31),
        evidence="NPU out of memory",
    ),
    Story(
        "an AMD GPU hangs: the runtime's last line and the kernel agree",
        {
            "train.log": plain(1, 300) + "HW Exception by GPU node-5 (Agent handle: 0x556d9ea3fc10) reason :GPU Hang\n",
            "dmesg.log": "[500967.571516] amdgpu 0000:dd:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\n"
            "[500968.100000] amdgpu 0000:dd:00.0: amdgpu: GPU reset begin!\n",
        },
        "gpu_hardware",
        step=(301, 301),
    ),
    Story(
        "an index out of range on AMD: every thread says so, then the queue aborts",
        {
            "train.log": plain(1, 20)
            + "/pytorch/aten/src/ATen/native/hip/Indexing.hip:1292: indexSelectLargeIndex: Device-side assertion `srcIndex < "
            "srcSelectDimSize' failed.\n"
            * 40
            + ":0:rocdevice.cpp            :2660: 2347343541 us: 12870: [tid:0x7f4c0b5ff700] Device::callbackQueue aborting with error : "
            "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016\n"
        },
        "rank_crash",
        step=(21, 21),
        evidence="srcIndex < srcSelectDimSize",
    ),
    Story(
        "a JAX task no longer answers: the coordinator names it",
        {"worker0.log": plain(1, 198) + _LOST.format(task=37)},
        "node_lost",
        rank=37,
        also=("rank_crash",),
        step=(199, 199),
        evidence="task:37 has been set to ERROR",
    ),
    Story(
        "several JAX tasks no longer answer: all are suspects, none is accused",
        {"worker0.log": plain(1, 198) + _LOST.format(task=37) + _LOST.format(task=38)},
        "node_lost",
    ),
    Story(
        "the task is named on the line below",
        {"worker0.log": plain(1, 50) + _UNHEALTHY.format(tasks="/job:jax_worker/replica:0/task:3\n")},
        "node_lost",
        rank=3,
        step=(51, 51),
    ),
    Story(
        "JAX tasks that never connected are a start that failed, not a crash of the one that says so",
        {
            "worker0.log": traceback(
                "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out "
                "task names:"
            )
            + "/job:jax_worker/replica:0/task:1\n/job:jax_worker/replica:0/task:6\n"
        },
        "init_timeout",
    ),
    Story(
        "Ray no longer hears of a node, and its actors die",
        {
            "driver.log": _RAY_STEPS
            + "2026-03-14 09:42:38,294     WARNING worker.py:1228 -- The node with node id: 0fc14938add3345146c57e92449 and address: "
            "172.31.57.35 and node name: 172.31.57.35 has been marked dead because the detector has missed too many heartbeats from it.\n"
            + traceback("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.")
        },
        "node_lost",
        node="172.31.57.35",
        step=(25, 25),
        evidence="has been marked dead",
    ),
    Story(
        "a worker of Ray died without a word: Ray's list of possible causes is no evidence",
        {
            "driver.log": _RAY_STEPS
            + "(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker PID: 87687 Worker exit "
            "type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. Some common "
            "causes include: (1) the process was killed by the OOM killer due to high memory usage, (2) ray stop --force was called.\n"
        },
        "rank_crash",
        step=(25, 25),
    ),
    Story(
        "only the echo of an NVLink fault is left in the kernel log, on several GPUs",
        {"train.log": megatron(1, 50), "kern.log": xid45("dc", 149) + xid45("ed", 145) + xid45("ba", 145)},
        "gpu_hardware",
        node="gpu01",
        step=(51, 51),
    ),
    Story(
        "CUDA failed under NCCL on every rank at the start: no network is to blame",
        {
            "train.log": (
                "Traceback (most recent call last):\n"
                '  File "/home/a/train.py", line 30, in main\n    dist.barrier()\n'
                '  File "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", line 3696, in barrier\n'
                "    work = default_pg.barrier(opts=opts)\n"
                "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled "
                "cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3\n"
                "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 'operation not supported'\n"
            )
            * 4
        },
        "rank_crash",
        evidence="Cuda failure 'operation not supported'",
    ),
    Story(
        "Horovod names the rank that did not come",
        {
            "train.log": plain(1, 60)
            + "WARNING: One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for "
            "remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors.\n"
            "Stalled ops:\nHorovodAllreduce_a_0 [missing ranks: 5]\nHorovodAllreduce_b_0 [missing ranks: 5]\n"
        },
        "collective_hang",
        rank=5,
        step=(61, 61),
        evidence="[missing ranks: 5]",
    ),
    Story(
        "newer Horovod lists the stalled rank in front of its tensors, in rank 0's output",
        {
            "train.log": "".join(f"[1,0]<stderr>:{line}\n" for line in plain(1, 60).splitlines())
            + "[1,0]<stderr>:Stalled ranks:\n[1,0]<stderr>:6: [horovod_allreduce.0, horovod_allreduce.1, horovod_allreduce.10 ...]\n"
        },
        "collective_hang",
        rank=6,
        step=(61, 61),
    ),
    Story(
        "Horovod was only late: the training went on",
        {
            "train.log": plain(1, 30)
            + "Stalled ops:\nHorovodAllreduce_a_0 [missing ranks: 5]\n"
            + plain(31, 60, begin=120)
        },
        "none",
    ),
    Story(
        "a kernel log bears the node's name only in its own; the bus leads to the rank",
        {
            "a.log": "".join(comm("gpu7", 300 + d, d, 16 + d, 24, bus=f"{0x10 + d * 0x10:x}000") for d in range(8))
            + megatron(1, 40)
            + "".join(timeout(16 + r, 300, at=1100) for r in range(8) if r != 3),
            "gpu7.dmesg.txt": "[90001.100000] NVRM: Xid (PCI:0000:40:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error "
            "detected on link 3(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)\n",
            "gpu6.dmesg.txt": "[90001.100000] usb 1-1: new device\n",
        },
        "gpu_hardware",
        rank=19,
        node="gpu7",
        step=(41, 41),
    ),
    Story(
        "NCCL's out of memory names a device only; the one rank to which it was thrown is the one",
        {
            "all.log": "n3:991:1188 [4] include/alloc.h:184 NCCL WARN Cuda failure 2 'out of memory'\n"
            + traceback(
                "[rank4]: torch.distributed.DistBackendError: NCCL error in: ../x.cpp:1691, unhandled cuda error (run with "
                "NCCL_DEBUG=INFO for details), NCCL version 2.19.3",
                prefix="[rank4]: ",
            ).replace("[rank4]: [rank4]: ", "[rank4]: ")
        },
        "gpu_oom",
        rank=4,
    ),
    Story(
        "a traceback drawn as a box: the code it quotes is no evidence",
        {
            "train.log": plain(1, 20)
            + "╭───────────────────── Traceback (most recent call last) ──────────────────────╮\n"
            "│ /w/train.py:88 in step                                                       │\n"
            '│    87 │   │   │   raise RuntimeError("CUDA out of memory. Lower the batch")    │\n'
            "│ ❱  88 │   labels = table[ids]                                                │\n"
            "╰──────────────────────────────────────────────────────────────────────────────╯\n"
            "IndexError: index 50400 is out of bounds for dimension 0 with size 50257\n"
        },
        "rank_crash",
        step=(21, 21),
        evidence="index 50400 is out of bounds",
    ),
    Story(
        "an abort alone names nobody: the watchdog ends whoever waits",
        {"launcher.log": plain(1, 9) + agent(-6, 5, 900, rank=5, host="n1", at=26)},
        "rank_crash",
    ),
    Story(
        "an EFA transfer failed: an input/output error of the network is none of a disk",
        {
            "train.log": megatron(1, 20)
            + "ip-172-31-69-127:451707:453373 [4] ofi_process_cq:1033 NCCL WARN NET/OFI Request 0x7f completed with error. RC: 5. Error: "
            "Input/output error. Completed length: 0\n"
        },
        "network_fault",
        step=(21, 21),
    ),
    Story(
        "the trainer stops because a loss is NaN, in the words of one trainer",
        {"train.log": plain(1, 40) + traceback("ValueError: nan loss encountered")},
        "nan_inf",
        step=(40, 41),
        evidence="nan loss encountered",
    ),
    Story(
        "all ranks wait in one call, and run ahead of it by different numbers: nobody is behind",
        {
            "all.log": megatron(1, 40, prefix="[rank0]:")
            + "".join(
                timeout(rank, 4486, op="ALLTOALL", at=700)
                + counters(rank, 4486, 4488 if rank == 3 else 4489, 4485, at=700)
                for rank in range(8)
            )
        },
        "collective_hang",
        step=(41, 41),
    ),
    Story(
        "the one that never enqueued the call is behind, however far the others ran ahead",
        {
            "all.log": megatron(1, 40, prefix="[rank0]:")
            + "".join(
                timeout(rank, 4486, op="ALLTOALL", at=700) + counters(rank, 4486, 4487 + rank, 4485, at=700)
                for rank in range(7)
            )
            + f"[rank7]:[E{glog(700)} ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank 7] Received a dump signal due to a "
            "collective timeout from  rank 1 and we will try our best to dump the debug info. Last enqueued NCCL work: 4485, last "
            "completed NCCL work: 4485.\n"
        },
        "collective_hang",
        rank=7,
        step=(41, 41),
    ),
    Story(
        "training is over, and the job still hangs until the watchdog ends it",
        {
            "train.log": plain(1, 40)
            + "{'train_runtime': 700.2, 'train_loss': 0.4, 'epoch': 1.0}\n"
            + timeout(1, 2263, op="ALLGATHER", at=1900)
        },
        "collective_hang",
    ),
    Story(
        "an abort is all there is: a crash, and nobody is named",
        {
            "all.log": plain(1, 40)
            + "[rank3]: *** SIGABRT received at time=1763469143 on cpu 138 ***\n[rank3]: PC: @     0x7c3c60a969fc  (unknown)  pthread_kill\n"
        },
        "rank_crash",
        step=(40, 41),
        evidence="SIGABRT received",
    ),
)
