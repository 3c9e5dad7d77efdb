"""Runs that go on, or ended well, beside words that elsewhere mean trouble."""

import json

from tests.diagnosis.root_cause.build import Story, clock, plain, traceback
from tests.diagnosis.root_cause.stories_containers import ended, pod, runs

QUIET = (
    Story(
        "early stopping ends a run",
        {
            "train.log": plain(1, 200)
            + f"{clock(401)},000 INFO EarlyStopping: stopped early as no improvement observed in last 10 epochs\n{clock(401)},000 INFO Training completed in 0.5 hours\n"
        },
        "none",
    ),
    Story(
        "old helpers are killed at the start",
        {
            "train.log": f"{clock(0)},000 INFO Killed stale processes: 0\n{clock(0)},000 INFO Killing old tensorboard (pid 12)\n"
            + plain(1, 200, begin=5)
        },
        "none",
    ),
    Story(
        "an elastic job scales up and goes on",
        {
            "train.log": plain(1, 60)
            + "[INFO] torch.distributed.elastic.agent.server.api: [default] Detected 1 new nodes from group_rank=0; will restart worker group\n[INFO] torch.distributed.elastic.agent.server.api: [default] Stopping worker group\n"
            + plain(61, 200, begin=200)
        },
        "none",
    ),
    Story(
        "NCCL tears down after the end",
        {
            "train.log": plain(1, 200)
            + f"{clock(401)},000 INFO Training completed\n"
            + "".join(
                f"n1:100:20{r} [{r}] NCCL INFO [Service thread] Connection closed by localRank {r}\nn1:100:20{r} [{r}] NCCL INFO comm 0x1 rank {r} nranks 4 cudaDev {r} busId {r}000 - Abort COMPLETE\n"
                for r in range(4)
            )
        },
        "none",
    ),
    Story(
        "kubernetes stops the container of a job that completed",
        {
            "train.log": plain(1, 200) + f"{clock(401)},000 INFO Training completed\n",
            "events.txt": "LAST SEEN   TYPE      REASON      OBJECT              MESSAGE\n1m          Normal    Killing     pod/train-worker-2  Stopping container pytorch\n1m          Normal    Completed   job/train           Job completed\n",
            "pod.json": json.dumps(
                pod("w", "gpu-1", "Succeeded", ended("pytorch", "Completed", 0, now=True)), indent=4
            ),
        },
        "none",
    ),
    Story(
        "a proxy beside a completed trainer was killed",
        {
            "train.log": plain(1, 200) + f"{clock(401)},000 INFO Training completed\n",
            "pod.json": json.dumps(
                pod(
                    "w",
                    "gpu-1",
                    "Failed",
                    ended("pytorch", "Completed", 0, now=True),
                    ended("istio-proxy", "Error", 137, now=True),
                ),
                indent=4,
            ),
        },
        "none",
    ),
    Story(
        "heartbeats with their threshold",
        {
            "train.log": plain(1, 100)
            + "".join(
                f"{clock(201 + i)},000 DEBUG heartbeat from trainer 12 s ago; abort threshold 600 s\n"
                for i in range(10)
            )
            + plain(101, 103, begin=212)
        },
        "none",
    ),
    Story(
        "an upload failed and is tried again, three steps ago",
        {
            "train.log": plain(1, 100)
            + f"{clock(201)},000 ERROR checkpoint upload failed, will retry in 60 s\n"
            + traceback(
                "google.api_core.exceptions.ServiceUnavailable: 503 PUT https://storage.googleapis.com/upload",
                frames=[("/w/upload.py", 30, "push", "blob.upload()")],
            )
            + plain(101, 103, begin=202)
        },
        "none",
    ),
    Story(
        "the batch size is found by running out of memory",
        {
            "train.log": f"{clock(0)},000 WARNING out of memory at batch 64, retrying with 32\n"
            + traceback(
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free."
            )
            + plain(1, 3, begin=5)
        },
        "none",
    ),
    Story(
        "dynamo tells of a graph break with a traceback",
        {
            "train.log": '[rank0]:V0314 09:00:00.000000 12 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] Graph break in user code at /w/model.py:88\n[rank0]:V0314 09:00:00.000000 12 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] Traceback (most recent call last):\n[rank0]:V0314 09:00:00.000000 12 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks]   File "/v/torch/_dynamo/variables/torch.py", line 12, in call_function\n[rank0]:V0314 09:00:00.000000 12 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks]     raise Unsupported(msg)\n[rank0]:V0314 09:00:00.000000 12 torch/_dynamo/symbolic_convert.py:444] [0/0] [__graph_breaks] torch._dynamo.exc.Unsupported: call_function BuiltinVariable(print)\n'
            + plain(1, 3, begin=5)
        },
        "none",
    ),
    Story(
        "a signal asks for stacks and the run goes on",
        {
            "train.log": plain(1, 100)
            + f"{clock(201)},000 INFO Received SIGUSR1: dumping stacks\n"
            + plain(101, 104, begin=202)
        },
        "none",
    ),
    Story(
        "a loader's iterator is collected late",
        {
            "train.log": plain(1, 100)
            + "Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f3>\n"
            + traceback(
                "AssertionError: can only test a child process",
                frames=[
                    ("/v/torch/utils/data/dataloader.py", 1322, "__del__", "self._shutdown_workers()"),
                    (
                        "/usr/lib/python3.10/multiprocessing/process.py",
                        160,
                        "is_alive",
                        "assert self._parent_pid == os.getpid(), 'can only test a child process'",
                    ),
                ],
            )
            + plain(101, 103, begin=202)
        },
        "none",
    ),
    Story(
        "all pods run, one was restarted by a person",
        {
            "train.log": plain(1, 200),
            "pods.json": json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "List",
                    "items": [
                        pod(
                            f"w-{i}",
                            f"gpu-{i:02d}",
                            "Running",
                            ended("pytorch", "Error", 143, now=False) if i == 2 else runs("pytorch"),
                        )
                        for i in range(4)
                    ],
                },
                indent=4,
            ),
        },
        "none",
    ),
    Story(
        "an image was pulled at the second try",
        {
            "train.log": plain(1, 200),
            "events.txt": "LAST SEEN   TYPE      REASON    OBJECT              MESSAGE\n50m         Warning   Failed    pod/train-worker-2  Error: ErrImagePull\n49m         Normal    Pulled    pod/train-worker-2  Successfully pulled image\n",
        },
        "none",
    ),
    Story(
        "a crash is described in a README that lies beside",
        {
            "train.log": plain(1, 200),
            "notes.md": "# Known problems\n\nWe saw `CUDA out of memory` on rank 3 last week, and `NCCL WARN Call to recv from 10.0.0.4 failed`.\nWatchdog: no progress for 1800 s, killing.\n",
        },
        "none",
    ),
    Story(
        "an earlier attempt hung and was killed by the watchdog, this one trains",
        {
            "train.log": "W0314 08:00:00.000000 1 torch/distributed/run.py:779] Setting OMP_NUM_THREADS environment variable\n"
            + plain(1, 50, begin=-3600)
            + f"{clock(-1700)},000 ERROR No progress for 1800 s, killing\n"
            + "W0314 09:00:00.000000 1 torch/distributed/run.py:779] Setting OMP_NUM_THREADS environment variable\n"
            + plain(41, 200)
        },
        "none",
    ),
    Story(
        "settings of a watchdog with kill in its name",
        {
            "train.log": f"{clock(0)},000 INFO args: watchdog_kill_after=1800s no_progress_timeout=1800 heartbeat_interval=10s kill_on_hang=True abort=False\n"
            + plain(1, 3, begin=5)
        },
        "none",
    ),
)
