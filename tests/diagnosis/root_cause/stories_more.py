"""Stories with exhibits, with several nodes, and with a wrong suspect in plain sight."""

import json
import pickle

from tests.diagnosis.root_cause.build import (
    WAITING,
    Story,
    agent,
    clock,
    closing,
    counters,
    glog,
    gpu_csv,
    megatron,
    plain,
    pyspy,
    timeout,
    traceback,
)

PYTHON_OOM = (
    "CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacty of 14.75 GiB of which 1.66 GiB is free."
)


def recorder(
    rank: int, sequence: int, *, state: str = "started", name: str = "nccl:all_reduce", size: int = 1024
) -> bytes:
    entries = [
        {
            "record_id": number,
            "pg_id": 0,
            "process_group": ("0", "default_pg"),
            "collective_seq_id": number,
            "p2p_seq_id": 0,
            "op_id": number,
            "profiling_name": name if number == sequence else "nccl:all_reduce",
            "time_created_ns": 1_773_479_400_000_000_000 + number * 1_000_000,
            "input_sizes": [[size]],
            "output_sizes": [[size]],
            "state": state if number == sequence else "completed",
            "retired": number != sequence,
            "timeout_ms": 600000,
            "is_p2p": False,
            "frames": [{"name": "train", "filename": "/workspace/train.py", "line": 211}],
        }
        for number in range(max(1, sequence - 40), sequence + 1)
    ]
    status = {
        "0": {
            "last_enqueued_collective": sequence,
            "last_started_collective": sequence,
            "last_completed_collective": sequence - 1,
        }
    }
    return pickle.dumps(
        {"version": "2.10", "pg_config": {"0": {"ranks": "[0, 1, 2, 3]"}}, "pg_status": status, "entries": entries}, 2
    )


def proc(states: dict[int, tuple[str, str]]) -> str:
    return json.dumps(
        {
            str(rank): {"status": state, "cpu_times": [1.0, 0.5], "wchan": wchan, "children": [], "pid": 100 + rank}
            for rank, (state, wchan) in states.items()
        },
        indent=1,
    )


FUTEX = ("sleeping", "futex_wait_queue")

MORE = (
    Story(
        "flight recorder: one rank never reached the collective",
        {
            "train.log": megatron(1, 60),
            **{
                f"nccl_trace_rank_{r}": recorder(r, 500 if r != 3 else 499, state="completed" if r == 3 else "started")
                for r in range(4)
            },
        },
        "collective_hang",
        rank=3,
        step=(61, 61),
    ),
    Story(
        "flight recorder: all in the same collective, nobody behind, no proof of a hang but timeouts",
        {
            "train.log": megatron(1, 60) + "".join(timeout(r, 500, at=1300) for r in range(4)),
            **{f"nccl_trace_rank_{r}": recorder(r, 500) for r in range(4)},
        },
        "collective_hang",
        step=(61, 61),
        also=("network_fault",),
    ),
    Story(
        "one process in state D on Lustre",
        {
            **{f"rank{r}.log": plain(1, 40, rank=r) for r in range(4)},
            "proc.json": proc({0: FUTEX, 1: FUTEX, 2: ("disk-sleep", "cl_sync_io_wait_lustre"), 3: FUTEX}),
            "pyspy.txt": "".join(pyspy(100 + r, WAITING, rank=r) for r in (0, 1, 3))
            + pyspy(102, ("read (io.py:1)", "__getitem__ (data.py:44)", "main (train.py:20)"), rank=2),
        },
        "storage_stall",
        rank=2,
        step=(41, 41),
        evidence="lustre",
    ),
    Story(
        "one process waits inside the NVIDIA driver",
        {
            **{f"rank{r}.log": plain(1, 40, rank=r) for r in range(4)},
            "proc.json": proc({0: FUTEX, 1: ("disk-sleep", "nvidia_unlocked_ioctl"), 2: FUTEX, 3: FUTEX}),
        },
        "gpu_hardware",
        rank=1,
        step=(41, 41),
    ),
    Story(
        "a GPU is lost in nvidia-smi's own csv",
        {
            "train.log": plain(1, 60) + "".join(timeout(r, 88, at=800) for r in (0, 1, 2)),
            "gpus.csv": "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n"
            + "".join(
                f"2026/03/14 09:{minute:02d}:00.000, {i}, "
                + (
                    f"{100 if minute > 3 else 87} %, 61000 MiB, {110 if minute > 3 else 650} W\n"
                    if i != 3 or minute < 4
                    else "[GPU is lost], [GPU is lost], [GPU is lost]\n"
                )
                for minute in range(12)
                for i in range(4)
            ),
        },
        "gpu_hardware",
        rank=3,
        step=(61, 61),
        evidence="GPU is lost",
    ),
    Story(
        "nvidia-smi cannot reach a GPU",
        {
            "train.log": plain(1, 60) + traceback("RuntimeError: CUDA error: unknown error"),
            "nvidia-smi-node3.txt": "Unable to determine the device handle for GPU0000:CB:00.0: Unknown Error\n",
        },
        "gpu_hardware",
        step=(61, 61),
        evidence="Unable to determine the device handle",
    ),
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
        "power tells waiting from work: all GPUs spin after the last line",
        {
            "train.log": plain(1, 60),
            "gpu.csv": "timestamp,index,util,mem_used_mib,power_w\n"
            + "".join(
                f"{clock(t)},{i},{100},{61000},{118 if t > 120 else 640}\n"
                for t in range(0, 1500, 30)
                for i in range(4)
            ),
        },
        "collective_hang",
        step=(61, 61),
    ),
    Story(
        "GPUs that work on, and a log that is only buffered",
        {
            "train.log": plain(1, 60),
            "gpu.csv": "timestamp,index,util,mem_used_mib,power_w,power.limit\n"
            + "".join(
                f"{clock(t)},{i},{97 + (t + i) % 3},{61000},{600 + (t * 7 + i) % 60},700\n"
                for t in range(0, 1500, 30)
                for i in range(4)
            ),
        },
        "none",
    ),
    Story(
        "half of the GPUs idle: no minority, no name",
        {
            "train.log": plain(1, 60) + "".join(timeout(r, 9, at=800) for r in (0, 1)),
            "gpu.csv": gpu_csv({0: 0, 1: 0}, gpus=4, busy_until=120),
        },
        "collective_hang",
        step=(61, 61),
    ),
    Story(
        "two of eight ranks are behind: neither is named alone",
        {
            "all.log": "".join(f"[rank{r}]: up\n" for r in range(8))
            + plain(1, 30)
            + "".join(timeout(r, 77, at=700) + counters(r, 77, 80, 76, at=700) for r in range(8) if r not in (2, 6))
            + "".join(
                f"[rank{r}]:[E{glog(701)} ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal due to a "
                "collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: 76, last "
                "completed NCCL work: 76.\n"
                for r in (2, 6)
            )
        },
        "collective_hang",
        step=(31, 31),
    ),
    Story(
        "different process groups are not compared",
        {
            "all.log": plain(1, 30)
            + "".join(timeout(r, 50, at=700) + counters(r, 50, 55, 49, at=700, group="3(tp)") for r in (0, 1))
            + "".join(timeout(r, 900, at=700) + counters(r, 900, 955, 899, at=700, group="4(dp)") for r in (2, 3))
        },
        "collective_hang",
        step=(31, 31),
        also=("network_fault",),
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
