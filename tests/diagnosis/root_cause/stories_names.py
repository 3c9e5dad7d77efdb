"""Evidence that looks as if it named a rank, and what a careful person says of it."""

import json

from tests.diagnosis.root_cause.build import (
    WAITING,
    Story,
    agent,
    clock,
    closing,
    counters,
    glog,
    gpu_csv,
    kernel,
    megatron,
    plain,
    pyspy,
    timeout,
    traceback,
)
from tests.diagnosis.root_cause.stories_clusters import eight, four
from tests.diagnosis.root_cause.stories_platforms import OOM

GONE = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:23412"


def counted(rank: int, work: int, enqueued: int, completed: int) -> str:
    return (
        f"[rank{rank}]:[E{glog(700)} ProcessGroupNCCL.cpp:1664] [PG 1 Rank {rank}] Exception (either an error or timeout) detected by "
        f"watchdog at work: {work}, last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.\n"
    )


def _without_work(table: str, gpu: int) -> str:
    """The same table with one GPU idle and empty in every row."""
    rows = [line.split(",") for line in table.splitlines()]
    return "\n".join(",".join([*row[:2], "0", "4"] if row[1] == str(gpu) else row) for row in rows) + "\n"


_GPU = [
    "synchronize (torch/cuda/__init__.py:1040)",
    "clip (train.py:140)",
    "train (train.py:211)",
    "<module> (train.py:300)",
]


def _aborted(*ranks: int) -> str:
    return "".join(
        f"[{place}]:\n  time      : 2026-03-14_09:00:51\n  host      : h\n  rank      : {rank} (local_rank: {rank})\n  exitcode  : -6 (pid: "
        f"{900 + rank})\n  error_file: <N/A>\n  traceback : Signal 6 (SIGABRT) received by PID {900 + rank}\n"
        for place, rank in enumerate(ranks, 1)
    )


