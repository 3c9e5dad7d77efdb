"""Errors in words that few logs have: systems, shells, compilers, samplers, and exceptions of a person's own."""

from tests.diagnosis.root_cause.build import Story, clock, plain, traceback
from tests.diagnosis.root_cause.stories_clusters import eight, four


def terminated() -> str:
    rule = "=" * 60
    return (
        f"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{rule}\ntrain.py FAILED\n{'-' * 60}\nFailures:\n"
        f"  <NO_OTHER_FAILURES>\n{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-03-14_09:01:30\n"
        "  host      : h\n  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 900)\n  error_file: <N/A>\n"
        f"  traceback : Signal 15 (SIGTERM) received by PID 900\n{rule}\n"
    )


WORDS = (
    Story(
        "Lustre put a client out",
        {
            "all.log": eight(1, 20)
            + traceback(
                "OSError: [Errno 108] Cannot send after transport endpoint shutdown: '/scratch/tok/7.bin'",
                prefix="[rank5]: ",
            )
        },
        "storage_stall",
        rank=5,
        step=(21, 21),
    ),
    Story(
        "a file system is corrupt",
        {
            "all.log": eight(1, 20)
            + traceback("OSError: [Errno 117] Structure needs cleaning: '/local/tok/7.bin'", prefix="[rank5]: ")
        },
        "storage_stall",
        rank=5,
        step=(21, 21),
    ),
    Story(
        "torch's shared memory is full: no disk is",
        {
            "all.log": four(1, 20)
            + traceback(
                "RuntimeError: unable to write to file </torch_3312_1234567_0>: No space left on device (28)",
                prefix="[rank1]: ",
            )
        },
        "dataloader_crash",
        rank=1,
        step=(21, 21),
    ),
    Story(
        "no memory for a mapping",
        {
            "all.log": four(1, 20)
            + traceback(
                "RuntimeError: unable to mmap 1073741824 bytes from file </data/x.bin>: Cannot allocate memory (12)",
                prefix="[rank1]: ",
            )
        },
        "host_oom",
        rank=1,
        step=(21, 21),
    ),
    Story(
        "the compiler's own wrapper of a failed command, on all ranks",
        {
            "all.log": four(1, 1)
            + "".join(
                traceback(
                    "torch._inductor.exc.InductorError: CalledProcessError: Command '['/usr/bin/gcc', '/tmp/x.c']' returned non-zero exit status 1.",
                    prefix=f"[rank{r}]: ",
                )
                for r in range(4)
            )
        },
        "rank_crash",
        step=(2, 2),
    ),
    Story(
        "a sampler meets logits that are no numbers",
        {
            "all.log": four(1, 20)
            + traceback(
                "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0", prefix="[rank2]: "
            )
        },
        "nan_inf",
        rank=2,
        step=(21, 21),
    ),
    Story(
        "a distribution is made of logits that are no numbers",
        {
            "all.log": four(1, 20)
            + traceback(
                "ValueError: Expected parameter logits (Tensor of shape (1, 32000)) of distribution Categorical(logits: torch.Size([1, 32000])) to satisfy the constraint IndependentConstraint(Real(), 1), but found invalid values:\ntensor([[nan, nan, nan]], device='cuda:2')",
                prefix="[rank2]: ",
            )
        },
        "nan_inf",
        rank=2,
        step=(21, 21),
    ),
    Story(
        "the shell says that its script was terminated",
        {
            "train.log": plain(1, 40)
            + "run.sh: line 12:  4411 Terminated              python train.py --config a.yaml\n"
        },
        "preempted",
        step=(41, 41),
    ),
    Story(
        "a warning signal that nobody handled",
        {
            "train.log": plain(1, 40)
            + "/var/spool/slurmd/job5/slurm_script: line 12:  4411 User defined signal 1   python train.py\n"
        },
        "preempted",
        step=(41, 41),
    ),
    Story(
        "ssh lost a node",
        {
            "run.log": "".join(
                f"n{n}: {clock(s * 2)},100 INFO step {s}/900 loss 2.{900 - s}\n" for s in range(1, 30) for n in (1,)
            )
            + "n3: Connection to n3 closed by remote host.\npdsh@n1: n3: ssh exited with exit code 255\n"
        },
        "node_lost",
        node="n3",
    ),
    Story(
        "torchrun's summary tells of a SIGTERM only",
        {"train.log": plain(1, 40) + terminated()},
        "preempted",
        step=(41, 41),
    ),
    Story(
        "a node has seven GPUs, and the others wait for it",
        {
            "node5.log": "".join(
                traceback("AssertionError: expected 8 GPUs on this node, found 7", prefix=f"[rank{r}]: ")
                for r in range(40, 47)
            ),
            "node0.log": "[rank0]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 57/64 clients joined.\n",
        },
        "rank_crash",
        node="node5",
    ),
    Story(
        "an inference engine's core runs out of memory, and a trainer's rank only sees it die",
        {
            "driver.log": "".join(
                f"(WorkerDict pid=100, ip=10.0.0.1) step:{s} - actor/loss:0.{s:03d}\n" for s in range(1, 20)
            )
            + "(EngineCore_DP0 pid=222, ip=10.0.0.2) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.00 MiB is free.\n(WorkerDict pid=100, ip=10.0.0.1) [rank0]: ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n"
        },
        "gpu_oom",
        node="10.0.0.2",
    ),
    Story(
        "an exception inside a group of exceptions",
        {
            "all.log": four(1, 20)
            + '[rank1]:   + Exception Group Traceback (most recent call last):\n[rank1]:   |   File "/w/t.py", line 5, in main\n[rank1]:   | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n[rank1]:   +-+---------------- 1 ----------------\n[rank1]:     | Traceback (most recent call last):\n[rank1]:     |   File "/w/t.py", line 9, in fetch\n[rank1]:     |     raise KeyError(k)\n[rank1]:     | KeyError: \'shard-9\'\n[rank1]:     +------------------------------------\n'
        },
        "rank_crash",
        rank=1,
        step=(21, 21),
    ),
    Story(
        "a traceback with the values of its variables",
        {
            "all.log": four(1, 20)
            + "[rank3]: 2026-03-14 09:00:45.123 | ERROR    | __main__:<module>:99 - An error has been caught in function '<module>', process 'MainProcess' (4411), thread 'MainThread' (1401):\n[rank3]: Traceback (most recent call last):\n[rank3]: > File \"/w/t.py\", line 99, in <module>\n[rank3]:     main()\n[rank3]:     └ <function main at 0x7f>\n[rank3]:   File \"/w/t.py\", line 50, in main\n[rank3]:     x = batch['ids']\n[rank3]:         └ {'labels': tensor([1])}\n[rank3]: KeyError: 'ids'\n"
        },
        "rank_crash",
        rank=3,
        step=(21, 21),
        evidence="KeyError",
    ),
    Story(
        "an exception whose message goes over several lines",
        {
            "all.log": four(1, 20)
            + '[rank2]: Traceback (most recent call last):\n[rank2]:   File "/w/t.py", line 9, in main\n[rank2]:     check(b)\n[rank2]: pydantic_core._pydantic_core.ValidationError: 1 validation error for Batch\n[rank2]: ids\n[rank2]:   Input should be a valid list [type=list_type, input_value=None, input_type=NoneType]\n'
        },
        "rank_crash",
        rank=2,
        step=(21, 21),
    ),
    Story(
        "an exception of somebody's own, without Error in its name",
        {
            "all.log": four(1, 20)
            + '[rank2]: Traceback (most recent call last):\n[rank2]:   File "/w/t.py", line 9, in main\n[rank2]:     raise DataCorrupted(path)\n[rank2]: mylib.data.DataCorrupted: checksum of /d/7.bin differs\n'
        },
        "rank_crash",
        rank=2,
        step=(21, 21),
    ),
    Story(
        "an exception of one word",
        {
            "all.log": four(1, 20)
            + '[rank2]: Traceback (most recent call last):\n[rank2]:   File "/w/t.py", line 9, in main\n[rank2]:     raise BadShard(path)\n[rank2]: __main__.BadShard: /d/7.bin\n'
        },
        "rank_crash",
        rank=2,
        step=(21, 21),
    ),
)
