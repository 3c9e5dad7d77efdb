"""What stands beside a training, what recovered, and what it was at when something was raised."""

from tests.diagnosis.root_cause.build import Story, clock, kernel, megatron, plain, timeout, traceback
from tests.diagnosis.root_cause.stories_others import PODS, TWO_NODES, compose

LOADER = "/env/lib/python3.11/site-packages/torch/utils/data"


def told(seconds: float, *lines: tuple[float, str]) -> dict[str, str]:
    """A run that trains for so long, and what its node's kernel tells meanwhile."""
    return {"n1.log": plain(1, int(seconds / 2)), "n1.dmesg.txt": "".join(kernel(at, "n1", line) for at, line in lines)}


BESIDE = (
    Story(
        "a link that was down for two seconds",
        told(
            800,
            (200, "mlx5_core 0000:3b:00.0 ens1f0: Link down"),
            (202, "mlx5_core 0000:3b:00.0 ens1f0: Link up"),
        ),
        "none",
        innocent_nodes=("n1",),
    ),
    Story(
        "another link came up, this one did not",
        told(
            210,
            (200, "mlx5_core 0000:3b:00.0 ens1f0: Link down"),
            (202, "mlx5_core 0000:5e:00.0 ens2f0: Link up"),
        ),
        "network_fault",
        node="n1",
    ),
    Story(
        "a file server that answered again",
        told(800, (200, "nfs: server filer7 not responding, still trying"), (230, "nfs: server filer7 OK")),
        "none",
        innocent_nodes=("n1",),
    ),
    Story(
        "memory errors that were corrected",
        told(
            600,
            (590, "EDAC MC0: 1 CE memory scrubbing error on CPU_SrcID#0"),
            (591, "mce: [Hardware Error]: Machine check events logged"),
            (592, "[Hardware Error]: Corrected error, no action required."),
        ),
        "none",
        innocent_nodes=("n1",),
    ),
    Story(
        "a memory error that could not be corrected",
        told(600, (598, "mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 7: Uncorrected error")),
        "node_lost",
        node="n1",
    ),
    Story(
        "a helper's container was asked to stop",
        {
            "train.log": compose("trainer-1", plain(1, 60))
            + "redis-1    | 1:signal-handler (1710408000) Received SIGTERM scheduling shutdown...\nredis-1 exited with code 0\n"
            + compose("trainer-1", plain(61, 90, begin=122))
        },
        "none",
    ),
    Story(
        "pods of others beside the run's own",
        {
            "train.log": plain(1, 200),
            "pods.txt": PODS
            + "train-worker-0         1/1     Running     0          3h     10.0.0.1     gpu-01\n"
            + "other-eval-0           0/1     OOMKilled   0          1h     10.0.0.2     gpu-02\n",
        },
        "none",
        also=("host_oom",),
        innocent_nodes=("gpu-02",),
    ),
    Story(
        "what Python says nobody will hear of",
        {
            "train.log": plain(1, 300).replace("/9000", "/300")
            + f"{clock(602)},000 INFO Training completed\n"
            + "Exception ignored in: <function Pool.__del__ at 0x7f>\n"
            + traceback("AssertionError: can only test a child process")
        },
        "none",
    ),
    Story(
        "a broken pipe that nobody hears of has no traceback, and hides none that comes later",
        {
            "train.log": plain(1, 100)
            + "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='utf-8'>\n"
            + "BrokenPipeError: [Errno 32] Broken pipe\n"
            + plain(100, 300, begin=200)
            + traceback("ValueError: expected 4 features, got 5")
        },
        "rank_crash",
        evidence="expected 4 features",
    ),
    Story(
        "the thread that pins memory is gone",
        {
            "train.log": plain(1, 80, rank=0)
            + traceback(
                "RuntimeError: Pin memory thread exited unexpectedly",
                prefix="[rank0]: ",
                frames=[(f"{LOADER}/dataloader.py", 1284, "_get_data", "raise RuntimeError('Pin memory thread')")],
            )
        },
        "dataloader_crash",
        rank=0,
    ),
    Story(
        "a batch that cannot be put together",
        {
            "train.log": plain(1, 80, rank=2)
            + traceback(
                "ValueError: expected sequence of length 1054 at dim 1 (got 980)",
                prefix="[rank2]: ",
                frames=[
                    ("/w/train.py", 52, "<module>", "trainer.train()"),
                    (f"{LOADER}/dataloader.py", 708, "__next__", "data = self._next_data()"),
                    (f"{LOADER}/_utils/fetch.py", 55, "fetch", "return self.collate_fn(data)"),
                ],
            )
        },
        "dataloader_crash",
        rank=2,
    ),
    Story(
        "an error in the step, right after a batch was fetched",
        {
            "train.log": plain(1, 80, rank=2)
            + traceback(
                "ValueError: expected sequence of length 1054 at dim 1 (got 980)",
                prefix="[rank2]: ",
                frames=[
                    ("/w/train.py", 52, "<module>", "for batch in loader: step(batch)"),
                    ("/w/train.py", 80, "step", "f()"),
                ],
            )
        },
        "rank_crash",
        rank=2,
    ),
    Story(
        "gloo reaches somebody not, and who prints it is not the one",
        {
            "train.log": traceback(
                "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
                prefix="[rank9]: ",
            )
        },
        "init_timeout",
    ),
    Story(
        "accelerate saw its child crash",
        {
            "train.log": plain(1, 20)
            + traceback(
                "subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' died with <Signals.SIGSEGV: 11>.",
                frames=[
                    ("/env/lib/python3.9/site-packages/accelerate/commands/launch.py", 540, "simple_launcher", "raise")
                ],
            )
        },
        "rank_crash",
        evidence="SIGSEGV",
    ),
    Story(
        "an exception that is only called Exception",
        {
            "train.log": traceback(
                "Exception: data did not match any variant of untagged enum ModelWrapper at line 757281 column 3",
                prefix="[rank0]: ",
            )
        },
        "rank_crash",
        rank=0,
        evidence="untagged enum",
    ),
    Story(
        "the loss scale is at its floor: every rank shares it",
        {
            "train.log": plain(1, 30, rank=0)
            + traceback(
                "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
                prefix="[rank0]: ",
            )
        },
        "nan_inf",
    ),
    Story(
        "a person's own check for NaN",
        {"train.log": megatron(1, 30) + traceback("RuntimeError: unexpected NaN in forward loss", prefix="[rank11]: ")},
        "nan_inf",
        rank=11,
    ),
    Story(
        "the run's own pod ran out of memory, as the last column tells",
        {
            "llama-worker-3.log": plain(1, 50),
            "pods.txt": PODS
            + "llama-worker-0         1/1     Running     0          3h     10.0.0.1     gpu-01\n"
            + "llama-worker-3         0/1     OOMKilled   0          3h     10.0.0.2     gpu-02\n",
        },
        "host_oom",
        node="gpu-02",
    ),
    Story(
        "rank 0 passes on what another rank reported",
        {
            "r0.log": plain(1, 50, rank=0)
            + f"{clock(104)},000 ERROR [rank0] worker rank 3 reported: CUDA out of memory\n"
        },
        "gpu_oom",
    ),
    Story(
        "a process that was asked to stop raises while it saves",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 WARNING Received SIGTERM: 15\n{clock(101)},000 INFO Saving emergency checkpoint\n"
            + traceback(
                "RuntimeError: cannot schedule new futures after interpreter shutdown",
                frames=[("/w/ck.py", 1, "save_checkpoint", "executor.submit(write)")],
            )
        },
        "preempted",
    ),
    Story(
        "a process that was once asked to stop, trained on and raises",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 WARNING Received SIGTERM: 15, ignored\n"
            + plain(51, 90, begin=104)
            + traceback("ValueError: bad shape")
        },
        "rank_crash",
        evidence="bad shape",
    ),
    Story(
        "a GPU of a node that tells no steps, beside two nodes that do",
        {
            **TWO_NODES,
            "n09.dmesg.txt": kernel(
                395, "n09", "NVRM: Xid (PCI:0000:40:00): 79, pid=1, name=python, GPU has fallen off the bus."
            ),
        },
        "gpu_hardware",
        also=("none",),
        innocent_nodes=("n09",),
    ),
    Story(
        "srun saw a task end, and the controller tells of a node that may be anybody's",
        {
            "slurm-9001.out": plain(1, 50) + "srun: error: n12: task 3: Exited with exit code 1\n",
            "slurmctld.log": "[2026-03-14T09:01:00.1] error: Nodes n44 not responding, setting DOWN\n",
        },
        "rank_crash",
        innocent_nodes=("n44",),
    ),
    Story(
        "a run that was asked to stop, was started again and trains",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 WARNING Received SIGTERM: 15\n{clock(110)},000 INFO checkpoint saved\n"
            + f"{clock(500)},000 INFO Loading checkpoint from /ck/50\n"
            + plain(51, 150, begin=510)
        },
        "none",
    ),
    Story(
        "the log of an earlier run ends in timeouts",
        {
            "old.log": plain(1, 50, begin=-90_000) + "".join(timeout(r, 51, own=False) for r in range(4)),
            "new.log": plain(51, 150),
        },
        "none",
    ),
    Story(
        "a run that was only asked to save, and said that it goes on",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 INFO Received SIGUSR1: saving checkpoint and continuing\n"
            + plain(51, 120, begin=104)
        },
        "none",
    ),
    Story(
        "a run that was warned and trained until it was ended",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 WARNING Received SIGUSR1: the time limit is near\n"
            + plain(51, 120, begin=104)
        },
        "preempted",
    ),
    Story(
        "a run that saved when it was asked to, trained on for an hour and was killed",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 INFO Received SIGUSR1: saving checkpoint\n"
            + plain(51, 2000, begin=104)
            + "E0314 10:10:00.0 4000 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 2 "
            "(pid: 4711) of binary: /usr/bin/python\n"
        },
        "host_oom",
        rank=2,
    ),
    Story(
        "a run that was asked to stop and was killed when its time was over",
        {
            "train.log": plain(1, 50)
            + f"{clock(101)},000 WARNING Received SIGTERM: 15\n"
            + plain(51, 60, begin=104)
            + "E0314 09:02:30.0 4000 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 2 "
            "(pid: 4711) of binary: /usr/bin/python\n"
        },
        "preempted",
    ),
)
