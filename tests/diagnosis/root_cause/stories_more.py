"""Stories of several nodes, and with a wrong suspect in plain sight."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    closing,
    counters,
    gpu_csv,
    megatron,
    plain,
    timeout,
    traceback,
)

PYTHON_OOM = (
    "CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacty of 14.75 GiB of which 1.66 GiB is free."
)


MORE = (
    Story(
        "the launcher blames rank 1, the memory ran out on rank 0",
        {
            "train.log": plain(1, 10)
            + traceback(f"[rank0]: torch.cuda.OutOfMemoryError: {PYTHON_OOM}", prefix="")
            + traceback(
                "[rank1]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, remote process exited or there was "
                "a network error, NCCL version 2.19.3"
            )
            + closing([11], 30)
            + agent(1, 1, 12, rank=1, host="a100-3", at=31)
        },
        "gpu_oom",
        rank=0,
        step=(11, 11),
        evidence="OutOfMemoryError",
    ),
    Story(
        "killed while it loaded, before any step",
        {
            "train.log": "2026-03-14 09:00:00,000 INFO loading model\nLoading checkpoint shards:  60%|██████    | 6/10 [01:00<00:40, 10.0s/it]\n"
            "[2026-03-14 09:02:01,100] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'ft.py', '--local_rank=7'] exits with "
            "return code = -9\n"
        },
        "host_oom",
        also=("rank_crash",),
        evidence="return code = -9",
    ),
    Story(
        "the watchdog itself got stuck, and nothing else is told",
        {
            "train.log": plain(1, 80)
            + "[rank2]:[F ProcessGroupNCCL.cpp:1279] [PG 0 Rank 2] [PG 0 Rank 2] ProcessGroupNCCL's watchdog got stuck for 480 seconds without "
            "making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API hang blocking the watchdog.\n"
        },
        "collective_hang",
        rank=2,
        step=(81, 81),
        evidence="watchdog got stuck",
        rank_may_be_unnamed=True,
    ),
    Story(
        "an error inside a rank, and then hours of silence",
        {
            "train.log": plain(1, 33)
            + traceback(f"torch.cuda.OutOfMemoryError: {PYTHON_OOM}")
            + "2026-03-14 13:00:00,000 INFO heartbeat: job is running\n",
            "gpu.csv": gpu_csv(dict.fromkeys(range(4), 0), gpus=4, busy_until=60, until=9000, every=60),
        },
        "gpu_oom",
        step=(34, 34),
        evidence="out of memory",
    ),
    Story(
        "Ray says a worker died; the worker's own log says why",
        {
            "driver.log": "".join(
                f"(main_task pid=11) step:{s} - actor/loss:0.1 - critic/kl:0.01\n" for s in range(1, 20)
            )
            + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
            + "There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.\n",
            "worker-ab12-rank3.err": traceback(f"torch.OutOfMemoryError: {PYTHON_OOM}"),
        },
        "gpu_oom",
        rank=3,
        evidence="OutOfMemoryError",
    ),
    Story(
        "Ray's boiler-plate alone is no proof of anything",
        {
            "driver.log": "".join(
                f"(main_task pid=11) step:{s} - actor/loss:0.1 - critic/kl:0.01\n" for s in range(1, 20)
            )
            + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
            + "There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.\n",
        },
        "rank_crash",
        also=("host_oom",),
    ),
    Story(
        "Megatron's loss field vanishes",
        {
            "main.log": megatron(1, 60)
            + "".join(
                f" [{clock(600 + s * 10)}.000000] iteration {60 + s:8d}/   50000 | consumed samples: 9 | elapsed time per iteration (ms): 10000.0 | "
                "learning rate: 1.000E-04 | global batch size:   512 | loss scale: 1.0 | number of skipped iterations:   0 | number of nan "
                "iterations:   1 |\n"
                for s in range(1, 12)
            )
        },
        "nan_inf",
        step=(61, 62),
    ),
    Story(
        "a NaN first, a time limit much later",
        {
            "main.log": plain(1, 100)
            + "".join(
                f"{clock(200 + s * 2)},100 INFO step {100 + s}/9000 loss nan grad_norm nan lr 1.00e-04\n"
                for s in range(1, 80)
            )
            + "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-14T09:20:00 DUE TO TIME LIMIT ***\n"
        },
        "nan_inf",
        step=(101, 101),
    ),
    Story(
        "a loss that jumped and stayed up",
        {"main.log": megatron(1, 250) + megatron(251, 420, begin=2500, loss=6.9)},
        "loss_spike",
        step=(249, 252),
    ),
    Story(
        "several nodes: the earliest agent counts",
        {
            "node0.log": "[rank0]: up\n[rank1]: up\n"
            + megatron(1, 20)
            + traceback(
                "[rank1]: RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:1000"
            )
            + agent(1, 1, 21, rank=1, host="node0", at=240),
            "node1.log": "[rank2]: up\n[rank3]: up\n"
            + traceback("[rank3]: ValueError: could not convert string to float: 'n/a'", prefix="[rank3]: ").replace(
                "[rank3]: [rank3]: ", "[rank3]: "
            )
            + agent(1, 1, 23, rank=3, host="node1", at=205),
        },
        "rank_crash",
        rank=3,
        node="node1",
        step=(21, 21),
        evidence="could not convert string to float",
    ),
    Story(
        "srun labels that are ranks",
        {
            "slurm.out": "".join(f"{r}: 2026-03-14 09:00:0{r},000 INFO rank ready\n" for r in range(8))
            + "".join(plain(s, s, begin=s * 2).replace("2026", "0: 2026", 1) for s in range(1, 30))
            + traceback("torch.OutOfMemoryError: " + PYTHON_OOM, prefix="5: ")
            + "srun: error: g1: task 5: Exited with exit code 1\nsrun: error: g1: tasks 0-4,6-7: Terminated\n"
        },
        "gpu_oom",
        rank=5,
        step=(30, 30),
        evidence="OutOfMemoryError",
    ),
    Story(
        "an operator kills a hung rank: the kill is not the cause",
        {
            "all.log": "".join(f"[rank{r}]: up\n" for r in range(8))
            + plain(1, 30)
            + "".join(timeout(r, 77, at=700) + counters(r, 77, 80, 76, at=700) for r in range(8) if r != 5)
            + agent(-9, 5, 55, rank=5, host="n1", at=1500)
        },
        "collective_hang",
        rank=5,
        step=(31, 31),
    ),
    Story(
        "torch's launcher kills what does not stop: no out-of-memory",
        {
            "all.log": plain(1, 30)
            + traceback("[rank2]: ZeroDivisionError: division by zero")
            + closing([10, 11, 13], 70)
            + "W0314 09:01:40.000000 4000 torch/distributed/elastic/multiprocessing/api.py:939] Unable to shutdown process 13 via 15, forcefully "
            "exiting via 9\n"
            + agent(
                1,
                2,
                12,
                rank=2,
                host="n9",
                at=101,
                others="[1]:\n  time      : 2026-03-14_09:01:40\n  host      : n9\n  rank      : 3 "
                "(local_rank: 3)\n  exitcode  : -9 (pid: 13)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 13",
            )
        },
        "rank_crash",
        rank=2,
        node="n9",
        step=(31, 31),
        evidence="ZeroDivisionError",
    ),
    Story(
        "only the second exception of a failing save is left",
        {
            "train.log": megatron(100, 200)
            + "saving checkpoint at iteration     200 to /ckpt\n"
            + traceback(
                "RuntimeError: [enforce fail at inline_container.cc:337] . unexpected pos 4996040960 vs 4996040856"
            )
        },
        "checkpoint_failure",
        step=(200, 200),
        evidence="unexpected pos",
    ),
    Story(
        "a node whose log simply ends",
        {
            "node0.log": "[rank0]: up\n[rank1]: up\n" + megatron(1, 60),
            "node1.log": "[rank2]: up\n[rank3]: up\n" + f"{clock(300)} INFO node1 heartbeat\n",
            "node2.log": "[rank4]: up\n[rank5]: up\n"
            f"{clock(600)} INFO node2 heartbeat\n"
            "[rank4]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank 4] NCCL watchdog thread terminated with exception: NCCL error: remote process exited "
            "or there was a network error, NCCL version 2.20.5\nLast error:\nsocketProgress: Connection closed by remote peer node1<57244>\n"
            "[rank5]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank 5] NCCL watchdog thread terminated with exception: NCCL error: remote process exited "
            "or there was a network error, NCCL version 2.20.5\nLast error:\nsocketProgress: Connection closed by remote peer node1<57245>\n",
        },
        "node_lost",
        node="node1",
        step=(61, 61),
        also=("network_fault",),
    ),
    Story(
        "files without a word of trouble, and some that are no logs at all",
        {"notes.txt": "remember to buy milk\n", "train.log": plain(1, 40), "blob.bin": bytes(range(256)) * 20},
        "none",
    ),
)