def _dump(rank: int) -> str:
    """A flight-recorder dump: ranks 0 and 1 in one group, 2 and 3 in another, each at its own number."""
    group, last = str(1 + rank // 2), 100 if rank < 2 else 90
    entries = [
        {
            "record_id": number,
            "process_group": [group, "tp"],
            "collective_seq_id": number,
            "profiling_name": "nccl:all_reduce",
            "input_sizes": [[1024]],
            "state": "scheduled" if number == last else "completed",
            "retired": number < last,
            "time_created_ns": 1_773_478_800_000_000_000 + number * 1_000_000_000,
            "frames": [],
        }
        for number in range(last - 5, last + 1)
    ]
    status = {group: {"last_enqueued_collective": last, "last_completed_collective": last - 1}}
    config = {group: {"name": group, "desc": "tp", "ranks": str([rank // 2 * 2, rank // 2 * 2 + 1])}}
    return json.dumps({"version": "2.10", "pg_config": config, "pg_status": status, "entries": entries})


NAMES = (
    Story(
        "groups of one number and without a GUID are other groups on other ranks",
        {
            "all.log": eight(1, 20)
            + "".join(timeout(r, 90, at=700) + counted(r, 90, 95, 89) for r in range(7))
            + timeout(7, 60, at=700)
            + counted(7, 60, 60, 59)
        },
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "rank 0's extra line after every step is its habit",
        {
            "rank0.log": "".join(
                plain(s, s, rank=0, begin=s * 2) + f"{clock(s * 2)},900 INFO [rank0] wrote metrics to board\n"
                for s in range(1, 41)
            )
            + timeout(0, 77, at=700),
            **{f"rank{r}.log": plain(1, 40, rank=r) + timeout(r, 77, at=700) for r in (1, 2, 3)},
        },
        "collective_hang",
        step=(41, 41),
    ),
    Story(
        "rank 0 logs every tenth step, the others every one",
        {
            "rank0.log": "".join(plain(s, s, rank=0, begin=s * 2) for s in range(10, 41, 10)) + timeout(0, 77, at=700),
            **{f"rank{r}.log": plain(1, 47, rank=r) + timeout(r, 77, at=700) for r in (1, 2, 3)},
        },
        "collective_hang",
    ),
    Story(
        "seven ranks on a node of eight GPUs: the eighth never worked",
        {
            "all.log": "".join(plain(s, s, rank=r, begin=s * 2) for s in range(1, 41) for r in range(7)),
            "gpu.csv": _without_work(gpu_csv({}), 7),
        },
        "collective_hang",
        also=("none",),
    ),
    Story(
        "worker-3.log is a pod's, with eight ranks in it",
        {
            f"worker-{w}.log": "".join(plain(1, 20, rank=r) for r in range(w * 8, w * 8 + 8))
            + (traceback(OOM) if w == 3 else "")
            for w in range(4)
        },
        "gpu_oom",
        step=(21, 21),
    ),
    Story(
        "worker-1.log is a pod's, and its error has no rank",
        {
            f"worker-{w}.log": (megatron(1, 20) if w == 3 else "INFO: starting\n") + (traceback(OOM) if w == 1 else "")
            for w in range(4)
        },
        "gpu_oom",
        step=(21, 21),
    ),
    Story(
        "two tracebacks without ranks, and torchrun saw one process only",
        {
            "train.log": plain(1, 20)
            + traceback(OOM)
            + traceback(GONE)
            + closing([1, 2, 3])
            + agent(1, 0, 900, rank=0, host="h", at=50)
        },
        "gpu_oom",
        step=(21, 21),
    ),
    Story(
        "rank 0 passes on what another rank met",
        {
            "all.log": four(1, 20)
            + "[rank0]: RuntimeError: error gathered from rank 3: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
        },
        "gpu_oom",
        rank=3,
        rank_may_be_unnamed=True,
    ),
    Story(
        "two ranks wait in another operation of the same number: a group of their own",
        {
            "all.log": eight(1, 20)
            + "".join(
                timeout(
                    r, 90, op="ALLTOALL" if r in (2, 3) else "ALLREDUCE", numel=512 if r in (2, 3) else 4096, at=700
                )
                for r in range(8)
            )
        },
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "a rank that only obeys the signal to dump had joined the collective",
        {
            "rank0.log": plain(1, 40, rank=0) + timeout(0, 77, at=700),
            "rank1.log": plain(1, 40, rank=1) + timeout(1, 77, at=700),
            "rank2.log": plain(1, 40, rank=2) + timeout(2, 77, at=700),
            "rank3.log": plain(1, 40, rank=3)
            + f"[rank3]:[E{glog(700)} ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: 77, last completed NCCL work: 76.\n",
        },
        "collective_hang",
        step=(41, 41),
    ),
    Story(
        "a rank that only obeys the signal to dump never joined",
        {
            "rank0.log": plain(1, 40, rank=0) + timeout(0, 77, at=700),
            "rank1.log": plain(1, 40, rank=1) + timeout(1, 77, at=700),
            "rank2.log": plain(1, 40, rank=2) + timeout(2, 77, at=700),
            "rank3.log": plain(1, 40, rank=3)
            + f"[rank3]:[E{glog(700)} ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: 76, last completed NCCL work: 76.\n",
        },
        "collective_hang",
        rank=3,
        step=(41, 41),
    ),
    Story(
        "torchrun started it again, and another rank failed with an error of its own",
        {
            "train.log": four(1, 20)
            + traceback(OOM, prefix="[rank1]: ")
            + "I0314 09:02:00.000000 400 torch/distributed/elastic/agent/server/api.py:850] [default] Worker group FAILED. 2/3 attempts left; will restart worker group\nI0314 09:02:10.000000 400 torch/distributed/elastic/agent/server/api.py:699] [default] Rendezvous'ing worker group\n"
            + "Loading checkpoint from /ckpt/step_10\n"
            + "".join(plain(11, 40, rank=r, begin=200) for r in range(4))
            + traceback("IndexError: index out of range in self", prefix="[rank3]: ")
            + agent(1, 3, 903, rank=3, host="h", at=300)
        },
        "rank_crash",
        rank=3,
        step=(41, 41),
    ),
    Story(
        "a rank in an error's text is nobody's",
        {"train.log": plain(1, 20) + traceback("ValueError: invalid rank 9 in group of size 8")},
        "rank_crash",
        step=(21, 21),
    ),
    Story(
        "settings speak of memory and ranks",
        {
            "train.log": "config: {'exclude_ranks': [3], 'on_error': 'CUDA out of memory -> retry', 'rank': 5}\n"
            + plain(1, 3)
        },
        "none",
    ),
    Story(
        "one node's log was not copied, the others timed out",
        {
            f"node{n}.log": "".join(plain(1, 20, rank=r) for r in range(n * 2, n * 2 + 2))
            + "".join(timeout(r, 77, at=700) for r in range(n * 2, n * 2 + 2))
            for n in (0, 1, 3)
        },
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "the last rank's log was not copied",
        {f"rank{r}.log": plain(1, 20, rank=r) + timeout(r, 77, at=700) for r in range(7)},
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "rank 0 saves while seven others time out",
        {
            "all.log": "world_size: 8\n"
            + eight(1, 20)
            + f"{clock(42)},100 INFO [rank0] Saving model checkpoint to /o/checkpoint-20\n"
            + "".join(timeout(r, 77, at=1900, ran=1800000) for r in range(1, 8))
        },
        "checkpoint_failure",
        rank=0,
        step=(20, 21),
    ),
    Story(
        "all wait, some for their GPU and some in the call",
        {
            "train.log": plain(1, 20) + "".join(timeout(r, 9, at=700) for r in range(4)),
            **{
                f"pyspy_rank{r}.txt": pyspy(10 + r, WAITING if r != 2 else _GPU, rank=r, state="active")
                for r in range(4)
            },
        },
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "a rank whose output is held back told fewer steps, and timed out in the same call",
        {**{f"rank{r}.log": plain(1, 30 if r == 3 else 40, rank=r) + timeout(r, 77, at=700) for r in range(4)}},
        "collective_hang",
        step=(41, 41),
    ),
    Story(
        "torchrun's folders of two nodes tell a local rank, and no rank",
        {
            "node0/attempt_0/3/stderr.log": "INFO starting\n",
            "node1/attempt_0/3/stderr.log": traceback(OOM),
            "node0/attempt_0/0/stdout.log": megatron(1, 20),
        },
        "gpu_oom",
    ),
    Story(
        "a LoRA rank is no rank",
        {
            "train.log": "INFO: LoRA config: rank=64 alpha=128\nlora rank: 64, dropout: 0.1\n"
            + plain(1, 20)
            + traceback("ValueError: LoRA rank=64 is greater than max_lora_rank: 16")
        },
        "rank_crash",
        step=(21, 21),
    ),
    Story(
        "a LoRA rank stands in the line of the error",
        {
            "train.log": plain(1, 20)
            + "2026-03-14 09:00:45,100 ERROR lora rank: 8 target q_proj failed: CUDA out of memory. Tried to allocate 2.00 GiB\n"
        },
        "gpu_oom",
        step=(21, 21),
    ),
    Story(
        "one rank's segmentation fault beside the aborts of all others",
        {"train.log": four(1, 20) + agent(-11, 2, 902, rank=2, host="h", at=50, others=_aborted(0, 1, 3))},
        "rank_crash",
        rank=2,
        node="h",
        step=(21, 21),
    ),
    Story(
        "an error that a rank's caller logged, and all wait for it",
        {
            "all.log": four(1, 20)
            + f"{clock(45)},100 ERROR [rank1] evaluation failed: ValueError: could not convert string to float: 'n/a'\n"
            + "".join(timeout(r, 77, at=700) for r in (0, 2, 3))
        },
        "collective_hang",
        rank=1,
        step=(20, 21),
        also=("rank_crash",),
    ),
    Story(
        "flight recorder: two groups of two, each pair alike",
        {
            "train.log": plain(1, 20) + "".join(timeout(r, 100 if r < 2 else 90, at=700) for r in range(4)),
            **{f"nccl_trace_rank_{r}": _dump(r) for r in range(4)},
        },
        "collective_hang",
        step=(21, 21),
    ),
    Story(
        "the kernel ends a helper of nobody's rank beside a hang",
        {
            "all.log": four(1, 20)
            + "".join(timeout(r, 77, at=700) + counters(r, 77, 77, 76, at=700) for r in range(4)),
            "h.dmesg.log": kernel(
                41, "h", "Out of memory: Killed process 999 (wandb-service) total-vm:90kB, anon-rss:60kB"
            ),
        },
        "collective_hang",
        step=(21, 21),
        also=("host_oom",),
    ),
    Story(
        "the last rank prints the metrics, and an error without a tag stands in its node's log",
        {
            "node0.log": "INFO loading\n" * 3,
            "node1.log": "".join(f"[default7]:{line}\n" for line in megatron(1, 20).splitlines()) + traceback(OOM),
        },
        "gpu_oom",
        node="node1",
        step=(21, 21),
    ),
    Story(
        "a warning about memory, two more steps, then the time limit",
        {
            "slurm.out": four(1, 40)
            + "2026-03-14 09:01:21,100 WARNING [rank3] generation: CUDA out of memory. Tried to allocate 2.00 GiB, falling back to batch size 1\n"
            + "".join(plain(41, 42, rank=r, begin=84) for r in range(4))
            + "slurmstepd: error: *** JOB 44 ON n7 CANCELLED AT 2026-03-14T09:02:00 DUE TO TIME LIMIT ***\n"
        },
        "preempted",
        step=(43, 43),
    ),
    Story(
        "the job is asked to stop, and one rank's handler fails",
        {
            "all.log": four(1, 40)
            + "W0314 09:01:25.000000 400 torch/distributed/elastic/agent/server/api.py:704] Received Signals.SIGTERM death signal, shutting down workers\n"
            + traceback("RuntimeError: cannot save while the loader closes", prefix="[rank3]: ")
        },
        "preempted",
        step=(41, 41),
    ),
    Story(
        "an evaluation printed a traceback that it caught, and the run ended well",
        {
            "all.log": plain(1, 40, rank=0)
            + "[rank0]: evaluating mmlu\n"
            + traceback("KeyError: 'answer'", prefix="[rank0]: ")
            + "[rank0]: task mmlu failed, skipped\n"
            + f"{clock(90)},100 INFO [rank0] Training completed\n"
        },
        "none",
    ),
)
