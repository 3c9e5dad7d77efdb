"""Traps: what misleads a hasty reader, and what GPU samples alone can tell."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    closing,
    counters,
    down,
    glog,
    gpu_csv,
    megatron,
    plain,
    timeout,
    traceback,
)


def nodes_csv(dead: str, *, nodes: tuple[str, ...] = ("n1", "n2", "n3"), since: float = 300.0, used: int = 0) -> str:
    lines = ["timestamp,node,index,utilization.gpu [%],memory.used [MiB]"]
    for moment in range(0, 1500, 30):
        for node in nodes:
            for index in range(8):
                is_dead = node == dead and moment >= since
                util = 0 if is_dead else (100 if moment >= since else 80 + (moment + index) % 17)
                lines.append(f"{clock(moment)},{node},{index},{util} %,{used if is_dead else 61_000} MiB")
    return "\n".join(lines) + "\n"


def saw_tooth() -> str:
    lines = ["timestamp,index,util,mem_used_mib"]
    for moment in range(0, 900, 5):
        lines += [f"{clock(moment)},{index},{100 if moment % 20 < 10 else 0},61000" for index in range(8)]
    return "\n".join(lines) + "\n"


def lost_index(index: int, since: float = 200.0) -> str:
    lines = ["timestamp,index,util,mem_used_mib"]
    for moment in range(0, 900, 30):
        lines += [
            f"{clock(moment)},{gpu},{90 if moment < since else 100},61000"
            for gpu in range(8)
            if gpu != index or moment < since
        ]
    return "\n".join(lines) + "\n"


def smi(utils: dict[int, int]) -> str:
    lines = [
        "Sat Mar 14 09:20:00 2026",
        "+---+",
        "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4 |",
    ]
    for gpu in range(8):
        lines += [
            f"|   {gpu}  NVIDIA H100 80GB HBM3          On  |   00000000:{gpu + 16:02X}:00.0 Off |                    0 |",
            f"| N/A   34C    P0             112W /  700W |   70123MiB /  81559MiB |    {utils.get(gpu, 100):3d}%      Default |",
        ]
    return "\n".join(lines) + "\n"


RICH = """╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /workspace/train.py:211 in <module>                                          │
│                                                                              │
│   208 │   main()                                                             │
│ ❱ 211 │   trainer.train()                                                    │
╰──────────────────────────────────────────────────────────────────────────────╯
OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB (GPU 5; 79.15 GiB total capacity; 76.01 GiB already
allocated; 1.20 GiB free; 77.10 GiB reserved in total by PyTorch)
"""

TRAPS = (
    Story(
        "one node's GPUs are empty, all others spin",
        {
            "train.log": plain(1, 150, every=2.0),
            "gpus.csv": nodes_csv("n2"),
        },
        "node_lost",
        node="n2",
        also=("collective_hang", "rank_crash"),
    ),
    Story(
        "a saw-tooth is a slow loader, no hang",
        {"train.log": plain(1, 44, every=20.0), "gpu.csv": saw_tooth()},
        "none",
        also=("dataloader_stall", "slowdown"),
    ),
    Story(
        "a GPU that is no longer listed",
        {"train.log": plain(1, 100, every=2.0), "gpu.csv": lost_index(6)},
        "gpu_hardware",
        rank=6,
        rank_may_be_unnamed=True,
    ),
    Story(
        "samples that the driver could not give are no zeros",
        {
            "all.log": plain(1, 60) + "".join(timeout(r, 61, at=800) for r in range(8)),
            "gpu.csv": "timestamp,index,utilization.gpu [%],memory.used [MiB]\n"
            + "".join(f"{clock(m)},{g},[N/A],[N/A]\n" for m in range(0, 900, 30) for g in range(8)),
        },
        "collective_hang",
        step=(61, 61),
    ),
    Story(
        "two agents: the earlier one saw the cause, the later one an abort",
        {
            "node0.log": megatron(1, 50)
            + "".join(timeout(r, 400, at=1110) + down(r, 1111) for r in range(8))
            + agent(-6, 3, 803, rank=3, host="node0", at=1115),
            "node1.log": megatron(1, 50, begin=1)
            + traceback("ValueError: cannot reshape array of size 511 into shape (8,64)", prefix="[rank12]: ")
            + closing([900, 901], at=505)
            + agent(1, 4, 904, rank=12, host="node1", at=505),
        },
        "rank_crash",
        rank=12,
        node="node1",
        step=(51, 51),
        evidence="cannot reshape",
    ),
    Story(
        "advice and hints are no errors",
        {
            "train.log": "Note: if you see 'CUDA out of memory', lower the micro batch size.\n"
            "Hint: NCCL timeouts could be triggered by a slow disk; raise the timeout if Watchdog caught collective operation timeout appears\n"
            "It is possible that dataloader's workers are out of shared memory if num_workers is too high\n"
            + plain(1, 300)
        },
        "none",
    ),
    Story(
        "an old attempt ran out of memory, the newest one met its time limit",
        {
            "job.log": "W0314 08:00:00.000000 77 torch/distributed/run.py:793] *****************************************\n"
            + plain(1, 40)
            + traceback(
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB",
                prefix="[rank1]: ",
            )
            + agent(1, 1, 901, rank=1, host="n1", at=90)
            + "W0314 09:10:00.000000 99 torch/distributed/run.py:793] *****************************************\n"
            + plain(1, 900, begin=700)
            + "slurmstepd: error: *** JOB 91 ON n1 CANCELLED AT 2026-03-14T09:42:00 DUE TO TIME LIMIT ***\n"
        },
        "preempted",
        step=(901, 901),
    ),
    Story(
        "a batch that did not fit was skipped",
        {
            "train.log": plain(1, 50)
            + "2026-03-14 09:01:41,000 WARNING ran out of memory in forward pass with exception: CUDA out of memory. Tried to allocate 2.20 GiB. Skipping batch\n"
            + plain(51, 300, begin=103)
        },
        "none",
    ),
    Story(
        "a traceback in a box",
        {"train.log": plain(1, 30) + RICH},
        "gpu_oom",
        step=(31, 31),
        evidence="CUDA out of memory",
        rank=None,
    ),
    Story(
        "pdsh says which node",
        {
            "launch.log": "".join(f"worker-1: {line}\n" for line in plain(1, 20).splitlines())
            + "".join(
                f"worker-2: {line}\n"
                for line in traceback(
                    "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard_00017.bin'"
                ).splitlines()
            )
            + "worker-2: [2026-03-14 09:01:00,120] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 512\n"
            "worker-2: [2026-03-14 09:01:01,120] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=7'] exits with return code = 1\n"
        },
        "rank_crash",
        evidence="FileNotFoundError",
        rank_may_be_unnamed=True,
    ),
    Story(
        "JAX runs out of device memory",
        {
            "host3.log": plain(1, 12)
            + traceback(
                "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12884901888 bytes."
            )
        },
        "gpu_oom",
        step=(13, 13),
    ),
    Story(
        "the shell says that it was killed",
        {
            "run.out": plain(1, 77) + "run.sh: line 14: 20112 Killed                  python train.py --bs 64\n",
        },
        "host_oom",
        step=(78, 78),
    ),
    Story(
        "std::bad_alloc",
        {
            "rank4.log": plain(1, 15, rank=4)
            + "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            "rank5.log": plain(1, 15, rank=5) + timeout(5, 16, at=700),
        },
        "host_oom",
        rank=4,
        step=(16, 16),
    ),
    Story(
        "no route at the very start",
        {
            "node0.log": "node0:810:990 [0] NCCL INFO Bootstrap : Using ib0:10.1.0.4<0>\n",
            "node1.log": "node1:811:991 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.0.4<45067> failed : No route to host\n"
            + traceback(
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5",
                prefix="[rank8]: ",
            ),
        },
        "network_fault",
        evidence="No route to host",
        also=("init_timeout",),
    ),
    Story(
        "one adapter fails to many peers",
        {
            "job.log": megatron(1, 88)
            + "".join(
                f"n4:{700 + i}:{900 + i} [{i}] NCCL WARN NET/IB : Got completion from peer 10.1.0.{20 + i}<41822> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_3\n"
                for i in range(4)
            )
        },
        "network_fault",
        node="n4",
        step=(89, 89),
    ),
    Story(
        "stages of a pipeline wait for each other: nobody can be named",
        {
            "all.log": megatron(1, 70)
            + "".join(timeout(r, 3000 + r, op="SEND" if r % 2 else "RECV", at=1400) for r in range(8))
        },
        "collective_hang",
        step=(71, 71),
    ),
    Story(
        "the agent is asked to stop, and its workers print errors for it",
        {
            "train.log": plain(1, 200)
            + "W0314 09:06:45.000000 77 torch/distributed/elastic/agent/server/api.py:725] Received 15 death signal, shutting down workers\n"
            + closing(range(801, 809), at=405)
            + "".join(
                traceback(
                    "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?",
                    prefix=f"[rank{r}]: ",
                )
                for r in (2, 5)
            )
            + traceback(
                "torch.distributed.elastic.multiprocessing.api.SignalException: Process 77 got signal: 15",
                frames=[("/v/bin/torchrun", 8, "<module>", "sys.exit(main())")],
            )
        },
        "preempted",
        step=(201, 201),
    ),
    Story(
        "a person's own watchdog killed the run after the hang",
        {
            **{f"rank{r}.log": plain(1, 99, rank=r) for r in range(4) if r != 2},
            "rank2.log": plain(1, 98, rank=2),
            "launcher.log": "2026-03-14 10:00:00 no progress for 3000 s, killing the job\n"
            + closing([1, 2, 3, 4], at=3600)
            + "".join(counters(r, 500, 500 if r != 2 else 498, 497 if r == 2 else 499, at=3500) for r in range(4)),
        },
        "collective_hang",
        rank=2,
        step=(99, 100),
    ),
    Story(
        "GPU 3 has a full queue: all busy, log silent, no watchdog, no name",
        {"train.log": plain(1, 100), "gpu.csv": gpu_csv({}, until=2400, busy_until=210)},
        "collective_hang",
        also=("none",),
    ),
    Story(
        "logs of JSON with ranks inside",
        {
            "all.jsonl": "".join(
                f'{{"time": "2026-03-14T09:00:{s % 60:02d}Z", "level": "INFO", "rank": {r}, "message": "step {s} loss 2.{s:03d}"}}\n'
                for s in range(1, 50)
                for r in range(4)
            )
            + '{"time": "2026-03-14T09:02:00Z", "level": "ERROR", "rank": 2, "message": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 2 has a total capacity of 79.11 GiB"}\n'
        },
        "gpu_oom",
        rank=2,
        step=(50, 50),
    ),
    Story(
        "a checkpoint's disk was full; the second exception is not the cause",
        {
            "rank0.log": plain(1, 500, rank=0)
            + traceback(
                "OSError: [Errno 28] No space left on device",
                prefix="[rank0]: ",
                frames=[("/w/ckpt.py", 20, "save_checkpoint", "f.write(b)")],
            )
            + "[rank0]: \n[rank0]: During handling of the above exception, another exception occurred:\n[rank0]: \n"
            + traceback(
                "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 9 vs 1", prefix="[rank0]: "
            ),
            "rank1.log": plain(1, 500, rank=1) + timeout(1, 2001, at=1700),
        },
        "disk_full",
        rank=0,
        evidence="No space left",
        step=(500, 501),
    ),
    Story(
        "NCCL's own words about its last error are inside the envelope",
        {
            "train.log": plain(1, 10)
            + traceback(
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n"
                "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nFailed to CUDA calloc async 2432 bytes, error 2 'out of memory'",
                prefix="[rank0]: ",
            )
        },
        "gpu_oom",
        rank=0,
        rank_may_be_unnamed=True,
        evidence="out of memory",
        step=(11, 11),
    ),
    Story(
        "throttling explains slower steps",
        {
            "train.log": plain(1, 200, every=2.0) + plain(201, 300, every=3.0, begin=400),
            "node6_smi.txt": "==============NVSMI LOG==============\n\nTimestamp : Sat Mar 14 09:20:00 2026\nDriver Version : 550.54.15\n\nGPU 00000000:3B:00.0\n"
            "    Clocks Event Reasons\n        Idle                              : Not Active\n        HW Thermal Slowdown               : Active\n",
        },
        "slowdown",
        node="node6",
        step=(200, 202),
    ),
    Story(
        "one look at nvidia-smi tells which of two silent ranks was idle",
        {
            **{f"rank{r}.log": plain(1, 50, rank=r) + timeout(r, 51, at=700) for r in range(8) if r not in {3, 6}},
            "rank3.log": plain(1, 50, rank=3),
            "rank6.log": plain(1, 50, rank=6),
            "smi.txt": smi({6: 0}),
        },
        "collective_hang",
        rank=6,
        step=(51, 51),
    ),
    Story(
        "the watchdog's thread ended for the GPU's own fault",
        {
            "job.log": megatron(1, 33)
            + f"[rank21]:[E{glog(340)} ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0 Rank 21] Process group watchdog thread terminated with exception: "
            "CUDA error: unspecified launch failure\n" + "".join(timeout(r, 40, at=940) for r in range(32) if r != 21)
        },
        "rank_crash",
        rank=21,
        step=(34, 34),
        also=("gpu_hardware",),
    ),
)
