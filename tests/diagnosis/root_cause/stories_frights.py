"""Runs that are well, or whose end is nobody's fault, though their logs frighten."""

from tests.diagnosis.root_cause.build import Story, clock, glog, plain, traceback

FRIGHTS = (
    Story(
        "a bad sample logged by logger.exception, and the run is alive",
        {
            "train.log": plain(1, 98)
            + f"{clock(197)},000 ERROR could not load sample 812\n"
            + traceback(
                "ValueError: corrupt record",
                frames=[("/w/data.py", 30, "decode", "raise ValueError('corrupt record')")],
            )
            + plain(99, 101, begin=198)
        },
        "none",
    ),
    Story(
        "retries of object storage with a full traceback each",
        {
            "train.log": plain(1, 60)
            + "".join(
                f"{clock(121 + i)},000 WARNING retry {i}/5 reading s3://data/shard-{i}.tar: botocore.exceptions.ReadTimeoutError: Read timeout on endpoint URL\n"
                for i in range(5)
            )
            + plain(61, 200, begin=130)
        },
        "none",
    ),
    Story(
        "a metric named error and a loss named error",
        {
            "train.log": "".join(
                f"{clock(s * 2)},000 INFO step {s}/9000 loss {3 - s / 400:.4f} error {0.9 - s / 500:.4f} val_error_rate 0.{400 - s} fatal_errors 0 nan_count 0\n"
                for s in range(1, 200)
            )
        },
        "none",
    ),
    Story(
        "wandb loses its server and says ERROR",
        {
            "train.log": plain(1, 60)
            + "wandb: Network error (ConnectTimeout), entering retry loop.\nwandb: ERROR Dropped streaming file chunk (see wandb/debug-internal.log)\nException in thread Thread-5:\n"
            + traceback(
                "requests.exceptions.HTTPError: 502 Server Error: Bad Gateway for url: https://api.wandb.ai/files/x",
                frames=[("/v/wandb/sdk/internal/file_stream.py", 255, "_thread_body", "self._send(ready_chunks)")],
            )
            + plain(61, 200, begin=130)
        },
        "none",
    ),
    Story(
        "wandb's thread dies four steps before the copy was made",
        {
            "train.log": plain(1, 60)
            + "Exception in thread Thread-5:\n"
            + traceback(
                "requests.exceptions.HTTPError: 502 Server Error: Bad Gateway for url: https://api.wandb.ai/files/x",
                frames=[("/v/wandb/sdk/internal/file_stream.py", 255, "_thread_body", "self._send(ready_chunks)")],
            )
            + plain(61, 64, begin=122)
        },
        "none",
    ),
    Story(
        "exit of workers of a finished run says terminated, aborted and heartbeat",
        {
            "train.log": plain(1, 300)
            + f"{clock(602)},000 INFO [INFO:swift] End time of running main: 2026-03-14 09:10:02\n{clock(602)},000 INFO Training completed\n"
            + "".join(
                f"[rank{r}]:[E{glog(1100)} ProcessGroupNCCL.cpp:1870] [PG ID 12 PG GUID 99(EXPERT) Rank {r}] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API hang blocking the watchdog.\n"
                for r in range(4)
            )
            + "terminate called without an active exception\n"
        },
        "none",
    ),
    Story(
        "probing batch sizes with caught OOMs",
        {
            "train.log": "".join(
                f"{clock(i)},000 WARNING batch size {64 >> i} failed: CUDA out of memory. Tried to allocate {20 >> i}.00 GiB. Trying {32 >> i}\n"
                for i in range(3)
            )
            + plain(1, 200, begin=10)
        },
        "none",
    ),
    Story(
        "a watchdog that only tells its setting",
        {
            "train.log": f"{clock(0)},000 INFO watchdog armed: will abort after no progress for 1800 s\n{clock(0)},000 INFO heartbeat timeout 600 s, killing disabled\n"
            + plain(1, 200, begin=5)
        },
        "none",
    ),
    Story(
        "a watchdog that warned and was wrong",
        {
            "train.log": plain(1, 100)
            + f"{clock(700)},000 WARNING watchdog: no heartbeat from trainer for 8 min\n{clock(701)},000 INFO watchdog: heartbeat is back\n"
            + plain(101, 300, begin=702)
        },
        "none",
    ),
    Story(
        "evaluation prints a model's answers about errors",
        {
            "train.log": plain(1, 100)
            + "".join(
                f'{clock(203 + i)},000 INFO sample {i}: {{"response": "RuntimeError: CUDA out of memory means that ... Segmentation fault ... OOMKilled"}}\n'
                for i in range(5)
            )
            + plain(101, 200, begin=220)
        },
        "none",
    ),
    Story(
        "preemption is only a feature that is on",
        {
            "train.log": f"{clock(0)},000 INFO preemption handler registered for SIGTERM, SIGUSR1\n{clock(0)},000 INFO spot interruption polling enabled, requeue on preemption=True\n"
            + plain(1, 200, begin=5)
        },
        "none",
    ),
    Story(
        "a unit test of the loader's error path at the start",
        {
            "train.log": "Traceback (most recent call last):\n  File \"/w/data.py\", line 12, in <module>\n    import nvidia.dali\nModuleNotFoundError: No module named 'nvidia.dali'\n"
            f"{clock(0)},000 INFO DALI is not there, using the slow loader\n" + plain(1, 4, begin=5)
        },
        "none",
    ),
    Story(
        "the tokenizer warns of forks, NCCL of plugins, and a hub of requests",
        {
            "train.log": "huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...\nn1:1:2 [0] NCCL INFO NET/Plugin: Failed to find ncclCollNetPlugin_v8 symbol.\nn1:1:2 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so.\nHTTP Error 429 thrown while requesting GET https://huggingface.co/api/models/x\nRetrying in 1s [Retry 1/5].\n"
            + plain(1, 200)
        },
        "none",
    ),
    Story(
        "validation of a checkpoint that is missing, then a fresh start",
        {
            "train.log": f"{clock(0)},000 WARNING could not find checkpoint in /ckpt/latest, FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/latest'; starting from scratch\n"
            + plain(1, 200, begin=5)
        },
        "none",
    ),
    Story(
        "events of a node that came back",
        {
            "train.log": plain(1, 200),
            "events.txt": "LAST SEEN   TYPE      REASON      OBJECT              MESSAGE\n9h          Warning   FailedScheduling   pod/train-worker-2  0/12 nodes are available: 12 Insufficient nvidia.com/gpu.\n8h          Normal    Scheduled   pod/train-worker-2  Successfully assigned ml/train-worker-2 to gpu-17\n8h          Normal    Pulled      pod/train-worker-2  Container image already present on machine\n",
        },
        "none",
    ),
)
