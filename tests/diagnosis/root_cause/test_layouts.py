"""The same troubles in the wording of every torch release, behind every launcher's prefix."""

from pathlib import Path

import pytest

from bot.inspect import inspect
from tests.diagnosis.root_cause.build import clock

RANKS = 8
GLOG = "1206 09:11:40.123456789"

WATCHDOGS = {
    "1.9": lambda r: (
        f"  what():  [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=600000) "
        "ran for 600412 milliseconds before timing out.\n"
    ),
    "1.13": lambda r: (
        f"[E ProcessGroupNCCL.cpp:821] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, OpType=ALLREDUCE, "
        "Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        "[E ProcessGroupNCCL.cpp:456] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, "
        "subsequent GPU operations might run on corrupted/incomplete data. To avoid this inconsistency, we are taking the entire process down.\n"
    ),
    "2.1": lambda r: (
        f"[E ProcessGroupNCCL.cpp:475] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, OpType=ALLREDUCE, "
        "NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        f"[E ProcessGroupNCCL.cpp:916] [Rank {r}] NCCL watchdog thread terminated with exception: [Rank {r}] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=1873, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600412 milliseconds\n"
    ),
    "2.3": lambda r: (
        f"[rank{r}]:[E ProcessGroupNCCL.cpp:563] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, "
        "OpType=_ALLGATHER_BASE, NumelIn=15, NumelOut=120, Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        f"[rank{r}]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank {r}] Timeout at NCCL work: 1873, last enqueued NCCL work: 1874, last completed NCCL work: 1872.\n"
    ),
    "2.4": lambda r: (
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:607] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, "
        "OpType=REDUCE_SCATTER, NumelIn=15, NumelOut=120, Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:1664] [PG 1 Rank {r}] Exception (either an error or timeout) detected by watchdog at work: 1873, "
        "last enqueued NCCL work: 1874, last completed NCCL work: 1872.\n"
    ),
    "2.5": lambda r: (
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:616] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, "
        "OpType=COALESCED, NumelIn=18446744073709551615, NumelOut=18446744073709551615, Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:1834] [PG ID 2 PG GUID 9 Rank {r}] Timeout at NCCL work: 1873, last enqueued NCCL work: 1874, last completed NCCL work: 1872.\n"
    ),
    "2.6": lambda r: (
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:629] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:2168] [PG ID 0 PG GUID 0(default_pg) Rank {r}]  failure detected by watchdog at work sequence id: 1873 "
        "PG status: last enqueued work: 1874, last completed work: 1872\n"
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:667] Stack trace of the failed collective not found, potentially because FlightRecorder is disabled. "
        "You can enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value.\n"
    ),
    "2.8": lambda r: (
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:683] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1873, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600412 milliseconds before timing out.\n"
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:2573] [PG ID 0 PG GUID 0(default_pg) Rank {r}] First PG on this rank to signal dumping.\n"
        f"[rank{r}]:[E{GLOG} ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank {r}] Received a dump signal due to a collective timeout "
        "from this local rank and we will try our best to dump the debug info. Last enqueued NCCL work: 1874, last completed NCCL work: 1872.\n"
    ),
}
"""What one waiting rank prints, by torch release (FAILURE_SIGNATURES section 2)."""

MEMORY = {
    "1.0": "RuntimeError: CUDA out of memory. Tried to allocate 304.00 MiB (GPU 0; 8.00 GiB total capacity; 142.76 MiB already allocated; 6.32 GiB free; 158.00 MiB reserved in total by PyTorch)",
    "1.13": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 79.15 GiB total capacity; 77.01 GiB already allocated; 12.31 MiB free; 78.11 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
    "2.1": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacty of 14.75 GiB of which 1.66 GiB is free. Process 414660 has 13.09 GiB memory in use. Of the allocated memory 10.09 GiB is allocated by PyTorch, and 1.92 GiB is reserved by PyTorch but unallocated.",
    "2.3": "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB. GPU  has a total capacity of 79.11 GiB of which 121.25 MiB is free. Including non-PyTorch memory, this process has 78.98 GiB memory in use.",
    "2.6": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.10 GiB is free. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
    "2.9": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True",
    "ROCm": "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 63.98 GiB. If reserved but unallocated memory is large try setting PYTORCH_HIP_ALLOC_CONF=expandable_segments:True",
}

