"""Small logs that look like real ones, to tell stories with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class Story:
    """Files of a run that went wrong, and what a careful person would say of them."""

    name: str
    files: Mapping[str, str]
    category: str
    rank: int | None = None
    node: str | None = None
    step: tuple[int, int] | None = None
    evidence: str = ""
    also: tuple[str, ...] = field(default=())
    """Other categories that are right too."""
    rank_may_be_unnamed: bool = False
    innocent_nodes: tuple[str, ...] = field(default=())
    """Nodes where somebody only waited, or told of others."""


START = datetime(2026, 3, 14, 9, 0, 0, tzinfo=UTC)


def clock(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")


def glog(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("314 %H:%M:%S.000000001")


def megatron(
    first: int, last: int, *, prefix: str = "", every: float = 10.0, begin: float = 0.0, loss: float = 2.5
) -> str:
    return "".join(
        f"{prefix} [{clock(begin + (step - first) * every)}.000000] iteration {step:8d}/   50000 | consumed samples: {step * 512} | "
        f"elapsed time per iteration (ms): {every * 1000:.1f} | learning rate: 1.000E-04 | global batch size:   512 | "
        f"lm loss: {loss - step * 1e-5:.6E} | loss scale: 1.0 | grad norm: 0.{300 + step % 50} | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        for step in range(first, last + 1)
    )


def plain(
    first: int, last: int, *, rank: int | None = None, every: float = 2.0, begin: float = 0.0, loss: float = 2.5
) -> str:
    tag = f"[rank{rank}] " if rank is not None else ""
    return "".join(
        f"{clock(begin + (step - first) * every)},{100 + step % 800:03d} INFO {tag}step {step}/9000 loss {loss - step * 1e-4:.4f} "
        f"grad_norm 0.{500 + step % 90} lr 1.00e-04\n"
        for step in range(first, last + 1)
    )


def maxtext(first: int, last: int) -> str:
    """Lines of MaxText, from one step to another."""
    return "".join(
        f"{clock(step * 3)} I0314 completed step: {step}, seconds: 3.012, TFLOP/s/device: 171.2, Tokens/s/device: 2720.1, "
        f"total_weights: 65536, loss: {10 - step / 50:.3f}\n"
        for step in range(first, last)
    )


def trainer(first: int, last: int) -> str:
    """Dicts as the Trainer of Hugging Face prints them."""
    return "".join(
        f"{{'loss': {2.5 - step * 0.001:.4f}, 'grad_norm': {0.8 + step % 7 * 0.01:.4f}, 'learning_rate': 2e-05, 'epoch': {step / 1000:.3f}}}\n"
        for step in range(first, last + 1)
    )


def kernel(seconds: float, host: str, text: str) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%b %d %H:%M:%S") + f" {host} kernel: {text}\n"


def timeout(
    rank: int,
    seq: int,
    *,
    op: str = "ALLREDUCE",
    numel: int = 1024,
    at: float = 0.0,
    ran: int = 600_000,
    own: bool = True,
) -> str:
    head = f"[rank{rank}]:[E{glog(at)} ProcessGroupNCCL.cpp:632] " if own else "[E ProcessGroupNCCL.cpp:474] "
    return (
        f"{head}[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, "
        f"NumelOut={numel}, Timeout(ms)={ran}) ran for {ran + 40 + rank} milliseconds before timing out.\n"
    )


def counters(
    rank: int, work: int, enqueued: int, completed: int, *, at: float = 0.0, group: str = "0(default_pg)"
) -> str:
    return (
        f"[rank{rank}]:[E{glog(at)} ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID {group} Rank {rank}]  failure detected by watchdog "
        f"at work sequence id: {work} PG status: last enqueued work: {enqueued}, last completed work: {completed}\n"
    )


def down(rank: int, at: float = 0.0) -> str:
    head = f"[rank{rank}]:[E{glog(at)} ProcessGroupNCCL.cpp:684] [Rank {rank}] "
    return (
        f"{head}Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
        "operations might run on corrupted/incomplete data.\n"
        f"{head}To avoid data inconsistency, we are taking the entire process down.\n"
    )


def teardown(rank: int, seq: int, at: float) -> str:
    """A rank that gives up waiting at the end."""
    return timeout(rank, seq, numel=1, at=at, ran=1_800_000) + down(rank, at + 1)


def comm(host: str, pid: int, device: int, rank: int, world: int, *, bus: str) -> str:
    return (
        f"{host}:{pid}:{pid + 500} [{device}] NCCL INFO comm 0xabc{rank} rank {rank} nranks {world} cudaDev {device} busId {bus} - "
        "Init COMPLETE\n"
    )


def traceback(error: str, *, prefix: str = "", frames: Iterable[tuple[str, int, str, str]] = ()) -> str:
    lines = [f"{prefix}Traceback (most recent call last):"]
    for path, at, function, source in frames or [("/workspace/train.py", 211, "main", "train_step(batch)")]:
        lines += [f'{prefix}  File "{path}", line {at}, in {function}', f"{prefix}    {source}"]
    return "\n".join([*lines, f"{prefix}{error}"]) + "\n"


def agent(exit_code: int, local_rank: int, pid: int, *, rank: int, host: str, at: float = 0.0, others: str = "") -> str:
    stamp = (START + timedelta(seconds=at)).strftime("E0314 %H:%M:%S.000000")
    named = {-9: "Signal 9 (SIGKILL)", -6: "Signal 6 (SIGABRT)", -11: "Signal 11 (SIGSEGV)", -7: "Signal 7 (SIGBUS)"}
    told = (
        f"{named[exit_code]} received by PID {pid}"
        if exit_code in named
        else "To enable traceback see: https://pytorch.org/docs"
    )
    rule = "=" * 60
    return (
        f"{stamp} 4000 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: {exit_code}) local_rank: {local_rank} "
        f"(pid: {pid}) of binary: /usr/bin/python\n{rule}\ntrain.py FAILED\n{'-' * 60}\nFailures:\n"
        f"{others or '  <NO_OTHER_FAILURES>'}\n{'-' * 60}\nRoot Cause (first observed failure):\n[0]:\n"
        f"  time      : {(START + timedelta(seconds=at)).strftime('%Y-%m-%d_%H:%M:%S')}\n  host      : {host}\n"
        f"  rank      : {rank} (local_rank: {local_rank})\n  exitcode  : {exit_code} (pid: {pid})\n  error_file: <N/A>\n"
        f"  traceback : {told}\n{rule}\n"
    )


def closing(pids: Iterable[int], at: float = 0.0) -> str:
    stamp = (START + timedelta(seconds=at)).strftime("W0314 %H:%M:%S.000000")
    return "".join(
        f"{stamp} 4000 torch/distributed/elastic/multiprocessing/api.py:900] Sending process {pid} closing signal SIGTERM\n"
        for pid in pids
    )


def gpu_csv(
    utils: Mapping[int, int],
    *,
    gpus: int = 8,
    busy_until: float = 100.0,
    until: float = 900.0,
    every: float = 30.0,
    used: int = 61_000,
    header: str = "timestamp,index,util,mem_used_mib",
) -> str:
    """GPUs that work until a moment and then stand at the given utilisation (100 where none is given)."""
    lines = [header]
    moment = 0.0
    while moment <= until:
        for index in range(gpus):
            util = 85 + (index * 7 + int(moment)) % 14 if moment < busy_until else utils.get(index, 100)
            lines.append(f"{clock(moment)},{index},{util},{used + index * 17}")
        moment += every
    return "\n".join(lines) + "\n"


def pyspy(
    pid: int, frames: Iterable[str], *, rank: int | None = None, state: str = "idle", local_rank: int | None = None
) -> str:
    local = f" --local_rank={local_rank}" if local_rank is not None else ""
    tail = f" (rank {rank})" if rank is not None else ""
    body = "\n".join(f"    {frame}" for frame in frames)
    return f'Process {pid}: python train.py{local}{tail}\nPython v3.11.7 (/usr/bin/python3.11)\n\nThread {pid} ({state}): "MainThread"\n{body}\n\n'


WAITING = (
    "all_reduce (torch/distributed/distributed_c10d.py:2501)",
    "wrapper (torch/distributed/c10d_logger.py:81)",
    "reduce_loss (train.py:88)",
    "train (train.py:211)",
    "<module> (train.py:300)",
)
