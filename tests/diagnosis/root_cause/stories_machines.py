"""Failures in the words of clouds, older launchers, drivers and switches."""

from tests.diagnosis.root_cause.build import (
    WAITING,
    Story,
    agent,
    comm,
    counters,
    glog,
    kernel,
    megatron,
    plain,
    pyspy,
    timeout,
    traceback,
)
from tests.diagnosis.root_cause.stories_clusters import eight, four
from tests.diagnosis.root_cause.stories_platforms import OOM

SIXTEEN = "".join(
    comm(f"node{node}", 4400 + node * 100 + device, device, node * 8 + device, 16, bus=f"{device + 1}1000")
    for node in range(2)
    for device in range(8)
)


def alike(rank: int) -> str:
    return timeout(rank, 80, at=700) + counters(rank, 80, 80, 79, at=700)


MACHINES = (
    Story(
        "a tokenizer was forked in a loader worker of one rank",
        {
            "train.log": plain(1, 30)
            + "huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...\n"
            + "".join(timeout(r, 80, at=700) for r in (0, 1, 3)),
            **{
                f"pyspy_rank{r}.txt": pyspy(
                    10 + r,
                    WAITING
                    if r != 2
                    else [
                        "wait (threading.py:320)",
                        "get (queue.py:171)",
                        "_try_get_data (torch/utils/data/dataloader.py:1133)",
                        "__next__ (torch/utils/data/dataloader.py:631)",
                        "train (train.py:205)",
                    ],
                    rank=r,
                )
                for r in range(4)
            },
        },
        "dataloader_stall",
        rank=2,
        step=(31, 31),
    ),
    Story(
        "an NPU's core timed out, and the others' watchdogs ended",
        {
            "all.log": eight(1, 20)
            + "[rank5]: RuntimeError: ACL stream synchronize failed, error code:507014\n[rank5]: [Error]: The aicore execution times out.\n"
            + "".join(
                f"[rank{r}]:[E{glog(800)} compiler_depend.ts:1675] [Rank {r}] HCCL watchdog thread terminated with exception:\n[ERROR] 2026-03-14-09:13:20 (PID:32{r}, Device:{r}, RankID:-1) ERR02005 DIST internal error\n"
                for r in (0, 1, 2)
            )
        },
        "rank_crash",
        rank=5,
        step=(21, 21),
        also=("gpu_hardware",),
    ),
    Story(
        "Lightning puts the job back into the queue",
        {
            "train.log": plain(1, 60)
            + "2026-03-14 09:02:10,100 INFO Handling auto-requeue signal: SIGUSR1\n2026-03-14 09:02:12,100 INFO Requeuing job 771...\n"
        },
        "preempted",
        step=(60, 61),
    ),
    Story(
        "Azure announces that it takes the machine",
        {
            "train.log": plain(1, 60)
            + "2026-03-14 09:02:10,100 WARNING Azure scheduled event: EventType=Preempt, NotBefore=Sat, 14 Mar 2026 09:02:40 GMT, Resources=['vmss_3']\n"
        },
        "preempted",
        step=(60, 61),
    ),
    Story(
        "a port goes down on one node, and all ranks hang alike",
        {
            "node0.log": "".join(plain(1, 30, rank=r) for r in range(8)) + "".join(alike(r) for r in range(8)),
            "node1.log": "".join(plain(1, 30, rank=r) for r in range(8, 16)) + "".join(alike(r) for r in range(8, 16)),
            "node1.dmesg.log": kernel(95, "node1", "mlx5_core 0000:9a:00.0: mlx5_4: Port: 1 Link DOWN"),
        },
        "network_fault",
        node="node1",
        step=(31, 31),
    ),
    Story(
        "the driver cannot start a GPU, and no rank finds one",
        {
            "train.log": traceback("RuntimeError: No CUDA GPUs are available"),
            "n4.dmesg.log": kernel(5, "n4", "NVRM: GPU 0000:b3:00.0: RmInitAdapter failed! (0x62:0xffff:2355)")
            + kernel(5, "n4", "NVRM: GPU 0000:b3:00.0: rm_init_adapter failed, device minor number 6"),
        },
        "gpu_hardware",
        node="n4",
    ),
    Story(
        "the fabric manager's own log tells of a fatal error",
        {
            "train.log": eight(1, 30) + "".join(timeout(r, 80, at=700) for r in range(8)),
            "fabricmanager.log": "[Mar 14 2026 09:01:01] [ERROR] [tid 4411] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:c5:00.0 physical id 3 port 30\n",
        },
        "gpu_hardware",
        step=(31, 31),
    ),
    Story(
        "the other agent's rendezvous was closed",
        {
            "node0.log": plain(1, 20, rank=0)
            + traceback(
                "ValueError: could not broadcast input array from shape (3,) into shape (4,)", prefix="[rank2]: "
            ),
            "node1.log": plain(1, 20, rank=8)
            + traceback(
                "torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
                frames=[("/opt/conda/bin/torchrun", 8, "<module>", "sys.exit(main())")],
            ),
        },
        "rank_crash",
        rank=2,
        step=(21, 21),
    ),
    Story(
        "a thread's broken pipe came before the cause",
        {
            "all.log": four(1, 20)
            + "[rank1]: Exception in thread Thread-3 (_report):\n"
            + traceback("BrokenPipeError: [Errno 32] Broken pipe", prefix="[rank1]: ")
            + traceback("KeyError: 'answer'", prefix="[rank3]: ")
        },
        "rank_crash",
        rank=3,
        step=(21, 21),
        evidence="KeyError",
    ),
    Story(
        "MVAPICH tells rank and node of a fault",
        {"job.log": plain(1, 20) + "[n3:mpi_rank_12][error_sighandler] Caught error: Segmentation fault (signal 11)\n"},
        "rank_crash",
        rank=12,
        node="n3",
        step=(21, 21),
    ),
    Story(
        "an older Intel MPI tells the rank that was killed",
        {
            "job.log": plain(1, 20)
            + "rank 5 in job 1  n3_4411   caused collective abort of all ranks\n  exit status of rank 5: killed by signal 9 \n"
        },
        "host_oom",
        rank=5,
        step=(21, 21),
        also=("rank_crash",),
    ),
    Story(
        "Cray's ALPS tells that memory ran out",
        {
            "job.log": plain(1, 20)
            + "[NID 00123] 2026-03-14 09:00:50 Apid 771: initiated application termination\n[NID 00123] 2026-03-14 09:00:50 Apid 771: OOM killer terminated this process.\n_pmiu_daemon(SIGCHLD): [NID 00123] [c0-0c0s1n1] [Sat Mar 14 09:00:50 2026] PE RANK 12 exit signal Killed\n"
        },
        "host_oom",
        rank=12,
        step=(21, 21),
        rank_may_be_unnamed=True,
    ),
    Story(
        "Grid Engine's time limit",
        {
            "job.log": plain(1, 20),
            "messages.log": "03/14/2026 09:00:50|worker|qmaster|W|job 771.1 exceeded hard wallclock time - initiate terminate method\n",
        },
        "preempted",
    ),
    Story(
        "a pod's deadline is over",
        {
            "worker.log": plain(1, 40),
            "events.txt": "LAST SEEN   TYPE      REASON             OBJECT          MESSAGE\n10s         Warning   DeadlineExceeded   pod/train-0     Pod was active on the node longer than the specified deadline\n",
        },
        "preempted",
    ),
    Story(
        "the kernel kills the twelfth of sixteen processes that NCCL told",
        {
            "train.log": SIXTEEN + megatron(1, 20),
            "node1.dmesg.log": kernel(
                205, "node1", "Out of memory: Killed process 4503 (pt_main_thread) total-vm:900kB, anon-rss:700kB"
            ),
        },
        "host_oom",
        rank=11,
        node="node1",
        step=(21, 21),
    ),
    Story(
        "one GPU's firmware stops answering, and clocks are hours apart",
        {
            "train.log": SIXTEEN + megatron(1, 20) + "".join(timeout(r, 80, at=900) for r in range(16)),
            "node0.dmesg.log": "".join(
                f"2026-03-14T02:03:{s:02d}.123456+00:00 node0 kernel: NVRM: Xid (PCI:0000:31:00): 119, pid=4402, name=python, Timeout after 45s of waiting for RPC response from GPU2 GSP! Expected function 76 (GSP_RM_CONTROL)\n"
                for s in (30, 45)
            ),
        },
        "gpu_hardware",
        rank=2,
        node="node0",
        step=(21, 21),
    ),
    Story(
        "two agents: one saw an error of its own, the other an abort",
        {
            "n0.log": plain(1, 20) + traceback(OOM) + agent(1, 3, 44, rank=3, host="n0", at=45),
            "n1.log": plain(1, 20) + agent(-6, 2, 45, rank=10, host="n1", at=110),
        },
        "gpu_oom",
        rank=3,
        node="n0",
        step=(21, 21),
    ),
)
