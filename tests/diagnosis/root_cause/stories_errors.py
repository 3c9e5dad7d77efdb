"""Runs that ended with an error other than a lack of memory, in other words than the cases we were given."""

from tests.diagnosis.root_cause.build import (
    Story,
    agent,
    clock,
    closing,
    comm,
    glog,
    megatron,
    plain,
    timeout,
    traceback,
)

ERRORS = (
    *(
        Story(
            f"steps are skipped for their gradients until {ends}",
            {
                "train.log": plain(1, 199)
                + "".join(
                    plain(step, step, begin=step * 2)
                    + f"{clock(step * 2)},000 WARNING gradients contain NaN, skipping update\n"
                    for step in range(200, 200 + count)
                )
                + traceback(error)
            },
            category,
            step=(200, 202) if category == "nan_inf" else None,
        )
        for ends, count, error, category in (
            ("nobody waits any longer", 50, "RuntimeError: 50 skipped steps in a row", "nan_inf"),
            ("the run is said to diverge", 8, "FloatingPointError: training diverged", "nan_inf"),
            ("something else fails", 3, "ValueError: bad shape", "rank_crash"),
            ("a file cannot be skipped", 1, "ValueError: shard 7 was not skipped", "rank_crash"),
        )
    ),
    Story(
        "an illegal memory access that only the watchdog of its own rank reports",
        {
            "all.log": megatron(700, 720, prefix="[rank15]:")
            + f"[rank6]:[E{glog(210)} ProcessGroupNCCL.cpp:1595] [PG ID 2 PG GUID 9 Rank 6] Process group watchdog thread terminated with "
            "exception: CUDA error: an illegal memory access was encountered\n"
            + "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n"
            + "".join(timeout(rank, 4021, at=810) for rank in (0, 1, 2, 3, 4, 5, 7))
            + agent(-6, 6, 306, rank=6, host="hgx02", at=880)
        },
        "rank_crash",
        rank=6,
        node="hgx02",
        step=(721, 721),
        evidence="an illegal memory access was encountered",
    ),
    Story(
        "a GPU falls off the bus; the kernel tells which, NCCL's start tells whose",
        {
            "node07.log": "".join(
                comm("node07", 700 + r, r, 8 + r, 16, bus=f"{0x10 + 0x10 * r:x}000") for r in range(8)
            )
            + "".join(f"[rank{8 + r}]: loaded\n" for r in range(8))
            + megatron(50, 80)
            + traceback("[rank11]: RuntimeError: CUDA error: unspecified launch failure", prefix="")
            + agent(1, 3, 703, rank=11, host="node07", at=330),
            "node06.log": "".join(comm("node06", 600 + r, r, r, 16, bus=f"{0x10 + 0x10 * r:x}000") for r in range(8))
            + "".join(timeout(r, 5000, at=920) for r in range(8)),
            "node07.dmesg.log": "[88000.100001] nvidia-peermem: loaded\n"
            "[91234.551221] NVRM: GPU at PCI:0000:40:00: GPU-1a2b\n"
            "[91234.551234] NVRM: Xid (PCI:0000:40:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
            "[91234.551240] NVRM: GPU 0000:40:00.0: GPU has fallen off the bus.\n",
        },
        "gpu_hardware",
        rank=11,
        node="node07",
        step=(81, 81),
        evidence="Xid (PCI:0000:40:00): 79",
    ),
    Story(
        "a segmentation fault without a word, seen by the launcher alone",
        {
            "launch.log": plain(1, 60) + closing([51, 52, 54], 130) + agent(-11, 2, 53, rank=2, host="c4", at=131),
        },
        "rank_crash",
        rank=2,
        node="c4",
        step=(61, 61),
        evidence="exitcode: -11",
    ),
    Story(
        "a bad sample in a loader worker of one rank",
        {
            f"rank{r}.log": plain(1, 25, rank=r)
            + (
                traceback(
                    "KeyError: Caught KeyError in DataLoader worker process 3.\nOriginal Traceback (most recent call last):\n"
                    '  File "/usr/lib/python3/site-packages/torch/utils/data/_utils/worker.py", line 308, in _worker_loop\n'
                    "    data = fetcher.fetch(index)\nKeyError: 'pixel_values'"
                )
                if r == 2
                else traceback(
                    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4431"
                )
            )
            for r in range(4)
        },
        "dataloader_crash",
        rank=2,
        step=(26, 26),
        evidence="KeyError: 'pixel_values'",
    ),
    Story(
        "a loader that timed out on one rank; the others waited for it",
        {
            "rank0.log": plain(1, 90, rank=0) + timeout(0, 400, at=1000),
            "rank1.log": plain(1, 90, rank=1) + traceback("RuntimeError: DataLoader timed out after 300 seconds"),
            "rank2.log": plain(1, 90, rank=2) + timeout(2, 400, at=1000),
            "rank3.log": plain(1, 90, rank=3) + timeout(3, 400, at=1000),
        },
        "dataloader_stall",
        rank=1,
        step=(91, 91),
        evidence="DataLoader timed out after 300 seconds",
    ),
    Story(
        "too many open files in the loader",
        {
            "train.log": plain(1, 500)
            + traceback(
                "RuntimeError: received 0 items of ancdata",
                frames=[
                    (
                        "/usr/lib/python3/site-packages/torch/utils/data/dataloader.py",
                        990,
                        "_try_get_data",
                        "data = self._data_queue.get()",
                    )
                ],
            )
        },
        "dataloader_crash",
        step=(501, 501),
        evidence="received 0 items of ancdata",
    ),
    Story(
        "a disk quota on one rank's save",
        {
            f"rank{r}.log": plain(1, 100, rank=r)
            + f"2026-03-14 09:03:20,000 INFO [rank{r}] saving checkpoint at step 100\n"
            + (
                traceback("[rank3]: OSError: [Errno 122] Disk quota exceeded: '/ckpt/step100/rank3.pt'")
                if r == 3
                else ""
            )
            for r in range(4)
        },
        "disk_full",
        rank=3,
        step=(100, 100),
        evidence="Disk quota exceeded",
    ),
    Story(
        "a checkpoint that does not fit the model, on every rank",
        {
            "train.log": "".join(
                f"[rank{r}]: "
                "RuntimeError: Error(s) in loading state_dict for LlamaForCausalLM: size mismatch for lm_head.weight: copying a param\n"
                for r in range(4)
            )
        },
        "checkpoint_failure",
        evidence="Error(s) in loading state_dict",
    ),
    Story(
        "a stale file handle on one rank, in a cache that nodes share",
        {
            f"rank{r}.log": plain(1, 15, rank=r)
            + (
                traceback("OSError: [Errno 116] Stale file handle: '/shared/cache/x.arrow'")
                if r == 6
                else timeout(r, 70, at=700)
            )
            for r in range(8)
        },
        "storage_stall",
        rank=6,
        step=(16, 16),
        evidence="Stale file handle",
    ),
    Story(
        "a missing file on the ranks of one node",
        {
            f"node{n}.log": "".join(f"[rank{n * 2 + r}]: model ready\n" for r in range(2))
            + (
                "".join(
                    traceback(
                        "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.bin'",
                        prefix=f"[rank{n * 2 + r}]: ",
                    )
                    for r in range(2)
                )
                if n == 3
                else ""
            )
            for n in range(4)
        },
        "rank_crash",
        node="node3",
        evidence="FileNotFoundError",
    ),
    Story(
        "Megatron's rerun finds a GPU that computes differently",
        {
            "rank12.log": megatron(400, 430)
            + "Unexpected result nan on rank 12 at iteration #431 invocation #1 (message='Unexpected nan in loss')\n"
            + "First rerun: unexpected result is not reproducible within the tolerance (nan != 2.31)\n"
            + "Possible transient error!\n"
        },
        "gpu_hardware",
        rank=12,
        step=(431, 431),
        evidence="not reproducible",
    ),
    Story(
        "a fingerprint that only one rank has",
        {
            "debug.log": "".join(
                traceback(
                    f"[rank{r}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {r} is running collective: "
                    "CollectiveFingerPrint(SequenceNumber=12, OpType=ALLREDUCE, TensorShape=[64]), but Rank 2 is running collective: "
                    "CollectiveFingerPrint(SequenceNumber=12, OpType=BROADCAST, TensorShape=[64])."
                )
                for r in (0, 1, 3)
            )
        },
        "collective_hang",
        rank=2,
        evidence="Detected mismatch between collectives",
    ),
    Story(
        "the desync debugger names the lagging rank",
        {
            "all.log": plain(1, 50)
            + "".join(timeout(r, 120, at=800) for r in (0, 1, 2))
            + "- To our best knowledge, ranks [3] are the lagging ranks that caused this timeout. They never joined any collectives\n"
        },
        "collective_hang",
        rank=3,
        step=(51, 51),
        evidence="lagging ranks",
    ),
    Story(
        "a port that is taken: nobody trains",
        {
            "train.log": "W0314 09:00:00.000000 1 torch/distributed/run.py:779] Setting OMP_NUM_THREADS environment variable\n"
            + traceback(
                "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, "
                "useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
            )
        },
        "rank_crash",
        also=("init_timeout", "network_fault"),
        evidence="EADDRINUSE",
    ),
    Story(
        "clients that never came",
        {
            "rank0.log": "2026-03-14 09:00:00,000 INFO starting\n"
            + traceback(
                "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 7/8 clients joined."
            )
        },
        "init_timeout",
        evidence="7/8 clients joined",
    ),
)
