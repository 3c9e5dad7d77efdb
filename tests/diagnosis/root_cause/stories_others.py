"""What kernels, clusters and helpers' containers tell is of anybody's processes, pods and nodes."""

from tests.diagnosis.root_cause.build import Story, agent, clock, closing, kernel, megatron, plain, traceback

CORRUPTION = "Memory failure: 0x3d4e9f2: Sending SIGBUS to {}:{} due to hardware memory corruption"
EVENTS = "LAST SEEN   TYPE      REASON              OBJECT                 MESSAGE\n"
PODS = "NAME                   READY   STATUS      RESTARTS   AGE    IP           NODE\n"


def compose(name: str, text: str) -> str:
    return "".join(f"{name}  | {line}\n" for line in text.splitlines())


def not_ready(node: str) -> str:
    return f"{EVENTS}3m          Warning   NodeNotReady        node/{node}            Node {node} status is now: NodeNotReady\n"


TWO_NODES = {
    f"n0{r}.log": "".join(f"n0{r}: {line}\n" for line in plain(1, 200, rank=r - 1).splitlines()) for r in (1, 2)
}

OTHERS = (
    Story(
        "bad memory kills another process of the node",
        {"train.log": plain(1, 200), "gpu07.dmesg.txt": kernel(300, "gpu07", CORRUPTION.format("prometheus", 881))},
        "none",
        innocent_nodes=("gpu07",),
    ),
    Story(
        "bad memory kills another process of the node, and a rank raises",
        {
            "train.log": plain(1, 200, rank=0) + traceback("ValueError: x is bad", prefix="[rank0]: "),
            "gpu07.dmesg.txt": kernel(300, "gpu07", CORRUPTION.format("node_exporter", 881)),
        },
        "rank_crash",
        rank=0,
        evidence="ValueError",
        innocent_nodes=("gpu07",),
    ),
    Story(
        "bad memory kills a process that may be anybody's Python",
        {"train.log": plain(1, 200), "gpu07.dmesg.txt": kernel(395, "gpu07", CORRUPTION.format("python3", 881))},
        "rank_crash",
        innocent_nodes=("gpu07",),
    ),
    Story(
        "bad memory kills the process that the launcher names",
        {
            "gpu07.log": plain(1, 200, rank=3) + closing([4104]) + agent(-7, 3, 4105, rank=3, host="gpu07", at=410),
            "gpu07.dmesg.txt": kernel(405, "gpu07", CORRUPTION.format("python", 4105)),
        },
        "rank_crash",
        rank=3,
        node="gpu07",
        evidence="hardware memory corruption",
    ),
    *(
        Story(
            f"the kernel told it, and the run trained on for long: {line[:40]}",
            {"gpu07.log": plain(1, 1000, rank=0), "gpu07.dmesg.txt": kernel(600, "gpu07", line)},
            "none",
            innocent_nodes=("gpu07",),
        )
        for line in (
            "mce: [Hardware Error]: Machine check events logged",
            "INFO: task python3:4412 blocked for more than 120 seconds.",
            "nfs: server filer7 not responding, still trying",
            "watchdog: BUG: soft lockup - CPU#17 stuck for 23s! [kworker:4412]",
            "NVRM: Xid (PCI:0000:40:00): 79, pid=992, name=python, GPU has fallen off the bus.",
            "pcieport 0000:3a:00.0: AER: Uncorrected (Non-Fatal) error received: 0000:3b:00.0",
            "mlx5_core 0000:5e:00.0: mlx5_0: Port: 1 Link DOWN",
            "EXT4-fs (sdb1): Remounting filesystem read-only",
        )
    ),
    Story(
        "a thread of the kernel waits for a disk, and the run only ends",
        {
            "gpu07.log": plain(1, 200),
            "dmesg.txt": kernel(390, "gpu07", "INFO: task jbd2/sda1-8:612 blocked for more than 120 seconds."),
        },
        "none",
    ),
    Story(
        "another node of the cluster is not ready",
        {**TWO_NODES, "events.txt": not_ready("cpu-77")},
        "preempted",
        also=("none",),
        innocent_nodes=("cpu-77",),
    ),
    Story(
        "another node of the same kind is not ready",
        {**TWO_NODES, "events.txt": not_ready("n09")},
        "none",
        innocent_nodes=("n09",),
    ),
    Story(
        "one of the run's own nodes is not ready",
        {**TWO_NODES, "events.txt": not_ready("n02")},
        "preempted",
        node="n02",
    ),
    Story(
        "where no log tells a node, an event of any node names none",
        {"train.log": plain(1, 200), "events.txt": not_ready("n09")},
        "preempted",
        innocent_nodes=("n09",),
    ),
    Story(
        "slurmctld tells of nodes, of which none is the run's",
        {
            **TWO_NODES,
            "slurmctld.log": "[2026-03-14T09:05:00.123] error: Nodes n09 not responding, setting DOWN\n",
        },
        "none",
        innocent_nodes=("n09",),
    ),
    Story(
        "pods of several jobs ended in several ways",
        {
            "train.log": plain(1, 200),
            "pods.txt": PODS
            + "bert-eval-0            0/1     Preempted   0          4m     10.0.0.1     gpu-04\n"
            + "mixtral-worker-3       0/1     OOMKilled   0          9m     10.0.0.2     gpu-05\n"
            + "etl-28417-x2kf9        0/1     Evicted     0          1h     10.0.0.3     cpu-01\n",
        },
        "host_oom",
        also=("preempted", "none"),
        innocent_nodes=("gpu-04", "gpu-05", "cpu-01"),
    ),
    Story(
        "a pod of another job was evicted while this one raised",
        {
            "llama-worker-0.log": plain(1, 200, rank=0) + traceback("ValueError: x is bad", prefix="[rank0]: "),
            "events.txt": EVENTS
            + "3m          Warning   Evicted     pod/bert-eval-0   The node was low on resource: memory.\n",
        },
        "rank_crash",
        rank=0,
    ),
    Story(
        "sacct lists another job that ran out of time",
        {
            "slurm-55595933.out": plain(1, 300).replace("/9000", "/300") + "Training completed\n",
            "sacct.txt": "JobID           JobName      State ExitCode\n55595900          other    TIMEOUT      0:0\n55595933          train  COMPLETED      0:0\n",
        },
        "none",
    ),
    Story(
        "a helper's container is killed after the training is done",
        {
            "compose.log": compose("trainer-1", plain(1, 300).replace("/9000", "/300") + "Training completed\n")
            + "trainer-1 exited with code 0\nlogger-1 exited with code 137\n"
        },
        "none",
    ),
    Story(
        "a helper's container is killed while the training goes on",
        {"compose.log": compose("trainer-1", plain(1, 300)) + "logger-1 exited with code 137\n"},
        "none",
    ),
    Story(
        "a helper's container raises while the training goes on",
        {
            "compose.log": compose("trainer-1", plain(1, 200))
            + compose("logger-1", traceback("ValueError: bad line"))
            + compose("trainer-1", plain(201, 202, begin=400))
            + "logger-1 exited with code 1\n"
        },
        "none",
    ),
    Story(
        "the training's container raises, and its helper is ended with it",
        {
            "compose.log": compose("trainer-1", plain(1, 200) + traceback("ValueError: bad shape"))
            + "trainer-1 exited with code 1\nlogger-1 exited with code 137\n"
        },
        "rank_crash",
        evidence="bad shape",
    ),
    Story(
        "a helper beside the trainer in a pod raises",
        {
            "pod.log": "".join(f"[pod/train-worker-0/pytorch] {line}\n" for line in plain(1, 200).splitlines())
            + "".join(
                f"[pod/train-worker-0/log-shipper] {line}\n" for line in traceback("ValueError: bad").splitlines()
            )
        },
        "none",
    ),
    Story(
        "an uncaught exception of a part that tries again",
        {
            "train.log": plain(1, 100)
            + f"{clock(201)},000 ERROR Uncaught ValueError: bad shard, retrying (1/3)\n"
            + plain(101, 102, begin=202)
        },
        "none",
    ),
    *(
        Story(
            f"an uncaught exception with which a run ended: {message}",
            {"train.log": plain(1, 100) + f"{clock(201)},000 CRITICAL Uncaught RuntimeError: {message}\n{after}"},
            "rank_crash",
            evidence=message,
        )
        for message, after in (
            ("failed after 5 retries, retrying exhausted", ""),
            ("failed after 5 retries, retrying exhausted", "wandb: run summary: 100 rows\n"),
            ("the shard is gone, skipping it is switched off", ""),
        )
    ),
    *(
        Story(
            f"bad memory kills {name} {when} the run's last step",
            {"train.log": plain(1, 200), "gpu07.dmesg.txt": kernel(at, "gpu07", CORRUPTION.format(name, 881))},
            category,
            innocent_nodes=("gpu07",),
        )
        for name, at, when, category in (
            ("my_model", 398, "in the second of", "rank_crash"),
            ("my_model", 200, "long before", "none"),
            ("mysqld", 398, "in the second of", "none"),
            ("java", 398, "in the second of", "none"),
            ("dcgm-exporter", 398, "in the second of", "none"),
        )
    ),
    Story(
        "a process of any name hangs in the kernel, and the run only ends",
        {
            "train.log": plain(1, 200),
            "dmesg.txt": kernel(520, "gpu07", "INFO: task my_model:612 blocked for more than 120 seconds."),
        },
        "storage_stall",
        innocent_nodes=("gpu07",),
    ),
    Story(
        "the fabric manager is not started",
        {
            "train.log": traceback(
                "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
                "NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
                prefix="[rank0]: ",
            )
        },
        "gpu_hardware",
        rank=0,
        evidence="802",
    ),
    *(
        Story(
            f"a save ends with {name}",
            {
                "train.log": plain(1, 200, rank=0)
                + f"{clock(401)},000 INFO [rank0] Saving checkpoint to s3://b/ck/step200\n"
                + traceback(error, prefix="[rank0]: ")
            },
            "checkpoint_failure",
            rank=0,
            step=(200, 201),
        )
        for name, error in (
            (
                "an expired token of S3",
                "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the PutObject operation: The provided token has expired.",
            ),
            (
                "an expired token of Google",
                "google.auth.exceptions.RefreshError: ('invalid_grant: Token has been expired or revoked.', {'error': 'invalid_grant'})",
            ),
            (
                "a refusal of Azure",
                "azure.core.exceptions.ClientAuthenticationError: Server failed to authenticate the request.",
            ),
            (
                "a directory that may not be written",
                "PermissionError: [Errno 13] Permission denied: '/ckpt/step200/rank0.pt'",
            ),
        )
    ),
    Story(
        "an exception of its own comes out of a function that saves",
        {
            "train.log": megatron(1, 50)
            + traceback(
                "TypeError: cannot pickle 'module' object",
                prefix="[rank0]: ",
                frames=[
                    ("/w/train.py", 9, "main", "fit()"),
                    ("/w/ckpt.py", 40, "save_checkpoint", "torch.save(state, path)"),
                ],
            )
        },
        "checkpoint_failure",
        rank=0,
    ),
    Story(
        "an exception in the midst of training while another thread saves",
        {
            "train.log": plain(1, 200, rank=0)
            + f"{clock(401)},000 INFO [rank0] Saving checkpoint to s3://b/ck/step200\n"
            + traceback("ValueError: Expected input batch_size (8) to match target batch_size (7).", prefix="[rank0]: ")
        },
        "rank_crash",
        rank=0,
    ),
)
