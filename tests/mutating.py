"""Evidence with damage in it: any bytes anywhere, as a broken disk, a cut copy or a malicious job may leave them."""

import pickle
import random
from collections.abc import Iterator, Mapping

_BITS = (
    b"\x00",
    b"\xff\xfe",
    b"\x80\x02}q",
    b"\r",
    b"\x1b[",
    b"%|",
    b"\n\n",
    b"9" * 400,
    b"[" * 300,
    b"\xf0\x9f",
    b'{"',
    b",,,,",
)
_DUMP = {
    "version": "2.10",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
    "pg_status": {"0": {"last_enqueued_collective": 54, "last_started_collective": -1, "last_completed_collective": 53}},
    "entries": [
        {"record_id": n, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": n, "profiling_name": "nccl:all_reduce",
         "state": "completed", "retired": True, "time_created_ns": 1_764_000_000_000_000_000 + n, "frames": []}
        for n in range(40)
    ],
}  # fmt: skip

CASE: Mapping[str, bytes] = {
    "rank0.log": b"".join(
        b"2026-03-14 09:%02d:00,100 INFO [rank0] step %d/9000 loss %.4f grad_norm 0.51 lr 1.00e-04\n" % (n % 60, n, 2.5 - n * 1e-3)
        for n in range(1, 60)
    )
    + b'[rank0]: Traceback (most recent call last):\n[rank0]:   File "/w/train.py", line 306, in main\n[rank0]: torch.OutOfMemoryError: '
    b"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.21 GiB is free.\n",
    "node1.log": b"[rank3]:[E314 09:30:00.000000001 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL("
    b"SeqNum=77, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600040 milliseconds before timing out.\n"
    b"(WorkerDict pid=118848, ip=10.130.71.7) [rank2]: hello\nFri Sep 25 16:52:55 2020[1,3]<stderr>:step 5 loss 2.0\n"
    b"Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-14_09:31:00\n  host      : n1\n  rank      : 3 (local_rank: 3)\n"
    b"  exitcode  : -6 (pid: 903)\n  error_file: <N/A>\n  traceback : Signal 6 (SIGABRT) received by PID 903\n",
    "dmesg.log": b"[  966.503025] NVRM: Xid (PCI:0000:5d:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    b"[  967.1] Memory cgroup out of memory: Killed process 903 (python3) total-vm:1933680kB, anon-rss:1178156kB\n",
    "gpu.csv": b"timestamp,index,util,mem_used_mib,power\n" + b"".join(b"2026-03-14 09:%02d:00,%d,100,70000,120\n" % (n, g) for n in range(9) for g in range(4)),
    "nvidia-smi.txt": b"NVIDIA-SMI 550.163.01   Driver Version: 550.163.01   CUDA Version: 12.4\n==============NVSMI LOG==============\n"
    b"GPU 00000000:5D:00.0\n    ECC Errors\n        Volatile\n            DRAM Uncorrectable : 3\n",
    "pyspy-rank1.txt": b'Process 4471: python3 train.py\nPython v3.11.7 (/usr/bin/python3)\n\nThread 4471 (idle): "MainThread"\n'
    b"    wait (threading.py:331)\n    _try_get_data (torch/utils/data/dataloader.py:1011)\n    main (train.py:90)\n",
    "proc.json": b'{"4471": {"pid": 4471, "rank": 1, "name": "python3", "status": "disk-sleep", "wchan": "nfs_wait", "cpu_times": [1.0, 2.0]}}',
    "memory.events": b"low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\nmemory.max 17179869184\n",
    "events.txt": b"LAST SEEN   TYPE      REASON      OBJECT            MESSAGE\n2m          Warning   OOMKilling  pod/w-2   Memory cgroup\n",
    "ras.txt": b"Job summary\n===========\n\nCommunicators... (0.00s)\n\n#0-0 (27a0) MISMATCH\n  7 ranks have launched up to operation 50\n"
    b"  1 ranks have launched up to operation 49\n  Rank 5 -- GPU 5 managed by process 905 on node 10.0.0.1\n",
    "fr_a_2": pickle.dumps(_DUMP, 2),
}  # fmt: skip
"""One file of every kind that a diagnosis reads."""


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The same with one to eight wounds."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at, until = sorted((chance.randrange(len(found) + 1), chance.randrange(len(found) + 1)))
        match chance.randrange(7):
            case 0:
                del found[at : min(until, at + chance.randint(1, 400))]
            case 1:
                found[at:at] = chance.randbytes(chance.randint(1, 300))
            case 2:
                found[at:at] = chance.choice(_BITS) * chance.randint(1, 40)
            case 3:
                found[at:at] = found[at : min(until, at + 2000)] * chance.randint(1, 4)
            case 4:
                for place in range(at, min(until, at + 60)):
                    found[place] = chance.randrange(256)
            case 5:
                del found[until:]
            case _:
                found[at:at] = found[at : min(until, at + 400)].replace(b"\n", b"")
    return bytes(found[: 1 << 20])


def cases(count: int, seed: int) -> Iterator[dict[str, bytes]]:
    """So many damaged cases: some files whole, most with wounds, one now and then under another's name."""
    chance = random.Random(seed)
    for _ in range(count):
        files = {name: mutated(data, chance) if chance.random() < 0.8 else data for name, data in CASE.items()}
        if chance.random() < 0.2:
            one, other = chance.sample(sorted(files), 2)
            files[one], files[other] = files[other], files[one]
        yield files
