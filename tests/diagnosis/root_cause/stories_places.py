"""Lines whose speaker hides behind a tag: actors of Ray, tags of mpirun and TorchX, agents of several nodes in one file."""

from tests.diagnosis.root_cause.build import Story, clock, megatron, plain, timeout, traceback

_OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.27 GiB. GPU 0 has a total capacity of 79.11 GiB of which 6.21 GiB is free."
_DIED = (
    "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker "
    "unexpectedly exits with a connection error code 2. End of file. There are some potential root causes. (1) The process is "
    "killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called.\n"
)
_SHUT = "tensorflow.python.framework.errors_impl.UnknownError: Horovod has been shut down. This was caused by an exception on one of the ranks"


def tagged(tag: str, text: str) -> str:
    return "".join(f"{tag}{line}\n" for line in text.splitlines())


def actors(*pairs: tuple[int, int]) -> str:
    return "".join(
        f"(WorkerDict pid={pid}, ip=10.0.3.{rank // 2}) [rank{rank}]:[W314 09:00:00.000000001 ProcessGroupNCCL.cpp:4561] [PG ID 0 PG "
        f"GUID 0 Rank {rank}]  using GPU {rank} to perform barrier as devices used by this process are currently unknown.\n"
        for rank, pid in pairs
    )


def task_failed(pid: int, ip: str) -> str:
    return (
        "Traceback (most recent call last):\n"
        '  File "/workspace/ray_trainer.py", line 657, in fit\n'
        "    actor_output = self.actor_rollout_ref_wg.update_actor(batch)\n"
        f"ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_ref_update_actor() (pid={pid}, ip={ip}, "
        "actor_id=b2ba64f6, repr=<verl.single_controller.ray.base.WorkerDict object at 0x7b8aac2e25c0>)\n"
        '  File "/workspace/base.py", line 432, in func\n'
        "    return getattr(self.worker_dict[key], name)(*args, **kwargs)\n"
        f"{_OOM}\n"
    )


def summary(rank: int, local: int, host: str, when: str, others: tuple[int, ...] = ()) -> str:
    def entry(number: int, one: int, place: int) -> str:
        return (
            f"[{number}]:\n  time      : {when}\n  host      : {host}\n  rank      : {one} (local_rank: {place})\n  exitcode  : 1 (pid: "
            f"{19400 + one})\n  error_file: <N/A>\n  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
        )

    listed = "".join(entry(number + 1, one, one % 4) for number, one in enumerate(others))
    return (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n" + "-" * 60
        + f"\nFailures:\n{listed or '  <NO_OTHER_FAILURES>' + chr(10)}" + "-" * 60
        + f"\nRoot Cause (first observed failure):\n{entry(0, rank, local)}" + "=" * 60 + "\n"
    )  # fmt: skip


def stamped(rank: int, second: int, text: str) -> str:
    return tagged(f"Fri Sep 25 16:52:{second:02d} 2020[1,{rank}]<stderr>:", text)


def ras(*late: int, operation: int = 6649) -> str:
    named = "".join(f"  Rank {r} -- GPU {r} managed by process {900 + r} on node 10.0.0.1\n" for r in late)
    return (
        "Job summary\n===========\n\nCommunicators... (0.00s)\n=============\n\nWarnings\n========\n\n#0-0 (27a079b828ff1a75) MISMATCH\n"
        "  Communicator ranks have different collective operation counts\n"
        f"  {8 - len(late)} ranks have launched up to operation {operation + 1}\n  {len(late)} ranks have launched up to operation {operation}\n{named}"
    )


