"""Programs that fail or wait, as public reports tell them: one story for each kind of telling line, in the wording of the day."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    closing,
    counters,
    down,
    gpu_csv,
    megatron,
    plain,
    timeout,
    traceback,
)


def lightning(step: int, loss: float) -> str:
    return f"Epoch 0:  {step % 100}%|███       | {step}/1000 [05:{step % 60:02d}<10:00,  1.98it/s, v_num=7, train_loss={loss:.3f}]\n"


REPORTS = (
    Story(
        "monitored barrier names the rank that did not come",
        {
            "rank0.log": plain(1, 80, rank=0)
            + traceback(
                "RuntimeError: [Rank 0]: Ranks 5 failed to pass monitoredBarrier in 600000 ms",
                prefix="[rank0]: ",
            ),
            **{
                f"rank{r}.log": plain(1, 80, rank=r)
                + traceback(
                    f"RuntimeError: [Rank {r}]: Detected mismatch or failure of rank 0 in monitoredBarrier, node might be down: Connection closed by peer",
                    prefix=f"[rank{r}]: ",
                )
                for r in (1, 2, 3, 4, 6, 7)
            },
        },
        "collective_hang",
        rank=5,
        step=(81, 81),
    ),
    Story(
        "an unused parameter on the ranks whose batch had no image",
        {
            "out.log": plain(1, 12)
            + traceback(
                "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error indicates "
                "that your module has parameters that were not used in producing loss. Parameter indices which did not receive grad for rank 3: 12 13",
                prefix="[rank3]: ",
            )
            + agent(1, 3, 903, rank=3, host="n1", at=40)
            + closing([900, 901, 902], at=40)
        },
        "rank_crash",
        rank=3,
        step=(13, 13),
        evidence="Expected to have finished reduction",
    ),
    Story(
        "mpirun tells which rank on which node a signal ended",
        {
            "job.log": megatron(1, 40)
            + "[node7:22113] *** Process received signal ***\n[node7:22113] Signal: Segmentation fault (11)\n"
            "[node7:22113] Signal code: Address not mapped (1)\n[node7:22113] Failing at address: 0x10\n"
            "--------------------------------------------------------------------------\n"
            "mpirun noticed that process rank 59 with PID 22113 on node node7 exited on signal 11 (Segmentation fault).\n"
            "--------------------------------------------------------------------------\n"
        },
        "rank_crash",
        rank=59,
        node="node7",
        step=(41, 41),
    ),
    Story(
        "Megatron's guard names rank, device and node",
        {
            "job.log": megatron(1, 400)
            + traceback(
                "AssertionError: Rank 12: found NaN in local grad norm in backward pass before data-parallel communication collective. "
                "Device: 4, node: gpu-b17"
            )
            + closing([11, 12, 13])
            + agent(1, 4, 4104, rank=12, host="gpu-b17", at=4100)
        },
        "nan_inf",
        rank=12,
        node="gpu-b17",
        step=(401, 401),
        evidence="found NaN in local grad norm",
    ),
    Story(
        "an expert's router gives a device assert on one rank",
        {
            "rank6.log": plain(1, 70, rank=6)
            + '/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: [4,0,0], thread: [64,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "index out of bounds"` failed.\n'
            * 4
            + traceback("RuntimeError: CUDA error: device-side assert triggered", prefix="[rank6]: "),
            **{
                f"rank{r}.log": plain(1, 70, rank=r) + timeout(r, 71, at=800) + down(r, 801)
                for r in (0, 1, 2, 3, 4, 5, 7)
            },
        },
        "rank_crash",
        rank=6,
        step=(71, 71),
        evidence="Assertion",
    ),
    Story(
        "a worker's decoder fails on one file",
        {
            "train.log": plain(1, 33)
            + traceback(
                "RuntimeError: Caught RuntimeError in DataLoader worker process 3.\nOriginal Traceback (most recent call last):\n"
                '  File "/opt/venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 309, in _worker_loop\n'
                "    data = fetcher.fetch(index)\n"
                '  File "/workspace/data.py", line 61, in decode\n    return av.open(path)\n'
                "av.error.InvalidDataError: [Errno 1094995529] Invalid data found when processing input: '/data/vid/000913.mp4'",
                prefix="",
            )
        },
        "dataloader_crash",
        step=(34, 34),
        evidence="InvalidDataError",
    ),
    Story(
        "clients that never came to the store",
        {
            "node0.log": "[rank0]: Traceback (most recent call last):\n"
            '[rank0]:   File "/workspace/train.py", line 20, in <module>\n[rank0]:     dist.init_process_group("nccl")\n'
            "[rank0]: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 24/32 clients joined.\n",
            "node1.log": "[rank8]: torch.distributed.DistNetworkError: The client socket has timed out after 1800000ms while trying to connect to (node0, 29500).\n",
        },
        "init_timeout",
        evidence="24/32 clients joined",
    ),
    Story(
        "a port that does not answer at the rendezvous",
        {
            "launch.log": "W0314 09:00:01.000000 77 torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1\n"
            "[W314 09:01:01.000000001 socket.cpp:755] [c10d] The client socket has failed to connect to [head-node]:29400 (errno: 110 - Connection timed out).\n"
            * 3
            + traceback(
                "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details."
            )
        },
        "init_timeout",
    ),
    Story(
        "a remote cache does not give the shard",
        {
            f"rank{r}.log": plain(1, 44, rank=r)
            + (
                traceback(
                    "requests.exceptions.ConnectionError: (ProtocolError('Connection aborted.', RemoteDisconnected('Remote end closed connection without response')), '(Request ID: 5b)')",
                    prefix="[rank2]: ",
                    frames=[("/v/site-packages/datasets/utils/file_utils.py", 400, "read_with_retries", "raise")],
                )
                if r == 2
                else timeout(r, 45, at=700) + down(r, 701)
            )
            for r in range(4)
        },
        "dataloader_crash",
        rank=2,
        also=("rank_crash", "dataloader_stall", "network_fault"),
        step=(45, 45),
    ),
    Story(
        "the optimizer's floor: the loss scale cannot fall further",
        {
            "ds.log": "".join(
                f"[2026-03-14 09:00:{i:02d},101] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. "
                f"Attempted loss scale: {2 ** (16 - i) if i < 16 else 1}, reducing to {2 ** (15 - i) if i < 15 else 1}\n"
                for i in range(20)
            )
            + traceback(
                "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."
            )
        },
        "nan_inf",
        also=("nan_inf",),
    ),
    Story(
        "one rank's checkpoint fails in torch.save, the rest waits at the barrier",
        {
            "rank0.log": plain(1, 1000, rank=0)[-20000:]
            + "2026-03-14 09:33:20,000 INFO saving checkpoint at step 1000\n"
            + traceback(
                "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 704 vs 598",
                prefix="[rank0]: ",
                frames=[
                    (
                        "/v/site-packages/torch/serialization.py",
                        850,
                        "save",
                        "with _open_zipfile_writer(f) as opened_zipfile:",
                    )
                ],
            ),
            **{f"rank{r}.log": plain(1, 1000, rank=r)[-20000:] + timeout(r, 4001, at=3900) for r in range(1, 4)},
        },
        "checkpoint_failure",
        rank=0,
        step=(1000, 1000),
    ),
    Story(
        "Xid 13 belongs to the program, not to the GPU",
        {
            "rank2.log": plain(1, 25, rank=2)
            + traceback("RuntimeError: CUDA error: an illegal memory access was encountered", prefix="[rank2]: "),
            "dmesg.txt": "[77001.000001] NVRM: Xid (PCI:0000:1b:00): 31, pid=8802, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_12345000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n",
        },
        "rank_crash",
        rank=2,
        step=(26, 26),
        evidence="illegal memory access",
    ),
    Story(
        "two ranks of a node talk on the same GPU",
        {
            "out.log": "n1:77:90 [0] init.cc:943 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 7000\n"
            + traceback(
                "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.18.6\nncclInvalidUsage: This usually reflects invalid usage of NCCL library."
            )
        },
        "rank_crash",
    ),
    Story(
        "Horovod names the ranks that did not send their tensor",
        {
            "out.log": plain(1, 30)
            + "[1,0]<stderr>:[2026-03-14 09:03:00.000000: W horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, "
            "gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different "
            "ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, which will cause deadlock. \n"
            "[1,0]<stderr>:Missing ranks:\n[1,0]<stderr>:3: [allreduce.grad.fc.weight]\n"
        },
        "collective_hang",
        rank=3,
        rank_may_be_unnamed=True,
    ),
    Story(
        "an int overflow in the sampler on every rank is nobody's fault",
        {
            f"rank{r}.log": plain(1, 10, rank=r)
            + traceback("OverflowError: Python int too large to convert to C long", prefix=f"[rank{r}]: ")
            for r in range(4)
        },
        "rank_crash",
        step=(11, 11),
    ),
    Story(
        "a full home directory stops the tracker, training goes on",
        {
            "train.log": plain(1, 50)
            + "wandb: WARNING Unable to write to disk: [Errno 28] No space left on device\n"
            + plain(51, 400, begin=100)
        },
        "none",
        also=("disk_full",),
    ),
    Story(
        "Lightning's child exits, the parent ends the others",
        {
            "out.log": "".join(lightning(i, 3 - i / 900) for i in range(1, 60))
            + "[rank1]: Traceback (most recent call last):\n"
            '[rank1]:   File "/w/module.py", line 71, in validation_step\n[rank1]:     self.log("x", y / n)\n'
            "[rank1]: ZeroDivisionError: division by zero\n"
            "[rank: 1] Child process with PID 70112 terminated with code 1. Forcefully terminating all other processes to avoid zombies 🧟\n"
        },
        "rank_crash",
        rank=1,
        evidence="ZeroDivisionError",
    ),
    Story(
        "a checkpoint that was cut cannot be read",
        {
            f"rank{r}.log": "2026-03-14 09:00:00,000 INFO resuming from step 8000\n"
            + traceback(
                "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
                prefix=f"[rank{r}]: ",
            )
            for r in range(3)
        },
        "checkpoint_failure",
    ),
    Story(
        "rank 3 only has a torn shard",
        {
            "out.log": "".join(
                f"[rank{r}]: 2026-03-14 09:00:00,000 INFO loading checkpoint from /ckpt/step8000\n" for r in range(4)
            )
            + traceback(
                "EOFError: Ran out of input",
                prefix="[rank3]: ",
                frames=[("/v/site-packages/torch/serialization.py", 1448, "_legacy_load", "magic = pickle.load(f)")],
            )
            + closing([1, 2, 3])
            + agent(1, 3, 4, rank=3, host="a", at=20)
        },
        "checkpoint_failure",
        rank=3,
        evidence="EOFError",
    ),
    Story(
        "no watchdog at all: one GPU idle, the others at 100 %",
        {
            "stdout.log": plain(1, 60),
            "smi.csv": gpu_csv(
                {2: 0}, header="timestamp, index, utilization.gpu [%], memory.used [MiB]", until=2400, busy_until=120
            ),
        },
        "collective_hang",
        rank=2,
        rank_may_be_unnamed=True,
    ),
    Story(
        "counters: one rank enqueued less, and no timeout line survived",
        {
            "tail.log": "".join(counters(r, 9012, 9012 if r != 6 else 9011, 9011, at=900) for r in range(8)),
        },
        "collective_hang",
        rank=6,
    ),
    Story(
        "a rank is stuck in the compiler's lock, the first step never comes",
        {
            **{
                f"rank{r}.log": "2026-03-14 09:00:00,000 INFO compiling\n"
                + (timeout(r, 3, at=1900, ran=1_800_000) if r else "")
                for r in range(4)
            }
        },
        "collective_hang",
        rank=0,
        also=("init_timeout",),
        rank_may_be_unnamed=True,
    ),
    Story(
        "NaN on one pipeline's loss only",
        {
            f"rank{r}.log": "".join(
                f"{clock(s * 2)},000 INFO [rank{r}] step {s}/900 loss {'nan' if (r == 3 and s >= 40) else f'{2.4 - s / 1000:.3f}'} grad_norm {'nan' if s >= 41 else '0.4'}\n"
                for s in range(1, 60)
            )
            for r in range(4)
        },
        "nan_inf",
        rank=3,
        step=(40, 40),
        rank_may_be_unnamed=True,
    ),
    Story(
        "cuBLAS cannot allocate its workspace",
        {
            "rank1.log": plain(1, 3, rank=1)
            + traceback(
                "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                prefix="[rank1]: ",
            ),
            "rank0.log": plain(1, 3, rank=0) + timeout(0, 9, at=700),
        },
        "gpu_oom",
        rank=1,
        step=(4, 4),
    ),
    Story(
        "a bus error in the loader, shared memory too small",
        {
            "train.log": plain(1, 9)
            + "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n"
            + traceback(
                "RuntimeError: DataLoader worker (pid 771) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
                prefix="[rank0]: ",
            )
        },
        "dataloader_crash",
        rank=0,
        step=(10, 10),
    ),
)
