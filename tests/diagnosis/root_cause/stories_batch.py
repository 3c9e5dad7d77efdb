"""Failures in the words of batch systems and of launchers over several nodes."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    megatron,
    plain,
    traceback,
)


def summary(ends: list[tuple[int, int, int, int]], *, host: str) -> str:
    """Torchrun's summary alone: (rank, local rank, exit code, pid), the first observed failure first."""

    def entry(number: int, end: tuple[int, int, int, int]) -> str:
        rank, local_rank, code, pid = end
        told = f"Signal {-code} received by PID {pid}" if code < 0 else "To enable traceback see: https://pytorch.org"
        return (
            f"[{number}]:\n  time      : 2026-03-14_09:05:51\n  host      : {host}\n  rank      : {rank} (local_rank: {local_rank})\n"
            f"  exitcode  : {code} (pid: {pid})\n  error_file: <N/A>\n  traceback : {told}\n"
        )

    others = "".join(entry(number, end) for number, end in enumerate(ends[1:], 1))
    return (
        f"train.py FAILED\n{'-' * 60}\nFailures:\n{others}{'-' * 60}\nRoot Cause (first observed failure):\n{entry(0, ends[0])}"
        f"{'=' * 60}\n"
    )


BATCH = (
    Story(
        "one log of several nodes: the node in front of the line that tells",
        {
            "run.log": "".join(
                f"node1: {{'loss': {2.5 - step * 0.01:.4f}, 'learning_rate': 1e-05, 'epoch': 0.{step:02d}}}\n"
                for step in range(1, 30)
            )
            + traceback(
                "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.24 GiB (GPU 3; 79.15 GiB total capacity; 76.01 "
                "GiB already allocated; 700.12 MiB free; 77.30 GiB reserved in total by PyTorch)"
            )
            .replace("\n", "\nnode2: ")
            .join(["node2: ", "\n"])
            + "node2: [2026-03-14 09:01:22,300] [ERROR] [launch.py:322:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', "
            "'--local_rank=7'] exits with return code = 1\npdsh@node1: node2: ssh exited with exit code 1\n"
        },
        "gpu_oom",
        node="node2",
        evidence="Tried to allocate 1.24 GiB",
    ),
    Story(
        "Slurm says late which node was out of memory",
        {
            "slurm.out": megatron(1, 77)
            + "slurmstepd: error: Detected 1 oom_kill event in StepId=9921.0. Some of the step tasks have been OOM Killed.\n"
            "srun: error: gpu-b12: task 11: Out Of Memory\nsrun: Terminating StepId=9921.0\n"
            "slurmstepd: error: *** STEP 9921.0 ON gpu-b11 CANCELLED AT 2026-03-14T10:00:00 ***\n"
        },
        "host_oom",
        node="gpu-b12",
        step=(78, 78),
        rank_may_be_unnamed=True,
        rank=11,
    ),
    Story(
        "only torchrun's summary is left, and four ranks ended alike in one second",
        {"train.log": summary([(0, 0, 1, 811), (1, 1, 1, 812), (2, 2, 1, 813), (3, 3, 1, 814)], host="h1")},
        "rank_crash",
    ),
    Story(
        "only torchrun's summary is left, and one rank ended first",
        {"train.log": summary([(6, 6, -11, 811), (1, 1, -15, 812), (2, 2, -15, 813)], host="h1")},
        "rank_crash",
        rank=6,
        node="h1",
    ),
    Story(
        "srun names the node of a task, and tasks are ranks here",
        {
            "slurm.out": "".join(f"{r}: starting\n" for r in range(16))
            + "".join(f"0: {line}\n" for line in megatron(1, 20).splitlines())
            + "".join(f"13: {line}\n" for line in traceback("AssertionError: 4099 is not a multiple of 8").splitlines())
            + "srun: error: n2: task 13: Exited with exit code 1\nsrun: error: n1: tasks 0-7: Terminated\n"
        },
        "rank_crash",
        rank=13,
        node="n2",
        step=(21, 21),
    ),
    Story(
        "two agents tell of ends: the earlier one counts, whatever the files are called",
        {
            "a.log": plain(1, 9) + agent(1, 0, 900, rank=8, host="n1", at=31),
            "b.log": plain(1, 9) + agent(1, 3, 500, rank=3, host="n0", at=26),
        },
        "rank_crash",
        rank=3,
        node="n0",
    ),
    Story(
        "a batch system's time limit, in PBS's words",
        {"job.log": megatron(1, 33) + "=>> PBS: job killed: walltime 43231 exceeded limit 43200\n"},
        "preempted",
        step=(34, 34),
    ),
    Story(
        "a batch system's memory limit, in the words of an old Slurm, before its cancellation",
        {
            "job.log": megatron(1, 33)
            + "slurmstepd: error: Job 123 exceeded memory limit (8392760 > 8388608), being killed\n"
            "slurmstepd: error: *** JOB 123 ON n4 CANCELLED AT 2026-03-14T10:00:00 ***\n"
        },
        "host_oom",
        step=(34, 34),
    ),
    Story(
        "Composer's launcher names the rank that a signal ended",
        {
            "train.log": plain(1, 12)
            + "ERROR:composer.cli.launcher:Rank 5 crashed with exit code -11.\nWaiting up to 30 seconds for all training processes to "
            "terminate. Press Ctrl-C to exit immediately.\nGlobal rank 0 (PID 100) exited with code -15\n"
        },
        "rank_crash",
        rank=5,
        step=(13, 13),
    ),
    Story(
        "mpirun lost its daemon on a node",
        {
            "launcher.log": "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[64112,0],0] on node w-main\n"
            "  Remote daemon: [[64112,0],1] on node w-7\n\nThis is usually due to either a failure of the TCP network\n"
        },
        "node_lost",
        node="w-7",
    ),
)
