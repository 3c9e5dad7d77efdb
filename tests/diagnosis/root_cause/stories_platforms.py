"""Failures as schedulers, launchers and clouds tell them, and lines that name a rank in ways of their own."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    counters,
    down,
    kernel,
    megatron,
    plain,
    timeout,
    traceback,
    trainer,
)

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 4 has a total capacity of 79.10 GiB of which 1.19 GiB is "
    "free. Including non-PyTorch memory, this process has 77.90 GiB memory in use."
)

PLATFORMS = (
    Story(
        "a pod failed with code 137, and nobody says that it was memory",
        {
            "worker.log": plain(1, 60),
            "describe.txt": "Name:             llm-worker-2\nNamespace:        ml\nNode:             gpu-node-9/10.0.0.9\nStatus:           Failed\nContainers:\n  pytorch:\n    State:          Terminated\n      Reason:       Error\n      Exit Code:    137\n      Started:      Sat, 14 Mar 2026 08:00:00 +0000\n      Finished:     Sat, 14 Mar 2026 09:02:05 +0000\n    Ready:          False\nEvents:\n  Type    Reason   Age   From     Message\n  Normal  Killing  2m    kubelet  Stopping container pytorch\n",
        },
        "preempted",
        also=("rank_crash", "host_oom"),
    ),
    Story(
        "an NPU's memory reports an uncorrectable error below the call that met it",
        {
            "rank5.log": plain(1, 30, rank=5)
            + "[rank5]: RuntimeError: npuSynchronizeDevice:torch_npu/csrc/core/npu/NPUStream.cpp:512 NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507053\n[rank5]: [ERROR] 2026-03-14-09:01:02 (PID:4412, Device:5, RankID:5) ERR00100 PTA call acl api failed\n[rank5]: [Error]: HBM Multi-bit ECC error occurred.\n",
            "rank4.log": plain(1, 30, rank=4),
        },
        "gpu_hardware",
        rank=5,
        step=(31, 31),
    ),
    Story(
        "a task of JAX was preempted: its runtime says so",
        {
            "worker-0.log": plain(1, 77, rank=None)
            + "I0314 09:02:40.112233 1201 preemption_notifier.cc:89] SIGTERM caught at 2026-03-14T09:02:40\nE0314 09:04:10.112233 2301 coordination_service_agent.cc:332] Preemption sync protocol: task /job:jax_worker/replica:0/task:3 was preempted\n"
        },
        "preempted",
        step=(78, 78),
    ),
    Story(
        "a file is missing on the ranks of one node, told by the names of the logs",
        {
            "node1.log": "".join(plain(1, 1, rank=r) for r in (0, 1)),
            "node2.log": "".join(
                traceback(
                    "FileNotFoundError: [Errno 2] No such file or directory: '/data/shards/part-0012.bin'",
                    prefix=f"[rank{r}]: ",
                )
                for r in (2, 3)
            ),
        },
        "rank_crash",
        rank=None,
        node="node2",
    ),
    Story(
        "the driver of one node is too old: the ranks that wait for it at the start are not to blame",
        {
            "node3.log": "".join(
                traceback(
                    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx",
                    prefix=f"[rank{r}]: ",
                )
                for r in range(24, 32)
            ),
            "node2.log": "[rank16]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 24/32 clients joined.\n",
        },
        "rank_crash",
        rank=None,
        node="node3",
    ),
    Story(
        "only rank 0's log is there, and it only saw a peer go",
        {
            "rank0.log": plain(1, 30, rank=0)
            + "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:23412\n"
        },
        "rank_crash",
        rank=None,
        also=("network_fault", "node_lost"),
        step=(31, 31),
    ),
    Story(
        "a full disk in another language",
        {
            "train.log": trainer(1, 20)
            + traceback(
                "OSError: [Errno 28] Aucun espace disponible sur le périphérique: '/home/élève/sorties/checkpoint-20/optimizer.pt'"
            )
        },
        "disk_full",
        step=(20, 21),
    ),
    Story(
        "Volcano evicted a pod",
        {
            "events.txt": "Type     Reason   Age  From     Message\nWarning  Evict    10s  volcano  Pod is evicted, because of preempt\nNormal   Killing  10s  kubelet  Stopping container worker\n",
            "worker-1.log": plain(1, 40),
        },
        "preempted",
    ),
    Story(
        "a batch that did not fit was skipped by a rank; the hang came much later",
        {
            "train.log": plain(1, 20, rank=0)
            + "2026-03-14 09:00:41,100 WARNING [rank2] CUDA out of memory. Skipping batch\n"
            + plain(21, 60, rank=0, begin=42)
            + "".join(timeout(r, 500, at=900) + counters(r, 500, 500, 499, at=900) for r in range(4))
        },
        "collective_hang",
        step=(61, 61),
    ),
    Story(
        "a program that watches over memory ended the training before the kernel had to",
        {
            "train.log": plain(1, 30),
            "messages.log": 'Mar 14 09:01:02 ws1 earlyoom[812]: mem avail:   812 of 128000 MiB ( 0.63%), swap free:    0 of    0 MiB ( 0.00%)\nMar 14 09:01:02 ws1 earlyoom[812]: sending SIGTERM to process 4412 uid 1000 "python": oom_score 1200, VmRSS 110000 MiB, cmdline "python train.py"\n',
        },
        "host_oom",
    ),
    Story(
        "the fabric manager of one node does not run",
        {
            "node7.log": "".join(
                traceback(
                    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
                    prefix=f"[rank{r}]: ",
                )
                for r in range(56, 64)
            ),
            "node0.log": "[rank0]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 56/64 clients joined.\n",
        },
        "rank_crash",
        node="node7",
        also=("gpu_hardware",),
    ),
    Story(
        "the network between two servers of NPUs failed",
        {
            "train.log": "".join(plain(1, 30, rank=r) for r in range(2))
            + "[rank1]: EI0013: [PID: 3312] 2026-03-14-09:02:00.649.300 An ROCE CQE error occurred. Local information: server 10.0.0.1, device id 1. Remote information: server 10.0.0.2, device id 2. Possible cause: 1. The network between two devices is abnormal. For example, the network port is intermittently disconnected. 2. The peer process exits abnormally in advance.\n"
        },
        "network_fault",
        step=(31, 31),
    ),
    Story(
        "accelerate's wrapper saw its script killed",
        {
            "train.log": trainer(1, 20)
            + traceback(
                "subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' died with <Signals.SIGKILL: 9>.",
                frames=[
                    ("/opt/conda/bin/accelerate", 8, "<module>", "sys.exit(main())"),
                    (
                        "/opt/conda/lib/python3.10/site-packages/accelerate/commands/launch.py",
                        763,
                        "simple_launcher",
                        "raise subprocess.CalledProcessError(returncode=process.returncode, cmd=cmd)",
                    ),
                ],
            )
        },
        "host_oom",
        also=("rank_crash",),
    ),
    Story(
        "SkyPilot counts nodes where others count ranks",
        {
            "run.log": "".join(
                f"(head, rank=0, pid=2001) {clock(s)},100 INFO step {s}/9000 loss 2.{900 - s}\n" for s in range(1, 20)
            )
            + f'(worker1, rank=1, pid=2003, ip=10.0.0.2) [rank12]: Traceback (most recent call last):\n(worker1, rank=1, pid=2003, ip=10.0.0.2) [rank12]:   File "/w/t.py", line 1, in f\n(worker1, rank=1, pid=2003, ip=10.0.0.2) [rank12]: {OOM}\n'
        },
        "gpu_oom",
        rank=12,
        step=(20, 20),
    ),
    Story(
        "SkyPilot's number is no rank where nothing else tells one",
        {
            "run.log": "".join(
                f"(head, rank=0, pid=2001) {clock(s)},100 INFO step {s}/9000 loss 2.{900 - s}\n" for s in range(1, 20)
            )
            + f'(worker1, rank=1, pid=2003, ip=10.0.0.2) Traceback (most recent call last):\n(worker1, rank=1, pid=2003, ip=10.0.0.2)   File "/w/t.py", line 1, in f\n(worker1, rank=1, pid=2003, ip=10.0.0.2)     loss.backward()\n(worker1, rank=1, pid=2003, ip=10.0.0.2) {OOM}\n'
        },
        "gpu_oom",
    ),
    Story(
        "SageMaker puts rank and node into MPI's tag",
        {
            "job.log": "".join(
                f"[1,mpirank:{r},algo-{r // 4 + 1}]<stdout>:step {s} loss 2.{900 - s}\n"
                for s in range(1, 20)
                for r in range(8)
            )
            + '[1,mpirank:5,algo-2]<stderr>:Traceback (most recent call last):\n[1,mpirank:5,algo-2]<stderr>:  File "train.py", line 12, in <module>\n[1,mpirank:5,algo-2]<stderr>:    main()\n[1,mpirank:5,algo-2]<stderr>:RuntimeError: CUDA out of memory. Tried to allocate 304.00 MiB (GPU 1; 15.78 GiB total capacity; 14.2 GiB already allocated; 126.00 MiB free; 14.6 GiB reserved in total by PyTorch)\n'
        },
        "gpu_oom",
        rank=5,
        node="algo-2",
    ),
    Story(
        "Composer puts rank, pid and thread in front",
        {
            "n1.log": "".join(
                f"2026-03-14 09:00:{s:02d},123: rank8[4711][MainThread]: INFO: composer.trainer.trainer: [batch={s}/9000]: train/loss 2.{900 - s}\n"
                for s in range(1, 20)
            )
            + "2026-03-14 09:00:21,123: rank9[4712][MainThread]: ERROR: composer.trainer.trainer: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
        },
        "gpu_oom",
        rank=9,
    ),
    Story(
        "an error stands in a text that the model wrote, and the run ended well",
        {
            "train.log": trainer(1, 40)
            + 'Sample generation:\n<|user|> why does my code crash?\n<|assistant|> Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    loss.backward()\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. Reduce the batch size.\n'
            + trainer(41, 43)
            + "{'train_runtime': 412.1, 'train_samples_per_second': 3.1, 'train_loss': 1.2, 'epoch': 1.0}\n"
        },
        "none",
    ),
    Story(
        "the error is printed at once, the steps before it only when the process ended",
        {
            "train.log": traceback(OOM, frames=[("/w/train.py", 211, "main", "loss.backward()")])
            + trainer(1, 60)
            + agent(1, 0, 4100, rank=0, host="g1", at=60)
        },
        "gpu_oom",
        rank=0,
    ),
    Story(
        "all ranks timed out, and one rank's own file was not copied",
        {
            f"rank{r}.log": plain(1, 30, rank=r)
            + timeout(r, 77, at=700)
            + counters(r, 77, 77, 76, at=700)
            + down(r, 760)
            for r in range(8)
            if r != 5
        },
        "collective_hang",
        step=(31, 31),
    ),
    Story(
        "torchrun's summary holds the traceback itself, of a main function that torch records",
        {
            "train.log": plain(1, 20)
            + '============================================================\ntrain.py FAILED\n------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-03-14_09:00:50\n  host      : g2\n  rank      : 11 (local_rank: 3)\n  exitcode  : 1 (pid: 4103)\n  error_file: /tmp/torchelastic_k1/attempt_0/3/error.json\n  traceback : Traceback (most recent call last):\n    File "/opt/conda/lib/python3.10/site-packages/torch/distributed/elastic/multiprocessing/errors/__init__.py", line 355, in wrapper\n      return f(*args, **kwargs)\n    File "/w/train.py", line 90, in main\n      y = x @ w\n  RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x1024 and 512x512)\n  \n============================================================\n'
        },
        "rank_crash",
        rank=11,
        node="g2",
        step=(21, 21),
        evidence="shapes cannot be multiplied",
    ),
    Story(
        "a network card's firmware gave up on one node",
        {
            "train.log": megatron(1, 30)
            + "n6:11:12 [2] NCCL WARN NET/IB : Got completion from peer 10.0.0.9<4000> with error 12, opcode 0, len 0, vendor err 129 (Send)\n",
            "n6.dmesg.log": kernel(
                305,
                "n6",
                "mlx5_core 0000:9a:00.0: poll_health:801:(pid 0): device's health compromised - reached miss count",
            )
            + kernel(306, "n6", "mlx5_core 0000:9a:00.0: mlx5_error_sw_reset: start"),
        },
        "network_fault",
        node="n6",
        step=(31, 31),
    ),
    Story(
        "NCCL finds no shared memory",
        {
            "train.log": "[rank1]: torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:328, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n[rank1]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.\n[rank1]: Last error:\n[rank1]: Error while creating shared memory segment /dev/shm/nccl-sv7xQf (size 9637888)\n"
            "n1:200:300 [1] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-sv7xQf to 9637892 bytes\n"
        },
        "rank_crash",
        also=("disk_full", "host_oom", "dataloader_crash"),
        rank=1,
        rank_may_be_unnamed=True,
    ),
    Story(
        "a distributed checkpoint names the rank that could not write, on every rank",
        {
            "all.log": "".join(plain(1, 50, rank=r) for r in range(4))
            + "".join(
                f'[rank{r}]: torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([2])\n[rank{r}]: Traceback (most recent call last): (RANK 2)\n[rank{r}]:   File "/opt/conda/lib/python3.10/site-packages/torch/distributed/checkpoint/utils.py", line 163, in all_gather\n[rank{r}]:     result = map_fun()\n[rank{r}]: OSError: [Errno 28] No space left on device\n'
                for r in range(4)
            )
        },
        "disk_full",
        rank=2,
        rank_may_be_unnamed=True,
        step=(50, 51),
    ),
    Story(
        "what a spawned process raised is the evidence, not its envelope",
        {
            "train.log": plain(1, 20)
            + 'Traceback (most recent call last):\n  File "/w/main.py", line 90, in <module>\n    mp.spawn(worker, nprocs=4)\n  File "/opt/conda/lib/python3.10/site-packages/torch/multiprocessing/spawn.py", line 281, in spawn\n    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")\ntorch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 2 terminated with the following error:\nTraceback (most recent call last):\n  File "/opt/conda/lib/python3.10/site-packages/torch/multiprocessing/spawn.py", line 90, in _wrap\n    fn(i, *args)\n  File "/w/main.py", line 33, in worker\n    x = data[\'pixel_values\']\nKeyError: \'pixel_values\'\n\n'
        },
        "rank_crash",
        rank=2,
        step=(21, 21),
        evidence="KeyError",
        rank_may_be_unnamed=True,
    ),
    Story(
        "horovodrun names the process that ended first",
        {
            "job.log": "".join(f"[1,{r}]<stdout>:step {s} loss 2.{900 - s}\n" for s in range(1, 20) for r in range(4))
            + "Process 3 exit with status code 1.\nTerminating remaining workers after failure of Process 3.\nProcess 0 exit with status code 143.\nProcess 1 exit with status code 143.\n"
        },
        "rank_crash",
        rank=3,
        rank_may_be_unnamed=True,
        step=(20, 20),
    ),
    Story(
        "Hydra names the node of the process that was killed",
        {
            "job.log": plain(1, 20)
            + "\n===================================================================================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 4412 RUNNING AT n3\n=   EXIT CODE: 9\n=   CLEANING UP REMAINING PROCESSES\n=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n===================================================================================\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
        },
        "host_oom",
        also=("rank_crash",),
        node="n3",
        step=(21, 21),
    ),
    Story(
        "Intel MPI names rank, node and signal",
        {
            "job.log": plain(1, 20)
            + "\n===================================================================================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 5 PID 4412 RUNNING AT n3\n=   KILLED BY SIGNAL: 11 (Segmentation fault)\n===================================================================================\n"
        },
        "rank_crash",
        rank=5,
        node="n3",
        step=(21, 21),
    ),
    Story(
        "PALS names the rank that a signal ended",
        {
            "job.log": plain(1, 20)
            + "x3005c0s13b0n0.hsn.cm.polaris.alcf.anl.gov: rank 12 died from signal 9\nx3005c0s13b0n0.hsn.cm.polaris.alcf.anl.gov: rank 0 exited with code 143\n"
        },
        "host_oom",
        rank=12,
        also=("rank_crash",),
        step=(21, 21),
    ),
    Story(
        "JSM names the rank that it noticed first",
        {"job.log": plain(1, 20) + "ERROR:  One or more process (first noticed rank 12) terminated with signal 9\n"},
        "host_oom",
        rank=12,
        also=("rank_crash",),
        step=(21, 21),
    ),
    Story(
        "HTCondor evicted a job",
        {
            "train.out": plain(1, 20),
            "job.log": "004 (4411.000.000) 2026-03-14 09:01:00 Job was evicted.\n\t(0) CPU times\n\t0 - Run Bytes Sent By Job\n...\n",
        },
        "preempted",
    ),
    Story(
        "HTCondor holds a job that took too much memory",
        {
            "train.out": plain(1, 20),
            "job.log": "012 (4411.000.000) 2026-03-14 09:01:00 Job was held.\n\tError from slot1_2@n3: Job has gone over memory limit of 65536 megabytes. Peak usage: 66000 megabytes.\n\tCode 34 Subcode 0\n...\n",
        },
        "host_oom",
    ),
)
