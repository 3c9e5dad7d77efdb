"""Evidence of several kinds about one run: kernel logs, tables of schedulers, GPUs and RAS beside the logs of ranks."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    closing,
    comm,
    glog,
    kernel,
    megatron,
    plain,
    timeout,
    traceback,
    trainer,
)


def four(first: int, last: int) -> str:
    return "".join(plain(first, last, rank=rank) for rank in range(4))


def eight(first: int, last: int) -> str:
    return "".join(plain(first, last, rank=rank) for rank in range(8))


def stuck(rank: int, at: float) -> str:
    return (
        f"[rank{rank}]:[E{glog(at)} ProcessGroupNCCL.cpp:1870] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] ProcessGroupNCCL's watchdog "
        "got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API "
        "(e.g., CudaEventDestroy) hang blocking the watchdog.\n"
    )


def old(rank: int) -> str:
    return (
        f"[E ProcessGroupNCCL.cpp:566] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
        f"Timeout(ms)=1800000) ran for {1_800_000 + rank} milliseconds before timing out.\n"
    )


def differs(one: int, operation: str, other: int, its: str) -> str:
    return (
        f"[rank{one}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {one} is running collective: "
        f"CollectiveFingerPrint(SequenceNumber=485, OpType={operation}, TensorShape=[1], TensorDtypes=Long), but Rank {other} is running "
        f"collective: CollectiveFingerPrint(SequenceNumber=485, OpType={its}, TensorShape=[25], TensorDtypes=Float).\n"
    )


def bar(step: int) -> str:
    return f"  1%|▏         | {step}/1752 [01:08<1:22:56,  2.88s/it]"


BUSES = ("19", "2d", "3f", "4b", "99", "ad", "bf", "cb")


def ras(groups: str) -> str:
    return (
        "NCCL version 2.26.2 compiled with CUDA 12.6\nCUDA runtime version 12060, driver version 12060\n\nJob summary\n===========\n\n"
        "  Nodes  Processes         GPUs  Processes     GPUs\n(total)   per node  per process    (total)  (total)\n"
        "      4          8            1         32       32\n\nCommunicators... (0.00s)\n=============\n\n"
        "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n    #  in group  per comm  per node  per comm  in group\n"
        "    0         1         4         8        32        32   RUNNING  MISMATCH\n\nErrors\n======\n\nWarnings\n========\n\n"
        "#0-0 (fa93daea854b060b) MISMATCH\n  Communicator ranks have different AllGather operation counts\n" + groups
    )


CLUSTERS = (
    Story(
        "the training ended and was saved, and the watchdog got stuck in the teardown",
        {
            "train.log": trainer(1, 40)
            + "{'train_runtime': 412.1, 'train_loss': 1.2, 'epoch': 1.0}\n[INFO:swift] Saving model checkpoint to /out/checkpoint-40\n[INFO:swift] last_model_checkpoint: /out/checkpoint-40\nEnd time of running main: 2026-03-14 10:00:00\n"
            + "".join(stuck(r, 4200) for r in range(8))
        },
        "none",
        also=("collective_hang",),
    ),
    Story(
        "old words of the watchdog: three of four ranks waited",
        {"train.log": "| distributed init (rank 0): env://, world size: 4\n" + four(1, 30) + old(0) + old(2) + old(3)},
        "collective_hang",
        rank=1,
        step=(31, 31),
    ),
    Story(
        "one rank meets an I/O error, and both nodes' other ranks time out",
        {
            "node0.log": "".join(plain(1, 20, rank=r) for r in range(8))
            + "".join(timeout(r, 80, at=700) for r in range(8)),
            "node1.log": "".join(plain(1, 20, rank=r) for r in range(8, 16))
            + traceback("OSError: [Errno 5] Input/output error: '/lustre/data/shard_77.npy'", prefix="[rank13]: ")
            + "".join(timeout(r, 80, at=700) for r in range(8, 16) if r != 13),
        },
        "storage_stall",
        rank=13,
        node="node1",
        step=(21, 21),
    ),
    Story(
        "nvidia-smi's table tells one GPU in words only",
        {
            "train.log": plain(1, 40),
            "gpu.csv": "timestamp, index, utilization.gpu [%], power.draw [W], memory.used [MiB]\n"
            + "".join(
                f"2026/03/14 09:{m:02d}:{s:02d}.123, {i}, "
                + (
                    "[Unknown Error], [Unknown Error], [Unknown Error]\n"
                    if i == 6 and m >= 2
                    else f"{99} %, {310 + i}.00 W, 61000 MiB\n"
                )
                for m in range(12)
                for s in (0, 30)
                for i in range(8)
            ),
        },
        "gpu_hardware",
        rank_may_be_unnamed=True,
        rank=6,
    ),
    Story(
        "a kernel log in human time: the bus tells the rank",
        {
            "train.log": "".join(comm("n5", 500 + d, d, d, 8, bus=f"{b}000") for d, b in enumerate(BUSES))
            + plain(1, 40)
            + "[rank3]: torch.AcceleratorError: CUDA error: unspecified launch failure\n",
            "n5.dmesg.txt": "[Sat Mar 14 09:01:22 2026] NVRM: GPU at PCI:0000:4b:00: GPU-77\n[Sat Mar 14 09:01:22 2026] NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n",
        },
        "gpu_hardware",
        rank=3,
        node="n5",
        step=(41, 41),
    ),
    Story(
        "somebody cancelled the job, and the kernel only cleaned up",
        {
            "slurm.out": plain(1, 40) + "slurmstepd: error: *** JOB 5 ON n5 CANCELLED AT 2026-03-14T09:01:21 ***\n",
            "n5.dmesg.txt": "[Sat Mar 14 09:01:22 2026] NVRM: Xid (PCI:0000:4b:00): 45, pid=4411, name=python, Ch 00000008\n[Sat Mar 14 09:01:22 2026] NVRM: Xid (PCI:0000:4b:00): 45, pid=4411, name=python, Ch 00000009\n",
        },
        "preempted",
        step=(41, 41),
    ),
    Story(
        "the kernel's pid is not the container's: the time joins them",
        {
            "train.log": four(1, 40) + closing([70, 71]) + agent(-9, 2, 72, rank=2, host="pod-a", at=90),
            "pod-a.dmesg.log": kernel(
                85, "pod-a", "Memory cgroup out of memory: Killed process 99812 (python) total-vm:90kB, anon-rss:60kB"
            ),
        },
        "host_oom",
        rank=2,
        step=(41, 41),
    ),
    Story(
        "a node was rebooted",
        {
            "node2.log": "".join(plain(1, 100, rank=r) for r in range(2)),
            "node3.log": "".join(plain(1, 60, rank=r) for r in (2, 3)),
            "node3.journal.log": "Mar 14 09:02:01 node3 systemd-logind[900]: The system will reboot now!\nMar 14 09:02:01 node3 systemd-logind[900]: System is rebooting.\n",
        },
        "node_lost",
        node="node3",
        also=("preempted",),
    ),
    Story(
        "a pod was ended because its node shuts down",
        {
            "worker.log": plain(1, 40),
            "describe.txt": "Name:             llm-worker-2\nNamespace:        ml\nStatus:           Failed\nReason:           Terminated\nMessage:          Pod was terminated in response to imminent node shutdown.\nContainers:\n  pytorch:\n    State:          Terminated\n      Reason:       Error\n      Exit Code:    137\n",
        },
        "preempted",
    ),
    Story(
        "sacct says TIMEOUT",
        {
            "train.log": plain(1, 40),
            "sacct.txt": "JobID           JobName      State ExitCode        NodeList \n------------ ---------- ---------- -------- --------------- \n771               train    TIMEOUT      0:0         n[1-4] \n771.batch         batch  CANCELLED     0:15             n1 \n",
        },
        "preempted",
    ),
    Story(
        "sacct says NODE_FAIL",
        {
            "train.log": plain(1, 40),
            "sacct.txt": "JobID|JobName|State|ExitCode|NodeList\n771|train|NODE_FAIL|0:0|n[1-4]\n",
        },
        "node_lost",
    ),
    Story(
        "scontrol says OUT_OF_MEMORY",
        {
            "train.log": plain(1, 40),
            "scontrol.txt": "JobId=771 JobName=train\n   UserId=me(1001) GroupId=me(1001)\n   JobState=OUT_OF_MEMORY Reason=OutOfMemory Dependency=(null)\n   NodeList=n4\n   BatchHost=n4\n",
        },
        "host_oom",
    ),
    Story(
        "scontrol says TIMEOUT",
        {
            "train.log": plain(1, 40),
            "scontrol.txt": "JobId=771 JobName=train\n   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n   NodeList=n4\n",
        },
        "preempted",
    ),
    Story(
        "only aborted communicators are left, of all ranks but what is cut away",
        {
            "train.log": four(1, 30)
            + "".join(f"[rank{r}]: RuntimeError: NCCL communicator was aborted on rank {r}. \n" for r in range(4))
        },
        "collective_hang",
        also=("rank_crash",),
    ),
    Story(
        "one rank's watchdog tells of its GPU's illegal access, the others' of NCCL",
        {
            "train.log": four(1, 30)
            + f"[rank2]:[E{glog(70)} ProcessGroupNCCL.cpp:1896] [PG ID 0 PG GUID 0(default_pg) Rank 2] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nException raised from c10_cuda_check_implementation at /pytorch/c10/cuda/CUDAException.cpp:43 (most recent call first):\nframe #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f in libc10.so)\nterminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 PG GUID 0(default_pg) Rank 2] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered\n"
            + "".join(
                f"[rank{r}]:[E{glog(71)} ProcessGroupNCCL.cpp:1896] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Process group watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.27.3\n"
                for r in (0, 1, 3)
            )
        },
        "rank_crash",
        rank=2,
        step=(31, 31),
    ),
    Story(
        "Ray Train names the rank whose error it prints",
        {
            "driver.log": "".join(
                f"(RayTrainWorker pid={100 + i}) step {s} loss {2 - s * 0.01:.3f}\n"
                for s in range(1, 20)
                for i in range(4)
            )
            + 'ray.train.WorkerGroupError: Training failed due to worker errors:\n[Rank 3 Error Snippet]:\nTraceback (most recent call last):\n  File "/w/loop.py", line 21, in train_loop\n    loss = model(x)\nValueError: Expected input batch_size (8) to match target batch_size (7).\n'
        },
        "rank_crash",
        rank=3,
        step=(20, 20),
        rank_may_be_unnamed=True,
    ),
    Story(
        "UCX's handler tells host and pid, prterun the rank",
        {
            "job.log": plain(1, 20)
            + "[gpu-node07:613162:0:613162] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x10)\n==== backtrace (tid: 613162) ====\n 0 0x0000000000042520 __sigaction()  ???:0\n--------------------------------------------------------------------------\nprterun noticed that process rank 48 with PID 613162 on node gpu-node07 exited on\nsignal 11 (Segmentation fault).\n--------------------------------------------------------------------------\n"
        },
        "rank_crash",
        rank=48,
        node="gpu-node07",
        step=(21, 21),
    ),
    Story(
        "a process is blocked in the kernel on NFS: one of sixteen that NCCL's start told",
        {
            "train.log": "".join(
                comm(f"node{n}", 4400 + n * 100 + d, d, n * 8 + d, 16, bus=f"{d + 1}1000")
                for n in range(2)
                for d in range(8)
            )
            + megatron(1, 40),
            "node1.dmesg.log": kernel(700, "node1", "INFO: task python:4502 blocked for more than 120 seconds.")
            + kernel(700, "node1", " nfs_wait_bit_killable+0x1e/0x90 [nfs]"),
        },
        "storage_stall",
        rank=10,
        node="node1",
        step=(41, 41),
    ),
    Story(
        "two ranks disagree about a collective: nobody can be outvoted",
        {
            "all.log": plain(1, 20, rank=0)
            + plain(1, 20, rank=1)
            + differs(0, "BROADCAST", 1, "ALLREDUCE")
            + differs(1, "ALLREDUCE", 0, "BROADCAST")
        },
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "a progress bar is glued to the watchdog's line",
        {
            "train.log": "\r".join(bar(n) for n in range(1, 25))
            + "".join(timeout(r, 60, at=700).rstrip("\n") + "\n" for r in (5, 0, 1, 3, 4, 6, 7))
        },
        "collective_hang",
        rank=2,
        step=(24, 25),
        rank_may_be_unnamed=True,
    ),
    Story(
        "RCCL finds no GPU memory",
        {
            "n1.log": "".join(comm("n1", 100 + d, d, d, 8, bus=f"{d + 1}1000") for d in range(8))
            + plain(1, 20)
            + "n1:103:503 [3] /rccl/src/include/alloc.h:41 NCCL WARN HIP failure 'out of memory'\n"
        },
        "gpu_oom",
        rank=3,
        node="n1",
        step=(21, 21),
    ),
    Story(
        "one node's script fails, the other node is asked to stop",
        {
            "node0.log": plain(1, 20, rank=0)
            + "W0314 09:00:50.000000 400 torch/distributed/elastic/agent/server/api.py:704] Received Signals.SIGTERM death signal, shutting down workers\n",
            "node1.log": traceback("KeyError: 'labels'", prefix="[rank9]: "),
            "slurm.out": "srun: error: node1: task 1: Exited with exit code 1\nsrun: Terminating StepId=44.0\nslurmstepd: error: *** STEP 44.0 ON node0 CANCELLED AT 2026-03-14T09:00:50 ***\nsrun: error: node0: task 0: Terminated\n",
        },
        "rank_crash",
        rank=9,
        node="node1",
    ),
    Story(
        "clocks are a minute apart: what is said decides, not when",
        {
            "node0.log": plain(1, 30, rank=0)
            + traceback(
                "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:23412",
                prefix="[rank0]: ",
            )
            + agent(1, 0, 900, rank=0, host="node0", at=62),
            "node1.log": plain(1, 30, rank=8, begin=60)
            + traceback("IndexError: list index out of range", prefix="[rank8]: ")
            + agent(1, 0, 700, rank=8, host="node1", at=122),
        },
        "rank_crash",
        rank=8,
        node="node1",
        step=(31, 31),
        evidence="IndexError",
    ),
    Story(
        "all nodes abort, and one rank was killed before",
        {
            "node0.log": "".join(plain(1, 30, rank=r) for r in range(2))
            + "".join(timeout(r, 90, at=700) for r in range(2))
            + agent(-6, 0, 900, rank=0, host="node0", at=765),
            "node1.log": "".join(plain(1, 30, rank=r) for r in (2, 3))
            + closing([700])
            + agent(-9, 1, 701, rank=3, host="node1", at=66),
        },
        "host_oom",
        rank=3,
        node="node1",
        step=(31, 31),
        also=("rank_crash",),
    ),
    Story(
        "a person's own words for a loss that is no number, with its step",
        {"all.log": eight(1, 20) + traceback("AssertionError: loss is nan at step 21 on rank 6", prefix="[rank6]: ")},
        "nan_inf",
        rank=6,
        step=(21, 21),
        also=("rank_crash",),
        rank_may_be_unnamed=True,
    ),
    Story(
        "RAS names two ranks that are ahead of thirty: they are not to blame",
        {
            "train.log": megatron(1, 30),
            "ras1.txt": ras(
                "  30 ranks have launched up to operation 640\n  2 ranks have launched up to operation 641\n  Rank 12 -- GPU 4 managed by process 323032 on node 10.137.190.124\n  Rank 13 -- GPU 5 managed by process 323033 on node 10.137.190.124\n"
            ),
            "ras2.txt": ras(
                "  30 ranks have launched up to operation 640\n  2 ranks have launched up to operation 641\n  Rank 12 -- GPU 4 managed by process 323032 on node 10.137.190.124\n  Rank 13 -- GPU 5 managed by process 323033 on node 10.137.190.124\n"
            ),
        },
        "collective_hang",
        also=("none",),
    ),
    Story(
        "RAS names one rank that is ahead of all others",
        {
            "train.log": megatron(1, 30) + timeout(0, 640, at=900),
            "ras1.txt": ras(
                "  31 ranks have launched up to operation 640\n  1 rank has launched up to operation 641\n  Rank 5 -- GPU 5 managed by process 3230 on node 10.137.190.120\n"
            ),
        },
        "collective_hang",
    ),
)