PLACES = (
    Story(
        "RAS names the rank that launched one collective less, twice",
        {
            **{f"rank{r}.log": plain(1, 40, rank=r) for r in range(8)},
            "ras-1.txt": ras(5),
            "ras-2.txt": ras(5),
        },
        "collective_hang",
        rank=5,
        step=(41, 41),
    ),
    Story(
        "the driver of Ray prints the worker's exception, and the worker told its rank when it began",
        {
            "driver.log": actors((3, 9003), (0, 9000), (2, 9002), (1, 9001))
            + plain(1, 30)
            + task_failed(9002, "10.0.3.1")
        },
        "gpu_oom",
        rank=2,
        node="10.0.3.1",
        step=(31, 31),
        evidence=_OOM[:60],
    ),
    Story(
        "an actor's own traceback bears its pid only, and its rank stood inside an earlier line",
        {
            "job.log": "".join(
                f"(MegatronTrainRayActor pid={5000 + r}, ip=33.0.0.6) [{clock(r)}] memory_utils.py:26 - [Rank {r}] Memory-Usage after "
                f"offload model: {{'gpu': '{r}', 'free_GB': 100.1}}\n"
                for r in range(8)
            )
            + tagged("(MegatronTrainRayActor pid=5003, ip=33.0.0.6) ", traceback(_OOM))
        },
        "gpu_oom",
        rank=3,
        node="33.0.0.6",
    ),
    Story(
        "trainer and inference engine both have a rank 2: neither pid is believed",
        {
            "driver.log": actors((2, 9002))
            + tagged("(vLLMEngine pid=7702, ip=10.0.3.1) ", "[rank2]:[W314 09:00:00.1 socket.cpp:5] hello")
            + plain(1, 30)
            + task_failed(9002, "10.0.3.1")
        },
        "gpu_oom",
        rank=None,
        node="10.0.3.1",
    ),
    Story(
        "an actor died, and the line below says where",
        {
            "driver.log": plain(1, 30)
            + traceback("ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.")
            + "\tclass_name: create_colocated_worker_cls.<locals>.WorkerDict\n\tactor_id: 772b4748\n\tpid: 694415\n\tname: OvenE5WorkerDict_2:5\n"
            + "\tnamespace: 34fdc195\n\tip: 10.8.1.7\n"
            + _DIED
        },
        "rank_crash",
        node="10.8.1.7",
    ),
    Story(
        "mpirun puts the time before its tag",
        {
            "mpi.log": "".join(stamped(0, s, f"step {s} loss {3 - s * 0.01:.3f}") for s in range(1, 20))
            + stamped(
                3,
                50,
                traceback(
                    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[512,2048,7,7]"
                ),
            )
            + "".join(stamped(r, 52, _SHUT) for r in (0, 1, 2))
        },
        "gpu_oom",
        rank=3,
        step=(20, 20),
    ),
    Story(
        "mpirun names the node of the rank that it saw end",
        {
            "mpi.log": "[1,0]<stdout>:step 100 loss 0.51\n[1,0]<stdout>:step 200 loss 0.49\n"
            "[1,7]<stderr>:*** SIGSEGV (@0x58) received by PID 7720 (TID 0x7f) from PID 88; stack trace: ***\n"
            "mpirun noticed that process rank 7 with PID 7720 on node reco313 exited on signal 11 (Segmentation fault).\n"
        },
        "rank_crash",
        rank=7,
        node="reco313",
    ),
    Story(
        "TorchX puts role and replica before torchrun's tag",
        {
            "run.log": tagged("i.pretrain/0 [default0]:", megatron(1, 6))
            + tagged(
                "i.pretrain/0 [default2]:[rank2]: ",
                traceback(
                    "RuntimeError: Rank 2, node xe9680-01, device 2, iteration -1: Unexpected result nan (message='found NaN in local grad norm for bucket #0 in backward pass before data-parallel communication collective')"
                ),
            )
            + "".join(
                f"i.pretrain/0 [default{r}]:[rank{r}]:[E314 09:30:00.1 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Process "
                "group watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error\n"
                for r in (0, 1, 3)
            )
        },
        "nan_inf",
        rank=2,
        node="xe9680-01",
    ),
    Story(
        "the summaries of two agents stand in one file: the earlier one tells who went first",
        {
            "slurm.out": summary(0, 0, "gpu187", "2026-03-14_09:45:52", (1, 3))
            + summary(4, 0, "gpu188", "2026-03-14_09:45:01"),
        },
        "rank_crash",
        rank=4,
        node="gpu188",
    ),
    Story(
        "seven NPUs wait for a socket of the eighth",
        {
            "out.log": "".join(
                traceback(
                    "RuntimeError: InnerRunOpApi:torch_npu/csrc/framework/OpParamMaker.cpp:281 OPS function error: HcclAllreduce, error code is 6",
                    prefix=f"[rank{r}]: ",
                )
                + f"[rank{r}]: EI0006: [PID: 12923{r}] 2025-04-08-18:07:20.444.436 Getting socket times out. Reason: Remote Rank did not send the data in time.\n"
                for r in (4, 1, 7, 2, 6, 3, 5)
            )
        },
        "collective_hang",
        rank=0,
        also=("init_timeout",),
        rank_may_be_unnamed=True,
    ),
    Story(
        "a TPU worker is told to leave",
        {
            "tpu.log": plain(1, 40)
            + "INFO:tensorflow:ShutdownHook: lame workers found: HeartbeatManager(/job:worker/replica:0/task:0/device:CPU:0)\n"
        },
        "preempted",
        step=(41, 41),
    ),
    Story(
        "a task of JAX came back as another process",
        {
            "h3.log": plain(1, 40)
            + "2026-03-14 09:30:11.1: E external/xla/xla/tsl/distributed_runtime/coordination/coordination_service.cc:1129] /job:jax_worker/replica:0/task:11 unexpectedly tried to connect with a different incarnation. It has likely restarted.\n"
        },
        "rank_crash",
        rank=11,
    ),
    Story(
        "only rank 0 was asked to stop, and the others waited for it",
        {
            "out.log": plain(1, 40)
            + "[rank: 0] Received SIGTERM: 15\n"
            + traceback("lightning_fabric.utilities.exceptions.SIGTERMException", prefix="[rank0]: ")
            + "".join(timeout(r, 901, at=2000) for r in (1, 2, 3))
        },
        "preempted",
        step=(41, 41),
    ),
    Story(
        "a data server that does not answer ends one rank",
        {
            "r3.log": plain(1, 30, rank=3)
            + traceback("httpx.ReadTimeout: The read operation timed out", prefix="[rank3]: "),
            "r0.log": plain(1, 30, rank=0) + timeout(0, 900, at=700),
        },
        "dataloader_stall",
        rank=3,
        also=("rank_crash",),
    ),
    Story(
        "no node came to the rendezvous in time",
        {"err.log": traceback("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError")},
        "init_timeout",
    ),
)
