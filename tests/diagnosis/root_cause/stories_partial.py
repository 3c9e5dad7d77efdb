"""Files that tell half of it: cut, not copied, of an earlier launch, or of somebody else's processes."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    closing,
    comm,
    counters,
    gpu_csv,
    plain,
    timeout,
    traceback,
)
from tests.diagnosis.root_cause.stories_platforms import OOM

STARTED = (
    "W0314 09:02:01.000000 4000 torch/distributed/run.py:792] Setting OMP_NUM_THREADS environment variable for each "
    "process to be 1 in default\n"
)
GROUP = "I0314 09:02:01.000000 4000 torch/distributed/elastic/agent/server/api.py:900] [default] Rendezvous'ing worker group\n"
CANCELLED = "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-03-14T09:02:00 ***\n"


def of_all(world: int, last: int, **more: float) -> str:
    return "".join(plain(1, last, rank=rank, **more) for rank in range(world))


def timeouts(*ranks: int, at: float = 700.0) -> str:
    return "".join(timeout(rank, 60, at=at) for rank in ranks)


def stuck(*ranks: int, at: float = 700.0) -> str:
    return timeouts(*ranks, at=at) + "".join(counters(rank, 60, 60, 59, at=at) for rank in ranks)


def raised(rank: int, error: str) -> str:
    return traceback(error, prefix=f"[rank{rank}]: ")


def started_again(error: str) -> dict[str, str]:
    """A file for each rank; all but rank 3 were started once more, and hang."""
    others = {
        f"rank{rank}.log": plain(1, 20, rank=rank) + STARTED + plain(15, 40, rank=rank, begin=140) + timeouts(rank)
        for rank in range(3)
    }
    return {**others, "rank3.log": plain(1, 20, rank=3) + error}


PARTIAL = (
    Story(
        "the file of one rank is only half copied, and the others timed out",
        {
            **{f"rank{rank}.log": plain(1, 40, rank=rank) + timeouts(rank) for rank in (0, 1, 3)},
            "rank2.log": plain(1, 31, rank=2)[:-9],
        },
        "collective_hang",
    ),
    Story(
        "standard error of one rank was not copied",
        {
            **{f"rank{rank}.out": plain(1, 40, rank=rank) for rank in range(4)},
            **{f"rank{rank}.err": timeouts(rank) for rank in (0, 1, 3)},
        },
        "collective_hang",
    ),
    Story(
        "after an elastic restart three ranks are left, and all of them wait",
        {
            "run.log": of_all(4, 20)
            + raised(3, OOM)
            + GROUP
            + "".join(plain(15, 40, rank=rank, begin=140) for rank in range(3))
            + stuck(0, 1, 2)
        },
        "collective_hang",
    ),
    Story("a file ends before the others were started again", started_again(""), "collective_hang"),
    Story(
        "a rank fell in the first launch, and the second one hangs without it",
        started_again(raised(3, OOM)),
        "collective_hang",
    ),
    Story(
        "an idle GPU among eight busy ones, and only four ranks: their GPUs may be others",
        {
            "run.log": "".join(comm("h1", 900 + rank, rank, rank, 4, bus=f"{5 + rank}d000") for rank in range(4))
            + of_all(4, 40)
            + timeouts(*range(4)),
            "gpu.csv": gpu_csv({1: 0}),
        },
        "collective_hang",
    ),
    Story(
        "a table of eight GPUs, and sixteen ranks: nobody says of which node it is",
        {"run.log": of_all(16, 30) + timeouts(*range(16)), "gpu.csv": gpu_csv({3: 0})},
        "collective_hang",
    ),
    Story(
        "a cancelled job killed the process that was slow to leave",
        {"run.log": of_all(8, 40) + CANCELLED + closing([906]) + agent(-9, 6, 906, rank=6, host="n1", at=150)},
        "preempted",
    ),
    Story(
        "a sample that is printed asks about an error of memory, and the job was cancelled",
        {
            "run.log": of_all(4, 40)
            + f'{clock(90)} INFO [rank0] sample: {{"prompt": "fix: [rank3]: torch.OutOfMemoryError: CUDA out of memory"}}\n'
            + CANCELLED
        },
        "preempted",
    ),
    Story(
        "one rank says farewell after the job was cancelled",
        {
            "run.log": of_all(4, 40)
            + CANCELLED.replace("09:02:00", "09:20:00")
            + f"{clock(1201)} INFO [rank2] atexit: closing 8 file handles\n"
        },
        "collective_hang",
    ),
    *(
        Story(
            f"one rank came as far as the others and told besides: {words}",
            {
                **{
                    f"rank{rank}.log": plain(1, 40, rank=rank)
                    + (f"{clock(82)} {words.replace(' ', f' [rank{rank}] ', 1)}\n" if rank == 2 else "")
                    for rank in range(4)
                },
                "slurm.out": CANCELLED.replace("09:02:00", "09:20:00"),
            },
            "collective_hang",
        )
        for words in (
            "INFO checkpoint saved to /ckpt/40 in 3.2 s",
            "INFO flushed tensorboard events",
            "INFO garbage collection took 0.4 s",
            "WARNING gradient norm 12.1 clipped",
        )
    ),
)
"""Nobody is to be named in any of them."""
