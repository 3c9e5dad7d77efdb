"""Troubles that were met after the tables were written: watchdogs of others, TPU hosts, native code, late words of ranks."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    closing,
    down,
    kernel,
    maxtext,
    megatron,
    plain,
    teardown,
    timeout,
    traceback,
)

UNSEEN = (
    Story(
        "a user's own watchdog: no progress",
        {"train.log": plain(1, 120) + f"{clock(2040)},000 ERROR No progress for 1800 s, killing\n"},
        "collective_hang",
        evidence="No progress for 1800 s",
        step=(121, 121),
    ),
    Story(
        "a user's own watchdog: no heartbeat",
        {
            "train.log": plain(1, 120)
            + f"{clock(2040)},000 CRITICAL watchdog: no heartbeat from trainer for 30 min, aborting\n"
        },
        "collective_hang",
        evidence="no heartbeat from trainer",
    ),
    Story(
        "a user's own watchdog names a rank that stands",
        {
            "train.log": plain(1, 120)
            + f"{clock(2040)},000 ERROR [watchdog] rank 3 made no progress for 1800s (last step 120), terminating job\n"
        },
        "collective_hang",
        rank=3,
        rank_may_be_unnamed=True,
        evidence="made no progress",
    ),
    Story(
        "rank 0 is done, the rest time out in the teardown",
        {
            "rank0.log": plain(1, 300, rank=0).replace("/9000", "/300")
            + f"{clock(602)},000 INFO [rank0] Training completed. Saved final model to /ckpt/final\n",
            **{
                f"rank{r}.log": plain(1, 300, rank=r).replace("/9000", "/300") + teardown(r, 901, 2402)
                for r in range(1, 8)
            },
        },
        "none",
        also=("collective_hang",),
    ),
    Story(
        "rank 0 is done in one log, the rest time out at the exit barrier",
        {
            "train.log": plain(1, 300, rank=0).replace("/9000", "/300")
            + f"{clock(602)},000 INFO [rank0] Training completed\n"
            + "".join(teardown(r, 901, 2402) for r in range(1, 8))
        },
        "none",
        also=("collective_hang",),
    ),
    Story(
        "rank 0 leaves the loop early, and the rest wait with their gradients; nobody tells how many steps there are",
        {
            f"rank{r}.log": plain(1, 70, rank=r).replace("/9000", "")
            + (
                f"{clock(141)},000 INFO [rank0] Training completed: data exhausted\n"
                if r == 0
                else timeout(r, 71, numel=137_216, at=800)
            )
            for r in range(4)
        },
        "collective_hang",
        rank=0,
        also=("rank_crash", "dataloader_stall"),
    ),
    Story(
        "rank 0 is done, the rest time out in the teardown; nobody tells how many steps there are",
        {
            f"rank{r}.log": plain(1, 70, rank=r).replace("/9000", "")
            + (f"{clock(141)},000 INFO [rank0] Training completed\n" if r == 0 else teardown(r, 901, 2402))
            for r in range(4)
        },
        "none",
        also=("collective_hang",),
    ),
    Story(
        "post-fit single-element allreduce of Lightning",
        {
            "slurm-99.out": "".join(
                f"Epoch 9:  {s}%|███       | {s}/100 [05:{s % 60:02d}<10:00,  1.98it/s, v_num=7, train_loss={2.5 - s / 100:.3f}]\n"
                for s in range(1, 101)
            )
            + "`Trainer.fit` stopped: `max_epochs=10` reached.\n"
            + teardown(0, 5121, 2402)
            + "srun: error: gpu-04: task 0: Aborted (core dumped)\n"
        },
        "none",
        also=("collective_hang",),
    ),
    Story(
        "a bad sample that was skipped, two steps before a timeout",
        {
            **{
                f"rank{r}.log": plain(1, 98, rank=r)
                + (
                    f"{clock(197)},000 WARNING [rank2] skipping bad sample shard-17:812\n"
                    + traceback(
                        "PIL.UnidentifiedImageError: cannot identify image file <_io.BytesIO object at 0x7f>",
                        frames=[("/w/data.py", 30, "decode", "img = Image.open(buf)")],
                    )
                    if r == 2
                    else ""
                )
                + plain(99, 101, rank=r, begin=196)
                + (timeout(r, 102, at=900) + down(r, 901) if r != 5 else "")
                for r in range(8)
            }
        },
        "collective_hang",
        rank=5,
        rank_may_be_unnamed=True,
    ),
    Story(
        "a bad sample that was skipped just before the time limit",
        {
            "train.log": plain(1, 98)
            + f"{clock(197)},000 ERROR Failed to decode sample 812, skipping\n"
            + traceback(
                "ValueError: corrupt record",
                frames=[("/w/data.py", 30, "decode", "raise ValueError('corrupt record')")],
            )
            + plain(99, 101, begin=198)
            + "slurmstepd: error: *** JOB 4412 ON gpu-03 CANCELLED AT 2026-03-14T09:04:00 DUE TO TIME LIMIT ***\n"
        },
        "preempted",
    ),
    Story(
        "HF Hub 429 on one of 16 ranks (OLMo)",
        {
            "node0.log": f"[{clock(0)}] INFO     [olmo.train:100, rank=0] Building downstream evaluators\n"
            f"[{clock(12)}] CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/datasets/glue/paths-info/bcdcba79\n"
            + closing([11, 12, 13], 14)
        },
        "rank_crash",
        rank=6,
        also=("dataloader_crash",),
        evidence="Uncaught HfHubHTTPError",
    ),
    Story(
        "Ray Train v2 tells the rank in its snippet (ROCm)",
        {
            "driver.log": "(TrainController pid=1814) Attempting to start training worker group of size 8 with the following resources: [{'GPU': 1}] * 8\nray.train.WorkerGroupError: Training failed due to worker errors:\n[Rank 1 Error Snippet]:\n  File \".../ray/train/torch/config.py\", line 35, in __enter__\n    torch.cuda.set_device(device)\ntorch.AcceleratorError: CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n"
        },
        "rank_crash",
        rank=1,
    ),
    Story(
        "Megascale: a bad TPU chip on one host",
        {
            "slice0-worker0.log": maxtext(0, 90)
            + "E0314 09:06:01.100 915 megascale.cc:10] Megascale hang detected: Timed out waiting for 4 graphs to complete at launch_id 13650. Already completed: 100. StepGloballyInProgress: true. Timeout: 1m\nE0314 09:06:02.100 915 error_aggregator.cc:88] Megascale detects a hang that is likely caused by bad TPU chips on the following hosts. Please remove the hosts from the fleet and restart the workload. If problem persists please contact Megascale XLA team.\n  The host that have bad TPUs are: tpu-v6e-7\n  Full error digest:\n    Potential cause: Bad TPU chips\n    Potential culprit workers: train/7:tpu-v6e-7\n"
        },
        "gpu_hardware",
        node="tpu-v6e-7",
        evidence="bad TPU",
    ),
    Story(
        "Megascale: a network link",
        {
            "slice0-worker0.log": maxtext(0, 90)
            + "E0314 09:06:01.100 915 megascale.cc:10] Megascale hang detected: Timed out waiting for 4 graphs to complete at launch_id 13650. Already completed: 100. StepGloballyInProgress: true. Timeout: 1m\nE0314 09:06:02.100 915 error_aggregator.cc:88] Megascale detects a hang that is likely caused by a networking issue. Please examine the underlying networking stack for the following hosts.\n  The hosts are: tpu-3\n  Full error digest:\n    Potential cause: Networking issue\n    Potential culprit workers: tpu-3, tpu-9\n"
        },
        "network_fault",
        evidence="networking issue",
        innocent_nodes=("worker0",),
    ),
    Story(
        "Megascale: hang, cause unknown",
        {
            "slice0-worker0.log": maxtext(0, 90)
            + "E0314 09:06:01.100 915 megascale.cc:10] Megascale hang detected: Timed out waiting for 4 graphs to complete at launch_id 13650. Already completed: 100. StepGloballyInProgress: true. Timeout: 1m\nE0314 09:06:02.100 915 error_aggregator.cc:88] Megascale detects a hang but cannot determine the root cause. Please inspect the full digest below.\n"
        },
        "collective_hang",
        step=(90, 90),
    ),
    Story(
        "TPU session: chip driver error of a worker",
        {
            "worker0.log": maxtext(0, 90)
            + "E0511 18:18:50.796514     915 session_master.cc:505] Session is failing with the following status: Session master detected TPU session error from worker tpu-job-jax-v6e-8-5-15.headless-svc:8471. The reporting TPU chip locations are:tpu31:pe4:3, tpu31:pe4:2\nE0511 18:18:50.796852     915 tpunetd_client.cc:311] Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR in session e6c885828b538167; Start failure handling\n"
        },
        "gpu_hardware",
        evidence="TPU session error from worker",
        node="tpu-job-jax-v6e-8-5-15",
        also=("node_lost",),
    ),
    Story(
        "TPU fatal interrupt on a Ray worker (marin)",
        {
            "driver.log": "".join(
                f"(train_lm_task pid=39298, ip=10.130.0.55) {line}\n" for line in plain(1, 40).splitlines()
            )
            + "(train_lm_task pid=39298, ip=10.130.0.55) E0827 23:43:41.200122   39475 synchronous_driver.cc:820] [/dev/accel0 tpu1013:pe1:0] !!!! FATAL ERROR !!!! for [/dev/accel0 tpu1013:pe1:0] , fatal_error: true, running_timer: 0xeacdbdd045e77\n(train_lm_task pid=39298, ip=10.130.0.55) E0827 23:43:41.200136   39689 error_handler.cc:100] Received Error Interrupt! fatal: true, running_timer: 0xeacdaccd3b4ec\n"
        },
        "gpu_hardware",
        node="10.130.0.55",
    ),
    Story(
        "NVRx: two ranks' heartbeats stop, agents close",
        {
            "node4.log": plain(1, 120)
            + f"[{clock(500)},100] [WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 171.92 seconds.\n[{clock(500)},101] [WARNING] [RankMonitorServer:58] Did not get subsequent heartbeat. Waited 171.92 seconds.\n[{clock(500)},900] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process 453152 closing signal SIGTERM\n[{clock(500)},901] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process 453157 closing signal SIGTERM\n"
        },
        "collective_hang",
        evidence="Did not get subsequent heartbeat",
    ),
    Story(
        "axlearn's step watchdog",
        {
            "train.log": maxtext(0, 90)
            + "I0314 09:36:02.100 915 trainer.py:560] trainer process   0 step       90] Watchdog triggered because step has not incremented in the last 1800 seconds.\nNOTE: this is not an error message, but meant to help debugging in case the trainer is stuck.\nThreads:\n"
        },
        "collective_hang",
        step=(90, 90),
        evidence="Watchdog triggered",
    ),
    Story(
        "DeepSpeed aio assertion of NVMe offload",
        {
            "train.log": plain(1, 60)
            + "python: /opt/conda/lib/python3.10/site-packages/deepspeed/ops/csrc/aio/common/deepspeed_aio_common.cpp:125: int _do_io_complete(long long int, long long int, std::unique_ptr<aio_context>&, std::vector<std::chrono::duration<double> >&): Assertion `n_completes >= min_completes' failed.\n[2026-03-14 09:02:09,375] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 302\n[2026-03-14 09:02:10,375] [ERROR] [launch.py:321:sigkill_handler] ['/opt/conda/bin/python', '-u', 'train.py', '--local_rank=7'] exits with return code = -6\n"
        },
        "rank_crash",
        also=("storage_stall",),
        evidence="n_completes >= min_completes",
    ),
    Story(
        "Megatron checkpoint of another shape, on all ranks",
        {
            "node0.log": "".join(
                traceback(
                    "megatron.core.dist_checkpointing.core.CheckpointingException: Global shape mismatch for loaded ((4096, 68)) and expected ((4096, 72)) tensor for key module.x_embedder.proj.1.weight",
                    prefix=f"[rank{r}]: ",
                )
                for r in range(4)
            )
        },
        "checkpoint_failure",
        evidence="Global shape mismatch",
    ),
    Story(
        "EFA: an address vector cannot be opened on one rank (mpirun tags)",
        {
            "mpi.log": "[1,31]<stdout>:ip-172-32-36-209:8800:9549 [7] NCCL INFO NET/OFI No NIC info for dev 0\n[1,23]<stdout>:ip-172-32-45-165:72593:73427 [7] create_nccl_ofi_component:459 NCCL WARN NET/OFI Couldn't open AV. RC: -22, ERROR: Invalid argument\n[1,23]<stdout>:ip-172-32-45-165:72593:73427 [7] NCCL INFO include/net.h:24 -> 2\n"
        },
        "network_fault",
        rank=23,
        rank_may_be_unnamed=True,
        node="ip-172-32-45-165",
        evidence="Couldn't open AV",
    ),
    Story(
        "HCCL: a port is taken on the listener",
        {
            "plog-2717288.log": "[ERROR] HCCL(2717288,python3):2025-07-23-03:47:57.070.463 [hccl_socket.cc:100] [2717288][HcclSocket][Listen] socket type[1], listen on ip[192.168.20.160] and specific port[16666] fail. Please check the port status and whether the port is been using by other process.\n[ERROR] HCCL(2717288,python3):2025-07-23-03:47:57.070.466 [hccl_socket_manager.cc:54] [2717288][ServerInit]call trace: hcclRet -> 19\n[ERROR] HCCL(2717288,python3):2025-07-23-03:49:57.177.194 [hccl_socket_manager.cc:778] [2734049][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[12] timeout[120]\n"
        },
        "rank_crash",
        also=("init_timeout",),
        evidence="specific port[16666] fail",
    ),
    Story(
        "GCP maintenance event terminates a TPU host",
        {
            "worker2.log": maxtext(0, 90)
            + "W0314 09:05:01.100 915 maintenance.cc:10] Maintenance event imminent: TERMINATE_ON_HOST_MAINTENANCE, host will be terminated in 60 seconds\n"
        },
        "preempted",
        also=("node_lost",),
    ),
    Story(
        "an adapter's TX timeout in one node's kernel log",
        {
            "gpu-09.dmesg.log": kernel(190, "gpu-09", "mlx5_core 0000:9a:00.0 eth2: TX timeout detected")
            + kernel(
                191,
                "gpu-09",
                "mlx5_core 0000:9a:00.0 eth2: TX timeout on queue: 12, SQ: 0x1a3, CQ: 0x4c1, SQ Cons: 0x1 SQ Prod: 0x5, usecs since last trans: 20290000",
            ),
            **{
                f"node{n}.log": megatron(1, 90)
                + f"node{n}:{800 + n}:{990 + n} [0] NCCL WARN Call to recv from 10.1.0.{n + 3}<41822> failed : Connection timed out\n"
                for n in range(3)
            },
        },
        "network_fault",
        node="gpu-09",
    ),
    Story(
        "memory that went bad kills one rank (SIGBUS)",
        {
            "gpu-05.dmesg.log": kernel(
                190, "gpu-05", "mce: Uncorrected hardware memory error in user-access at 3d4e9f2c40"
            )
            + kernel(
                190,
                "gpu-05",
                "Memory failure: 0x3d4e9f2: Sending SIGBUS to python:4105 due to hardware memory corruption",
            ),
            "node.log": plain(1, 95) + agent(-7, 5, 4105, rank=5, host="gpu-05", at=192),
        },
        "rank_crash",
        rank=5,
        also=("gpu_hardware", "node_lost"),
        node="gpu-05",
        evidence="hardware memory",
    ),
    Story(
        "distributed checkpoint names the rank whose write failed",
        {
            "node0.log": plain(1, 100, rank=0)
            + "".join(
                f'[rank{r}]: Traceback (most recent call last):\n[rank{r}]:   File "/w/train.py", line 88, in save\n[rank{r}]:     dcp.save(state)\n[rank{r}]: torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([11])\n[rank{r}]: Traceback (most recent call last): (RANK 11)\n[rank{r}]:   File "/v/torch/distributed/checkpoint/utils.py", line 162, in reduce_scatter\n[rank{r}]:     local_data = map_fun()\n[rank{r}]: PermissionError: [Errno 13] Permission denied: \'/ckpt/step_100/__11_0.distcp\'\n'
                for r in range(8)
            )
        },
        "checkpoint_failure",
        rank=11,
        innocent_nodes=("node0",),
        also=("rank_crash",),
    ),
    Story(
        "Slurm cannot launch on one node",
        {
            "slurm-77.out": "srun: error: Task launch for StepId=77.0 failed on node gpu-14: Communication connection failure\nsrun: error: Application launch failed: Communication connection failure\nsrun: Job step aborted: Waiting up to 32 seconds for job step to finish.\nsrun: error: Timed out waiting for job step to complete\n"
        },
        "node_lost",
        also=("init_timeout", "rank_crash"),
        node="gpu-14",
        evidence="Task launch for",
    ),
    Story(
        "Vertex AI says a replica ran out of memory",
        {
            "job.log": plain(1, 100)
            + "The replica workerpool1-2 ran out-of-memory and exited with a non-zero status of 137(SIGKILL). To find out more about why your job exited please check the logs\n"
        },
        "host_oom",
        evidence="ran out-of-memory",
    ),
    Story(
        "JAX: a task's heartbeat is missed, told by the coordinator",
        {
            "node0.log": "".join(
                f"{clock(s * 3)} I0314 completed step: {s}, seconds: 3.012, loss: {10 - s / 50:.3f}\n"
                for s in range(90)
            )
            + "E0314 09:06:01.1 915 coordination_service.cc:954] /job:jax_worker/replica:0/task:37 has been set to ERROR in coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout. This indicates that the remote task has failed, got preempted, or crashed unexpectedly.\n"
        },
        "node_lost",
        rank=37,
        rank_may_be_unnamed=True,
        innocent_nodes=("node0",),
    ),
)
