"""What exhibits tell beside the logs: flight recorders, processes, readings of the GPUs."""

import json
import pickle

from tests.diagnosis.root_cause.build import (
    WAITING,
    Story,
    clock,
    counters,
    glog,
    gpu_csv,
    megatron,
    plain,
    pyspy,
    timeout,
    traceback,
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


EXHIBITS = (
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
)