PREFIXES = {
    "none": lambda r, line: line,
    "container": lambda r, line: f"2026-12-06T09:11:40.123456Z {line}",
    "tee": lambda r, line: f"[default{r}]:{line}",
    "kubectl": lambda r, line: f"[pod/llm-worker-{r}/pytorch] {line}",
    "cri": lambda r, line: f"2026-12-06T09:11:40.123456789Z stderr F {line}",
}


def steps(last: int = 60) -> str:
    return "".join(
        f"{clock(s * 2)},000 INFO step {s}/9000 loss {3 - s / 500:.4f} lr 1.00e-04\n" for s in range(1, last + 1)
    )


def wrapped(prefix: str, rank: int, text: str) -> str:
    return "".join(PREFIXES[prefix](rank, line) + "\n" for line in text.splitlines())


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("culprit", [0, 5])
@pytest.mark.parametrize("release", WATCHDOGS)
def test_the_silent_rank_is_the_suspect(release: str, culprit: int, prefix: str, tmp_path: Path):
    """Seven of eight ranks time out, each in a file of its own; the eighth says nothing more."""
    for rank in range(RANKS):
        text = steps() + (WATCHDOGS[release](rank) if rank != culprit else "")
        (tmp_path / f"rank{rank}.log").write_text(wrapped(prefix, rank, text))

    said = inspect([tmp_path]).diagnosis

    assert str(said.category) == "collective_hang", said.because
    assert said.culprit_rank == culprit, said.because
    assert said.first_bad_step == 61


@pytest.mark.parametrize("release", WATCHDOGS)
def test_when_all_wait_nobody_is_named(release: str, tmp_path: Path):
    (tmp_path / "all.log").write_text(steps() + "".join(WATCHDOGS[release](rank) for rank in range(RANKS)))

    said = inspect([tmp_path]).diagnosis

    assert str(said.category) == "collective_hang"
    assert said.culprit_rank is None, said.because


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("words", MEMORY)
def test_a_full_gpu_comes_before_the_timeouts(words: str, prefix: str, tmp_path: Path):
    for rank in range(RANKS):
        tag = "" if words in {"1.0", "1.13", "2.1"} else f"[rank{rank}]: "
        error = f'{tag}Traceback (most recent call last):\n{tag}  File "/w/train.py", line 9, in <module>\n{tag}    main()\n{tag}{MEMORY[words]}\n'
        text = steps() + (error if rank == 3 else WATCHDOGS["2.6"](rank))
        (tmp_path / f"rank{rank}.log").write_text(wrapped(prefix, rank, text))

    said = inspect([tmp_path]).diagnosis

    assert str(said.category) == "gpu_oom", said.because
    assert said.culprit_rank == 3, said.because
    assert said.first_bad_step == 61
    assert said.evidence is not None
    assert "out of memory" in said.evidence.text


@pytest.mark.parametrize("words", MEMORY)
def test_one_file_for_all_ranks(words: str, tmp_path: Path):
    """Everything in one file: the rank is known where the line or the launcher tells it, and never guessed."""
    text = (
        steps()
        + f'Traceback (most recent call last):\n  File "/w/train.py", line 9, in <module>\n    main()\n{MEMORY[words]}\n'
    )
    text += "".join(WATCHDOGS["2.6"](rank) for rank in range(RANKS) if rank != 3)
    (tmp_path / "all.log").write_text(text)

    said = inspect([tmp_path]).diagnosis

    assert str(said.category) == "gpu_oom"
    assert said.culprit_rank in {None, 3}
