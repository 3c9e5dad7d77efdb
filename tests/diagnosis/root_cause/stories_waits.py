"""Runs that waited, were stopped, or only looked troubled."""

from tests.diagnosis.root_cause.build import (
    WAITING,
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
    pyspy,
    timeout,
    traceback,
)

NO_ERROR = {f"rank{r}.log": plain(1, 300, rank=r) for r in range(4)}

WAITS = (
    Story(
        "every rank joined and nothing finished: nobody can be named",
        {
            "all.log": plain(1, 60)
            + "".join(timeout(r, 900, at=800) + counters(r, 900, 905, 899, at=800) for r in range(8))
            + "".join(down(r, 860) for r in range(8))
            + agent(-6, 4, 404, rank=4, host="n1", at=862)
        },
        "collective_hang",
        step=(61, 61),
        also=("network_fault",),
    ),
    Story(
        "one rank sends another size at the same number",
        {
            "all.log": plain(1, 7219)[-40_000:]
            + "".join(
                timeout(r, 7219, op="BROADCAST", numel=24_084_544 if r != 4 else 64, at=15_000, ran=600_000)
                for r in range(8)
            )
        },
        "collective_hang",
        rank=4,
        evidence="NumelIn=64",
    ),
    Story(
        "rank 0 downloads while others wait for it to answer",
        {
            "rank0.log": "2026-03-14 09:00:00,000 INFO loading\nDownloading shards:  35%|███▌      | 7/20 [28:00<52:00, 240.00s/it]\n",
            **{
                f"rank{r}.log": "2026-03-14 09:00:00,000 INFO loading\n"
                + traceback(
                    f"RuntimeError: [{r}] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by "
                    "key '0', but store->get('0') got error: Socket Timeout"
                )
                for r in range(1, 4)
            },
        },
        "dataloader_stall",
        rank=0,
        rank_may_be_unnamed=True,
    ),
    Story(
        "one rank talks to the tracker while all others wait",
        {
            "train.log": megatron(10, 90),
            "stacks-n1.txt": "".join(
                pyspy(100 + r, WAITING, rank=r, state="active")
                if r != 0
                else pyspy(
                    100,
                    (
                        "recv_into (ssl.py:1166)",
                        "readinto (socket.py:705)",
                        "getresponse (http/client.py:1374)",
                        "send (requests/adapters.py:589)",
                        "log (wandb/sdk/wandb_run.py:1700)",
                        "train (train.py:190)",
                        "<module> (train.py:300)",
                    ),
                    rank=0,
                )
                for r in range(8)
            ),
        },
        "collective_hang",
        rank=0,
        step=(91, 91),
    ),
    Story(
        "all ranks wait for their loaders",
        {
            "train.log": megatron(10, 90),
            "stacks.txt": "".join(
                pyspy(
                    100 + r,
                    (
                        "wait (threading.py:320)",
                        "get (queue.py:180)",
                        "_try_get_data (torch/utils/data/dataloader.py:1132)",
                        "_get_data (torch/utils/data/dataloader.py:1284)",
                        "__next__ (torch/utils/data/dataloader.py:630)",
                        "train (train.py:180)",
                    ),
                    rank=r,
                )
                for r in range(4)
            ),
            "gpu.csv": gpu_csv(dict.fromkeys(range(4), 0), gpus=4, busy_until=600, until=4000),
        },
        "dataloader_stall",
        step=(91, 91),
        evidence="_try_get_data",
    ),
    Story(
        "one GPU idles, the log stopped, the node is known",
        {
            "node2.log": "".join(f"[rank{16 + r}]: ready on local rank {r}\n" for r in range(8))
            + megatron(1, 50, every=2.0),
            "gpu-node2.csv": gpu_csv({6: 0}, busy_until=100, until=1500),
        },
        "collective_hang",
        rank=22,
        node="node2",
        step=(51, 51),
        evidence=",6,0,",
    ),
    Story(
        "a hang at the very start: all GPUs spin and no step was ever told",
        {
            "train.log": "2026-03-14 09:00:00,000 INFO world_size=4, starting\n2026-03-14 09:00:20,000 INFO model built\n",
            "gpu.csv": gpu_csv({}, gpus=4, busy_until=20, until=2400),
        },
        "collective_hang",
    ),
    Story(
        "NFS does not answer on one node",
        {
            "node1.log": "".join(f"[rank{r}]: up\n" for r in range(4)) + megatron(1, 40),
            "node2.log": "".join(f"[rank{4 + r}]: up\n" for r in range(4)),
            "node2-dmesg.log": "[100.000001] nfs: server filer7 not responding, still trying\n"
            "[220.000001] INFO: task python3:4412 blocked for more than 120 seconds.\n",
            "gpu-node1.csv": gpu_csv({}, gpus=4, busy_until=400, until=2400),
            "gpu-node2.csv": gpu_csv(dict.fromkeys(range(4), 0), gpus=4, busy_until=400, until=2400),
        },
        "storage_stall",
        node="node2",
        step=(41, 41),
        evidence="nfs: server filer7 not responding",
    ),
    Story(
        "many ranks name one peer that does not acknowledge",
        {
            f"node{n}.log": "".join(f"[rank{n * 2 + r}]: ok\n" for r in range(2))
            + megatron(1, 30)
            + "".join(
                f"node{n}:{n}0{r}:99 [{r}] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.1.0.7<41234> with "
                "status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
                for r in range(2)
            )
            for n in range(3)
        },
        "network_fault",
        node="10.1.0.7",
        step=(31, 31),
        evidence="status=12",
    ),
    Story(
        "a link flaps on one host",
        {
            "node4.log": megatron(1, 30)
            + "node4:12:44 [0] NCCL WARN NET/IB : mlx5_3:1 Got async event : port error\n"
            + "node4:12:45 [1] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.1.0.8<1> with status=12 opcode=0 "
            "len=0 vendor err 129\n",
        },
        "network_fault",
        node="node4",
        step=(31, 31),
        evidence="async event",
    ),
    Story(
        "Slurm lost a node",
        {
            "slurm.out": megatron(1, 77)
            + "srun: error: Node failure on node17\nslurmstepd: error: *** JOB 99 ON node16 CANCELLED AT 2026-03-14T09:20:00 DUE TO NODE "
            "FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n"
        },
        "node_lost",
        node="node17",
        step=(78, 78),
        evidence="Node failure on node17",
    ),
    Story(
        "preempted by the scheduler",
        {
            "slurm.out": plain(1, 90)
            + "slurmstepd: error: *** JOB 1234 ON g12 CANCELLED AT 2026-03-14T09:03:00 DUE TO PREEMPTION ***\n"
            + "[rank: 3] Received SIGTERM: 15\n"
            + traceback("RuntimeError: DataLoader worker (pid 811) is killed by signal: Terminated. ")
        },
        "preempted",
        step=(91, 91),
        evidence="DUE TO PREEMPTION",
    ),
    Story(
        "the terminal was closed",
        {
            "nohup.out": plain(1, 200)
            + "W0314 09:06:41.000000 77 torch/distributed/elastic/agent/server/api.py:723] Received 1 death signal, shutting down workers\n"
            + closing([78, 79], 401)
            + traceback("torch.distributed.elastic.multiprocessing.api.SignalException: Process 77 got signal: 1")
        },
        "preempted",
        step=(201, 201),
        evidence="Received 1 death signal",
    ),
    Story(
        "somebody pressed Ctrl-C on a run that worked",
        {
            "train.log": plain(1, 200)
            + traceback("KeyboardInterrupt", frames=[("/workspace/train.py", 90, "main", "loss.backward()")])
        },
        "preempted",
        step=(201, 201),
    ),
    Story(
        "scancel without a reason",
        {
            "slurm.out": plain(1, 200)
            + "slurmstepd: error: *** STEP 55.0 ON g1 CANCELLED AT 2026-03-14T09:06:45 ***\nsrun: Job step aborted: Waiting up to 32 "
            "seconds for job step to finish.\n"
        },
        "preempted",
        step=(201, 201),
        evidence="CANCELLED AT",
    ),
    Story(
        "a save that never ended",
        {
            "rank0.log": plain(1, 400, rank=0) + f"{clock(800)},500 INFO [rank0] saving checkpoint at step 400\n",
            **{f"rank{r}.log": plain(1, 400, rank=r) + timeout(r, 1200, at=1402) + down(r, 1460) for r in (1, 2, 3)},
        },
        "checkpoint_failure",
        rank=0,
        step=(400, 400),
        evidence="saving checkpoint at step 400",
    ),
    Story(
        "a rank that ran out of data and left",
        {
            f"rank{r}.log": plain(1, 70, rank=r)
            + (f"{clock(140)},900 INFO [rank1] training done\n" if r == 1 else timeout(r, 300, at=800))
            for r in range(4)
        },
        "collective_hang",
        rank=1,
        step=(71, 71),
        also=("rank_crash", "dataloader_stall"),
    ),
    Story(
        "steps became 6 % slower for good, and nothing is said",
        {"main.log": megatron(100, 180, every=105.2) + megatron(181, 260, every=111.1, begin=81 * 105.2)},
        "slowdown",
        step=(179, 183),
    ),
    Story(
        "a run that ended well and was noisy about it",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)} INFO Training finished\n"
            + f"[rank3]:[W{glog(103)} TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=61, addr=[n1]:50, remote=[n0]:29500): failed to "
            "recv, got 0 bytes\n"
            + "[rank0]:[W ProcessGroupNCCL.cpp:1250] Warning: WARNING: destroy_process_group() was not called before program exit, which "
            "can leak resources.\n"
        },
        "none",
    ),
    Story("a run in the middle of its work", NO_ERROR, "none"),
    Story(
        "retries that worked",
        {
            "train.log": plain(1, 50)
            + "Got disconnected from remote data host. Retrying in 5sec [1/20]\n"
            + plain(51, 150, begin=110)
            + traceback(
                "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='api.wandb.ai', port=443): Read timed out."
            )
            + plain(151, 300, begin=320)
        },
        "none",
    ),
    Story(
        "a checkpoint is being saved, and the stacks show it",
        {
            "rank0.log": plain(1, 200, rank=0) + f"{clock(400)},100 INFO [rank0] saving checkpoint at step 200\n",
            "rank1.log": plain(1, 200, rank=1),
            "rank2.log": plain(1, 200, rank=2),
            "pyspy.txt": pyspy(
                10, ("write (io.py:1)", "_save (torch/serialization.py:880)", "main (train.py:9)"), rank=0
            )
            + pyspy(11, WAITING, rank=1)
            + pyspy(12, WAITING, rank=2),
        },
        "none",
    ),
    Story(
        "an earlier attempt crashed, the newest one trains",
        {
            "train.log": "W0314 09:00:00.000000 1 torch/distributed/run.py:779] Setting OMP_NUM_THREADS environment variable\n"
            + plain(1, 50)
            + traceback("RuntimeError: CUDA error: an illegal memory access was encountered")
            + "W0314 09:10:00.000000 1 torch/distributed/run.py:779] Setting OMP_NUM_THREADS environment variable\n"
            + plain(41, 300, begin=620)
        },
        "none",
    ),
)
