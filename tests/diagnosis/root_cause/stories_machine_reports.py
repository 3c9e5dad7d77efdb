"""Machines, pods, cards and networks that failed or were taken away, as public reports tell them."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    down,
    glog,
    megatron,
    plain,
    timeout,
    traceback,
)

HOST = "2026-03-14T09:30:00,000000+00:00 "


MACHINE_REPORTS = (
    Story(
        "a remote process left: the node that NCCL names did not write a log",
        {
            f"node{n}.log": megatron(1, 90)
            + f"node{n}:{800 + n}:{990 + n} [0] NCCL WARN NET/IB : Got completion from peer 10.1.0.14<41822> with status=12 opcode=32767 len=0 vendor err 129 (Recv)\n"
            f"[rank{n * 8}]:[E{glog(905)} ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0 Rank {n * 8}] Process group watchdog thread terminated "
            "with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5\n"
            for n in range(3)
        },
        "network_fault",
        step=(91, 91),
        evidence="Got completion from peer",
    ),
    Story(
        "an uncorrectable memory error told only by CUDA",
        {
            "all.log": plain(1, 300)
            + "[rank9]:[E"
            + glog(620)
            + " ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0 Rank 9] Process group watchdog thread terminated with exception: CUDA error: "
            "uncorrectable ECC error encountered\n"
            + "".join(timeout(r, 301, at=1220) + down(r, 1221) for r in (*range(9), *range(10, 16)))
        },
        "gpu_hardware",
        rank=9,
        step=(301, 301),
        evidence="uncorrectable ECC",
    ),
    Story(
        "kubernetes killed one pod for its memory",
        {
            "worker-2.log": plain(1, 90),
            "describe-worker-2.txt": "Name:             llm-worker-2\nNamespace:        train\nNode:             gpu-11/10.0.0.11\nContainers:\n"
            "  pytorch:\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
            "worker-0.log": plain(1, 90)
            + traceback(
                "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, remote process "
                "exited or there was a network error, NCCL version 2.20.5\nncclRemoteError: A call failed possibly due to a network error or a "
                "remote process exiting prematurely."
            ),
        },
        "host_oom",
        evidence="OOMKilled",
        rank_may_be_unnamed=True,
    ),
    Story(
        "a pod was evicted for its disk",
        {
            "worker.log": plain(1, 60),
            "events.txt": "LAST SEEN   TYPE      REASON      OBJECT             MESSAGE\n"
            "3m          Warning   Evicted     pod/llm-worker-4   The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 8Gi.\n"
            "3m          Normal    Killing     pod/llm-worker-4   Stopping container pytorch\n",
        },
        "preempted",
        evidence="ephemeral-storage",
        also=("disk_full",),
    ),
    Story(
        "a spot machine was taken back",
        {
            "rank0.log": plain(1, 500, rank=0)
            + "2026-03-14 09:16:45,120 WARNING EC2 spot instance interruption notice received: action=terminate time=2026-03-14T09:18:45Z\n"
            "2026-03-14 09:16:46,001 INFO saving emergency checkpoint\n",
            "rank1.log": plain(1, 500, rank=1)
            + traceback(
                "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.4]:45011",
                prefix="[rank1]: ",
            ),
        },
        "preempted",
        evidence="interruption notice",
        step=(501, 501),
    ),
    Story(
        "a lost power: one node falls silent, the agents miss its keep-alive",
        {
            "node0.log": megatron(1, 200)
            + "[W314 09:40:00.000000001 TCPStore.cpp:106] [c10d] recvVector failed on SocketImpl(fd=4): Connection reset by peer\n"
            "W0314 09:40:05.000000 77 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:1267] The node 'node0_77_0' has failed to send a keep-alive heartbeat to the rendezvous 'job' due to an error of type RendezvousConnectionError.\n",
            "slurmctld.log": "slurmctld: error: Nodes node3 not responding, setting DOWN\n"
            "srun: error: Node failure on node3\n"
            "slurmstepd: error: *** JOB 55 ON node0 CANCELLED AT 2026-03-14T09:41:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n",
        },
        "node_lost",
        node="node3",
    ),
    Story(
        "NFS stops on one node; its processes hang in the kernel",
        {
            "train.log": megatron(1, 120) + "".join(timeout(r, 900, at=2000) for r in range(8)),
            "dmesg_node2.txt": "[88123.112233] nfs: server 10.0.9.9 not responding, still trying\n"
            "[88244.334455] INFO: task pt_data_worker:4410 blocked for more than 122 seconds.\n",
        },
        "storage_stall",
        node="node2",
        step=(121, 121),
        evidence="not responding",
    ),
    Story(
        "an NVLink error ends all ranks of one node",
        {
            "job.log": megatron(1, 60)
            + "".join(
                f"[rank{r}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, unhandled cuda error\n"
                for r in range(8)
            )
            + "gpu7: gpu7:901:1401 [3] NCCL WARN Cuda failure 'uncorrectable NVLink error detected during the execution'\n",
            "gpu7.dmesg": HOST
            + "NVRM: Xid (PCI:0000:4e:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 9(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)\n",
        },
        "gpu_hardware",
        node="gpu7",
        rank_may_be_unnamed=True,
    ),
    Story(
        "the driver's own processor stops answering",
        {
            "train.log": plain(1, 44) + "".join(timeout(r, 88, at=700) for r in range(8)),
            "dmesg-host4.log": HOST
            + "NVRM: Xid (PCI:0000:9a:00): 119, pid=21109, name=python, Timeout after 6s of waiting for RPC response from GPU5 GSP! Expected function 76 (GSP_RM_CONTROL)\n",
        },
        "gpu_hardware",
        node="host4",
        evidence="119",
        rank_may_be_unnamed=True,
    ),
    Story(
        "Ray: an actor died with its node",
        {
            "driver.log": "".join(
                f"(TaskRunner pid=11) step:{i} - actor/entropy_loss:0.42 - critic/score/mean:0.3\n"
                for i in range(1, 30)
            )
            + traceback(
                "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: WorkerDict\n"
                "\tactor_id: 5d1b\n\tpid: 8812\n\tnamespace: 2f\n\tip: 10.0.0.7\nThe actor is dead because its node has died. Node Id: 77ab"
            )
        },
        "node_lost",
        also=("host_oom", "rank_crash"),
    ),
    Story(
        "a time limit of the scheduler with a warning first",
        {
            "job.out": megatron(1, 200) + "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
            "slurmstepd: error: *** STEP 91.0 ON n1 CANCELLED AT 2026-03-14T09:34:00 DUE TO TIME LIMIT ***\n"
            + "".join(
                f"[rank{r}]:[E{glog(2045)} ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0 Rank {r}] Process group watchdog thread terminated with exception: driver shutting down\n"
                for r in range(4)
            )
        },
        "preempted",
        step=(201, 201),
        evidence="DUE TO TIME LIMIT",
    ),
    Story(
        "a network card's link went down on one node",
        {
            "train.log": megatron(1, 77)
            + "node5:1:2 [3] NCCL WARN NET/IB : mlx5_2:1 Got async event : port error\n"
            + "".join(timeout(r, 500, at=1500) for r in range(16)),
            "node5_dmesg.txt": HOST + "mlx5_core 0000:5e:00.0 ens2f0np0: Link down\n",
        },
        "network_fault",
        node="node5",
        step=(78, 78),
    ),
    Story(
        "killed by the kernel: the pid tells the rank",
        {
            "train.log": plain(1, 64) + agent(-9, 2, 5302, rank=10, host="node1", at=130),
            "node1_dmesg.txt": "[9912.100000] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice,task=python,pid=5302,uid=1000\n"
            "[9912.100100] Out of memory: Killed process 5302 (python) total-vm:198832100kB, anon-rss:61200000kB, file-rss:0kB\n",
        },
        "host_oom",
        rank=10,
        node="node1",
        step=(65, 65),
        evidence="Killed process 5302",
    ),
)
