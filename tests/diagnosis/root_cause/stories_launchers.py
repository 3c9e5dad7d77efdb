"""What launchers, clouds and watchdogs say last; and whose word counts when several speak."""

import json

from tests.diagnosis.root_cause.build import (
    WAITING,
    Story,
    agent,
    clock,
    closing,
    down,
    kernel,
    megatron,
    plain,
    pyspy,
    timeout,
    traceback,
)
from tests.diagnosis.root_cause.stories_containers import ended, pod, runs


def late(rank: int, at: float = 900) -> str:
    return timeout(rank, 101, at=at) + down(rank, at + 1)


LAUNCHERS = (
    Story(
        "a batch that failed to load and ended rank 2",
        {
            **{
                f"rank{r}.log": plain(1, 100, rank=r)
                + (
                    f"{clock(201)},000 ERROR [rank2] Failed to load batch 812\n"
                    + traceback("ValueError: buffer is smaller than requested size", prefix="[rank2]: ")
                    if r == 2
                    else late(r)
                )
                for r in range(4)
            }
        },
        "rank_crash",
        rank=2,
        also=("dataloader_crash",),
        step=(101, 101),
    ),
    Story(
        "one log of all ranks: rank 3 retries, raises and is gone while others told one more step",
        {
            "all.log": "".join(
                "".join(
                    f"{clock(2 * s)},000 INFO [rank{r}] step {s}/9000 loss 2.{400 - s} grad_norm 0.5 lr 1e-4\n"
                    for r in range(4)
                )
                for s in range(1, 80)
            )
            + f"{clock(160)},000 WARNING [rank3] could not read shard-7, retrying\n"
            + traceback("OSError: [Errno 5] Input/output error: '/fsx/shard-7'", prefix="[rank3]: ")
            + "".join(
                f"{clock(160)},500 INFO [rank{r}] step 80/9000 loss 2.320 grad_norm 0.5 lr 1e-4\n" for r in range(3)
            )
            + "".join(timeout(r, 81, at=900) for r in range(3))
        },
        "storage_stall",
        rank=3,
    ),
    Story(
        "a full buffer below a retry and a traceback, and the launcher names the rank",
        {
            "rank1.log": plain(1, 90, rank=1)
            + f"{clock(181)},000 WARNING [rank1] retrying upload of metrics 1/3\n"
            + traceback("KeyError: 'labels'", prefix="[rank1]: ")
            + plain(91, 93, rank=1, begin=180),
            "rank0.log": plain(1, 93, rank=0) + late(0),
            "launcher.log": closing([11], 200) + agent(1, 1, 4101, rank=1, host="n1", at=199),
        },
        "rank_crash",
        rank=1,
    ),
    Story(
        "rank 0 says it is done at step 70 of 9000",
        {
            f"rank{r}.log": plain(1, 70, rank=r)
            + (
                f"{clock(140)},900 INFO [rank0] Training completed: data exhausted\n"
                if r == 0
                else timeout(r, 300, at=800)
            )
            for r in range(4)
        },
        "collective_hang",
        rank=0,
        also=("rank_crash", "dataloader_stall"),
    ),
    Story(
        "own watchdog, and the stacks show whose loader stands",
        {
            "train.log": plain(1, 120)
            + f"{clock(2040)},000 ERROR No progress for 1800 s, dumping stacks and killing\n",
            "stacks.txt": "".join(
                pyspy(800 + r, WAITING, rank=r)
                if r != 5
                else pyspy(
                    805,
                    (
                        "wait (threading.py:324)",
                        "get (queue.py:180)",
                        "_try_get_data (torch/utils/data/dataloader.py:1133)",
                        "_next_data (torch/utils/data/dataloader.py:1329)",
                        "train (train.py:99)",
                    ),
                    rank=5,
                )
                for r in range(8)
            ),
        },
        "dataloader_stall",
        rank=5,
    ),
    Story(
        "own watchdog, and a GPU fell off the bus before",
        {
            "train.log": plain(1, 120) + f"{clock(2040)},000 ERROR No progress for 1800 s, killing\n",
            "gpu07.dmesg.log": kernel(
                242,
                "gpu07",
                "NVRM: Xid (PCI:0000:40:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            ),
        },
        "gpu_hardware",
        node="gpu07",
    ),
    Story(
        "docker compose tells code 137",
        {
            "compose.log": "".join(f"train-1  | {line}\n" for line in plain(1, 100).splitlines())
            + "train-1 exited with code 137\n"
        },
        "host_oom",
        also=("rank_crash",),
    ),
    Story(
        "ECS stops a task for its memory",
        {
            "train.log": plain(1, 100),
            "task.json": json.dumps(
                {
                    "tasks": [
                        {
                            "containers": [
                                {
                                    "name": "train",
                                    "exitCode": 137,
                                    "reason": "OutOfMemoryError: Container killed due to memory usage",
                                    "lastStatus": "STOPPED",
                                }
                            ],
                            "stoppedReason": "Essential container in task exited",
                        }
                    ]
                },
                indent=4,
            ),
        },
        "host_oom",
        also=("rank_crash",),
    ),
    Story(
        "prterun names the process that ended first",
        {
            "mpi.log": plain(1, 60)
            + "--------------------------------------------------------------------------\nprterun detected that one or more processes exited with non-zero status,\nthus causing the job to be terminated. The first process to do so was:\n\n   Process name: [prterun-gpu03-2311@1,5]\n   Exit code:    1\n--------------------------------------------------------------------------\n"
        },
        "rank_crash",
        rank=5,
    ),
    Story(
        "mpirun names the process that ended first",
        {
            "mpi.log": plain(1, 60)
            + "Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.\nmpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be terminated. The first process to do so was:\n\n  Process name: [[31415,1],5]\n  Exit code:    134\n"
        },
        "rank_crash",
        rank=5,
        rank_may_be_unnamed=True,
    ),
    Story(
        "oneCCL: a device is lost on one rank",
        {
            "mpi.log": "".join(f"[1,0]<stdout>:{line}\n" for line in plain(1, 60).splitlines())
            + "[1,6]<stderr>:terminate called after throwing an instance of 'ccl::v1::exception'\n[1,6]<stderr>:  what():  oneCCL: ze_call.cpp:44 do_call: EXCEPTION: ze error at zeCommandQueueExecuteCommandLists, code: ZE_RESULT_ERROR_DEVICE_LOST\n"
        },
        "gpu_hardware",
        rank=6,
        also=("rank_crash",),
    ),
    Story(
        "SkyPilot recovers a preempted cluster",
        {
            "jobs.log": plain(1, 100)
            + "I 03-14 09:05:12 controller.py:201] Cluster is preempted or failed. Recovering...\n"
        },
        "preempted",
        also=("node_lost",),
    ),
    Story(
        "Slurm: exceeded job memory limit at some point",
        {
            "slurm.out": plain(1, 100)
            + "slurmstepd: error: Exceeded job memory limit at some point.\nsrun: error: gpu-03: task 2: Killed\n"
        },
        "host_oom",
    ),
    Story(
        "HCCL: a link to rank 0 cannot be made",
        {
            "train.log": traceback(
                "RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64\n[rank1]: EI0009: [PID: 2225827] 2025-09-24-20:59:48.119.066 Transport init error. Reason: [Create][DestLink]Create Dest error! createLink para:rank[1]-localUserrank[1]-localIpAddr[172.16.0.114], dst_rank[0]-remoteUserrank[0]-remote_ip_addr[172.16.0.114]",
                prefix="[rank1]: ",
            )
        },
        "network_fault",
        also=("init_timeout", "rank_crash", "collective_hang"),
        rank_may_be_unnamed=True,
    ),
    Story(
        "three nodes see a peer close; its pod was OOMKilled",
        {
            **{
                f"node{n}.log": megatron(1, 90)
                + traceback(
                    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.7.7]:57000",
                    prefix=f"[rank{n * 8}]: ",
                )
                for n in range(3)
            },
            "pods.json": json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "List",
                    "items": [pod(f"w-{i}", f"gpu-{i:02d}", "Running", runs("pytorch")) for i in range(3)]
                    + [pod("w-3", "gpu-17", "Failed", ended("pytorch", "OOMKilled", 137, now=True))],
                },
                indent=4,
            ),
        },
        "host_oom",
        node="gpu-17",
    ),
    Story(
        "a training step watchdog of a rank that only measures itself",
        {
            **{
                f"rank{r}.log": plain(1, 100, rank=r)
                + f"{clock(900)},000 ERROR [rank{r}] no progress for 600 s on this rank, aborting\n"
                for r in range(8)
            }
        },
        "collective_hang",
    ),
    Story(
        "only rank 3's own watchdog is silent",
        {
            **{
                f"rank{r}.log": plain(1, 100, rank=r)
                + (f"{clock(900)},000 ERROR [rank{r}] no progress for 600 s on this rank, aborting\n" if r != 3 else "")
                for r in range(8)
            }
        },
        "collective_hang",
        rank=3,
        rank_may_be_unnamed=True,
    ),
    Story(
        "three nodes cannot connect to one peer",
        {
            f"node{n}.log": megatron(1, 90)
            + f"node{n}:{800 + n}:{990 + n} [0] NCCL WARN socketStartConnect: Connect to 10.1.0.4<43211> failed : Software caused connection abort\n"
            for n in range(3)
        },
        "network_fault",
        innocent_nodes=("node0", "node1", "node2"),
    ),
    Story(
        "a store on node 0 waits for clients",
        {
            "node0.log": traceback(
                "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 15/16 clients joined.",
                prefix="[rank0]: ",
            )
        },
        "init_timeout",
        innocent_nodes=("node0",),
    ),
    Story(
        "DeepEP receivers time out on all ranks of a node",
        {
            "node1.log": plain(1, 80, rank=8)
            + "".join(
                f"[rank{r}]: DeepEP timeout for dispatch RDMA receiver, channel: 3, RDMA: 1, nvl: {r - 8}, src RDMA: 0, src nvl: {r - 8}\n"
                for r in range(8, 16)
            )
            + "".join(
                traceback("RuntimeError: CUDA error: unspecified launch failure", prefix=f"[rank{r}]: ")
                for r in range(8, 16)
            )
        },
        "collective_hang",
        also=("network_fault",),
        innocent_nodes=("node1",),
    ),
    Story(
        "SageMaker tells the exit code of the script",
        {
            "algo-1.log": plain(1, 100)
            + 'AlgorithmError: ExecuteUserScriptError:\nExitCode 137\nErrorMessage ""\nCommand "/opt/conda/bin/python train.py", exit code: 137\n'
        },
        "host_oom",
    ),
    Story(
        "kubectl get pods: one was OOMKilled",
        {
            "train.log": plain(1, 100),
            "pods.txt": "NAME             READY   STATUS      RESTARTS      AGE   IP            NODE     NOMINATED NODE   READINESS GATES\ntrain-master-0   1/1     Running     0             3h    10.244.1.3    gpu-11   <none>           <none>\ntrain-worker-0   1/1     Running     0             3h    10.244.2.3    gpu-12   <none>           <none>\ntrain-worker-2   0/1     OOMKilled   1 (40s ago)   3h    10.244.3.9    gpu-17   <none>           <none>\n",
        },
        "host_oom",
        evidence="OOMKilled",
        node="gpu-17",
    ),
    Story(
        "IB errors of one node's adapter to three peers",
        {
            **{f"node{i}.log": megatron(1, 90) for i in range(3)},
            "node3.log": megatron(1, 90)
            + "".join(
                f"node3:800:990 [2] NCCL WARN NET/IB : Got completion from peer 10.1.0.{p}<41822> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_2\n"
                for p in (4, 5, 6)
            ),
        },
        "network_fault",
        node="node3",
    ),
    Story(
        "two pods OOMKilled on two nodes: nobody alone",
        {
            "train.log": plain(1, 100),
            "pods.json": json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "List",
                    "items": [
                        pod(f"w-{i}", f"gpu-{i:02d}", "Failed", ended("pytorch", "OOMKilled", 137, now=True))
                        for i in (3, 9)
                    ],
                },
                indent=4,
            ),
        },
        "host_oom",
        innocent_nodes=("gpu-03", "gpu-09"),
    ),
    Story(
        "a watchdog of the launcher kills after a loader hang, logs in words of its own",
        {
            "train.log": plain(1, 100)
            + f"{clock(1400)},000 [monitor] WARN rank 6 has not sent a heartbeat for 1200s\n{clock(1401)},000 [monitor] ERROR hang detected (no heartbeat from rank 6 for 1200s), terminating all workers\n"
            + closing([11, 12, 13], 1402)
        },
        "collective_hang",
        rank=6,
        rank_may_be_unnamed=True,
    ),
    Story(
        "training is over, then rank 0 runs out of disk at the last save",
        {
            "rank0.log": plain(1, 100, rank=0).replace("/9000", "/100")
            + f"{clock(201)},000 INFO [rank0] Training completed. Saving final model\n"
            + traceback("OSError: [Errno 28] No space left on device: '/ckpt/final'", prefix="[rank0]: "),
            "rank1.log": plain(1, 100, rank=1).replace("/9000", "/100") + late(1),
        },
        "disk_full",
        rank=0,
    ),
    Story(
        "checkpoint ranks: two could not write",
        {
            "node0.log": plain(1, 100, rank=0)
            + "".join(
                f'[rank{r}]: torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([11, 12])\n[rank{r}]: Traceback (most recent call last): (RANK 11)\n[rank{r}]:   File "/v/utils.py", line 162, in reduce_scatter\n[rank{r}]:     local_data = map_fun()\n[rank{r}]: OSError: [Errno 5] Input/output error\n'
                for r in range(8)
            )
        },
        "checkpoint_failure",
        also=("storage_stall",),
        rank_may_be_unnamed=True,
        innocent_nodes=("node0",),
    ),
)
