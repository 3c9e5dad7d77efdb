"""Memory that ran out, a GPU's or the host's, and what only looks like it."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    closing,
    comm,
    counters,
    down,
    glog,
    gpu_csv,
    kernel,
    megatron,
    plain,
    timeout,
    traceback,
)

OOM = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.06 GiB is free. "
    "Including non-PyTorch memory, this process has 78.03 GiB memory in use. Of the allocated memory 70.11 GiB is allocated by "
    "PyTorch, and 6.20 GiB is reserved by PyTorch but unallocated."
)


OLD_OOM = (
    "RuntimeError: CUDA out of memory. Tried to allocate 304.00 MiB (GPU 0; 8.00 GiB total capacity; 142.76 MiB already "
    "allocated; 6.32 GiB free; 158.00 MiB reserved in total by PyTorch)"
)


GROUP = (
    "Memory cgroup out of memory: Killed process 29436 ({name}) total-vm:1933680kB, anon-rss:1178156kB, file-rss:102576kB, "
    "shmem-rss:0kB, UID:0 pgtables:2884kB oom_score_adj:0"
)


MEMORY = (
    Story(
        "a process of its own name is ended at its group's limit, and its number is known",
        {
            "train.log": plain(1, 100) + agent(-9, 1, 29436, rank=1, host="gpu-7", at=202),
            "gpu-7.dmesg.txt": kernel(200, "gpu-7", GROUP.format(name="my_model")),
        },
        "host_oom",
        rank=1,
        evidence="Killed process 29436 (my_model)",
    ),
    Story(
        "a browser is ended at its group's limit at the moment at which a rank is killed",
        {
            "train.log": plain(1, 100) + agent(-9, 1, 4711, rank=1, host="gpu-7", at=202),
            "gpu-7.dmesg.txt": kernel(200, "gpu-7", GROUP.format(name="chrome")),
        },
        "rank_crash",
        rank=1,
    ),
    Story(
        "one rank runs out of GPU memory, the others wait ten minutes",
        {
            f"rank{rank}.log": plain(1, 40, rank=rank)
            + (
                traceback(f"[rank5]: torch.OutOfMemoryError: {OOM}", prefix="[rank5]: ").replace(
                    "[rank5]: [rank5]: ", "[rank5]: "
                )
                if rank == 5
                else timeout(rank, 812, at=690) + down(rank, 690)
            )
            for rank in range(8)
        },
        "gpu_oom",
        rank=5,
        step=(40, 41),
        evidence="torch.OutOfMemoryError: CUDA out of memory",
    ),
    Story(
        "an old-style out-of-memory error without a rank, and a launcher that closed the others",
        {
            "train.log": megatron(100, 140)
            + traceback(OLD_OOM)
            + closing([900, 902, 903], 420)
            + agent(1, 1, 901, rank=1, host="gpu-7", at=421)
        },
        "gpu_oom",
        rank=1,
        node="gpu-7",
        step=(141, 141),
        evidence="CUDA out of memory",
    ),
    Story(
        "all ranks run out of GPU memory at the first step",
        {f"rank{rank}.log": traceback(f"torch.OutOfMemoryError: {OOM}") for rank in range(4)},
        "gpu_oom",
    ),
    Story(
        "NCCL finds no GPU memory; Python only says unhandled cuda error",
        {
            "job.log": "".join(comm("n3", 400 + r, r, r, 4, bus=f"{r + 1}1000") for r in range(4))
            + plain(1, 12)
            + "n3:402:1188 [2] include/alloc.h:184 NCCL WARN Cuda failure 'out of memory'\n"
            + "n3:402:1188 [2] NCCL INFO transport/p2p.cc:238 -> 1\n"
            + traceback(
                "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, "
                "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3\n"
                "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 'out of memory'"
            )
        },
        "gpu_oom",
        rank=2,
        node="n3",
        step=(12, 13),
        evidence="Cuda failure 'out of memory'",
    ),
    Story(
        "a corrupted size is no lack of memory: the index out of range before it is the cause",
        {
            "rank0.log": plain(1, 30, rank=0),
            "rank1.log": plain(1, 30, rank=1)
            + "".join(
                f"../aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [{b},0,0], thread: [32,0,0] Assertion "
                "`srcIndex < srcSelectDimSize` failed.\n"
                for b in range(40)
            )
            + traceback("[rank1]: RuntimeError: CUDA error: device-side assert triggered")
            + traceback("[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB memory."),
            "rank2.log": plain(1, 30, rank=2) + timeout(2, 99, at=700),
            "rank3.log": plain(1, 30, rank=3) + timeout(3, 99, at=700),
        },
        "rank_crash",
        rank=1,
        step=(30, 31),
        evidence="srcIndex < srcSelectDimSize",
    ),
    Story(
        "host memory: the DeepSpeed launcher's -9 and the kernel's own words",
        {
            "train.log": plain(1, 33)
            + "[2026-03-14 09:02:00,100] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 7101\n"
            + "[2026-03-14 09:02:00,100] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 7102\n"
            + "[2026-03-14 09:02:01,100] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', "
            "'--local_rank=7'] exits with return code = -9\n",
            "node4-dmesg.txt": "[7411.000001] python invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0\n"
            "[7411.100002] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,"
            "task_memcg=/user.slice,task=python,pid=7102,uid=1000\n"
            "[7411.200003] Out of memory: Killed process 7102 (python) total-vm:912000000kB, anon-rss:488000000kB, file-rss:0kB\n",
        },
        "host_oom",
        step=(34, 34),
        evidence="Out of memory: Killed process 7102",
    ),
    Story(
        "Kubernetes says OOMKilled",
        {
            "worker-1.log": plain(1, 20),
            "describe-worker-1.txt": "Name:         job-worker-1\nNamespace:    train\nNode:         pool-a-7/10.1.0.9\n"
            "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
        },
        "host_oom",
        step=(21, 21),
        evidence="OOMKilled",
    ),
    Story(
        "srun says Out Of Memory for one task",
        {
            "slurm-77.out": plain(1, 45) + "srun: error: node07: task 3: Out Of Memory\nsrun: Terminating StepId=77.0\n"
            "slurmstepd: error: *** STEP 77.0 ON node05 CANCELLED AT 2026-03-14T09:03:00 ***\n"
        },
        "host_oom",
        node="node07",
        step=(46, 46),
        evidence="task 3: Out Of Memory",
        rank_may_be_unnamed=True,
    ),
    Story(
        "a host allocation that failed",
        {
            "train.log": plain(1, 8)
            + traceback(
                "RuntimeError: [enforce fail at alloc_cpu.cpp:73] . DefaultCPUAllocator: can't allocate memory: you tried to allocate "
                "68719476736 bytes. Error code 12 (Cannot allocate memory)"
            )
        },
        "host_oom",
        step=(9, 9),
        evidence="can't allocate memory",
    ),
    Story(
        "a full GPU explains neither idle GPUs nor timeouts before it",
        {
            "rank0.log": plain(1, 20, rank=0) + timeout(0, 77, at=700) + counters(0, 77, 79, 76, at=700),
            "rank1.log": plain(1, 20, rank=1) + timeout(1, 77, at=700) + counters(1, 77, 79, 76, at=700),
            "rank2.log": plain(1, 20, rank=2)
            + f"[rank2]:[E{glog(701)} ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank 2] Received a dump signal due to a "
            "collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: 76, last completed "
            "NCCL work: 76.\n",
            "rank3.log": plain(1, 20, rank=3) + timeout(3, 77, at=700) + counters(3, 77, 79, 76, at=700),
            "gpu.csv": gpu_csv({2: 0}, gpus=4, busy_until=60),
        },
        "collective_hang",
        rank=2,
        step=(21, 21),
        evidence="Last enqueued NCCL work: 76",
    ),
)
