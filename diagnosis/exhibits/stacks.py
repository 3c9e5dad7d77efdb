"""Python stacks of processes as py-spy prints them, one or many in a file, as text or JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

MAX_PROCESSES = 20_000
MAX_FRAMES = 200

_PROCESS = re.compile(r"^Process (\d{1,10}): (.{0,2000})")
_THREAD = re.compile(
    r'^Thread (?:0x[0-9a-fA-F]{1,16}|\d{1,20})(?: \((?P<state>[\w+, ]{1,40})\))?(?:: "(?P<name>[^"]{0,200})")?'
)
_FRAME = re.compile(
    r"^\s{2,12}(?P<function>[^\s(][^\n]{0,300}?) \((?P<file>[^()\n]{1,400}?)(?::(?P<line>\d{1,7}))?\)\s{0,4}$"
)
_CHILD = re.compile(r"^\W{0,6}child of rank (\d{1,7})\b(?:.{0,80}?wchan=(\S{1,80}))?")
_RANK = re.compile(r"\(rank (\d{1,7})\)|--rank[= ](\d{1,7})\b|\bRANK=(\d{1,7})\b")
_LOCAL = re.compile(r"--local[-_]rank[= ](\d{1,5})\b")


class Doing(StrEnum):
    """What a main thread is in the middle of."""

    WAITING = "waits in a collective"
    LOADING = "waits for its data loader"
    SAVING = "saves a checkpoint"
    READING = "reads or locks a file"
    REPORTING = "talks to a logger or tracker"
    COMPILING = "compiles"
    ELSEWHERE = "is elsewhere in its code"
    UNKNOWN = "cannot be told"


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack."""

    function: str
    file: str
    at: int | None
    line: int
    """Line of the exhibit."""
    text: str

    def __str__(self) -> str:
        return f"{self.function} ({self.file}{f':{self.at}' if self.at is not None else ''})"


@dataclass(slots=True)
class Stack:
    """One process: its main thread, innermost frame first."""

    pid: int
    command: str
    line: int
    rank: int | None = None
    local_rank: int | None = None
    is_child: bool = False
    wchan: str | None = None
    is_active: bool = False
    """The thread was on the CPU."""
    frames: list[Frame] = field(default_factory=list)

    @property
    def shape(self) -> tuple[str, ...]:
        """The stack without line numbers: what two processes must share to be in the same place."""
        return tuple(
            f"{frame.function}@{frame.file.rsplit('/', 1)[-1]}" for frame in self.frames if not _is_native(frame)
        )

    @property
    def doing(self) -> Doing:
        """What it is in the middle of, from its innermost frames."""
        return doing(self.frames)


_COLLECTIVES = (
    "all_reduce", "allreduce", "broadcast", "barrier", "recv", "send", "all_gather", "reduce_scatter", "all_to_all",
    "gather", "scatter", "reduce", "monitored_barrier", "batch_isend_irecv", "_engine_run_backward",
    "finalize_backward",
    "wait_tensor", "all_gather_into_tensor", "_all_gather_base", "all_gather_object", "broadcast_object_list", "_wait",
    "gather_object", "scatter_object_list", "wait_stream", "synchronize", "reduce_scatter_tensor", "irecv", "isend",
)  # fmt: skip
_LOADER = ("_try_get_data", "_get_data", "_next_data", "_MultiProcessingDataLoaderIter")
_QUEUES = ("queue.py", "multiprocessing/queues.py", "multiprocessing/connection.py")
_FEEDERS = ("iterator", "dataloader", "data_loader", "/data/", "data/", "dataset", "prefetch", "streaming")
_SAVERS = ("save_checkpoint", "torch_save", "_save", "save_pretrained", "write_record", "save_state_dict", "save_model",
           "async_save", "save_file", "_save_checkpoint", "dcp_save", "save_weights")  # fmt: skip
_TRACKERS = (
    "wandb/",
    "requests/",
    "urllib3/",
    "tensorboard",
    "mlflow/",
    "comet_ml/",
    "neptune/",
    "aim/",
    "http/client",
)
_COMPILERS = ("torch/_inductor", "torch/_dynamo", "triton/", "torch/utils/cpp_extension")
_FILES = ("flock", "lockf", "filelock", "acquire_lock", "fcntl")


def doing(frames: Sequence[Frame]) -> Doing:
    """What a stack is in the middle of; the loader, a save or a file explain more than the wait inside them."""
    inner = [frame for frame in frames if not _is_native(frame)][:14]
    if not inner:
        return Doing.UNKNOWN
    if any(part in frame.function for frame in inner for part in _LOADER):
        return Doing.LOADING
    if _waits_for_data(inner):
        return Doing.LOADING
    if any(_name(frame) in _COLLECTIVES and _is_communication(frame) for frame in inner[:6]):
        return Doing.WAITING
    if any(_name(frame) in _SAVERS or frame.file.endswith("torch/serialization.py") for frame in inner):
        return Doing.SAVING
    if any(part in frame.function.lower() or part in frame.file for frame in inner[:4] for part in _FILES):
        return Doing.READING
    if any(part in frame.file for frame in inner for part in _TRACKERS):
        return Doing.REPORTING
    if any(part in frame.file for frame in inner for part in _COMPILERS):
        return Doing.COMPILING
    return Doing.ELSEWHERE


def _waits_for_data(inner: Sequence[Frame]) -> bool:
    """Waits at a queue for code that feeds batches: loaders of one's own, beside torch's."""
    place = next((number for number, frame in enumerate(inner[:4]) if frame.file.endswith(_QUEUES)), None)
    return place is not None and any(part in frame.file for frame in inner[place + 1 : place + 3] for part in _FEEDERS)


def read_stacks(text: str, name: str = "", rank: int | None = None) -> list[Stack]:
    """Every process of a dump; the rank comes from the dump itself, or else from the file's name."""
    if text.lstrip()[:1] == "[":
        return _from_json(text, rank)
    stacks: list[Stack] = []
    heading: re.Match[str] | None = None
    thread_kept = False
    is_main = False
    for number, line in enumerate(text.splitlines(), 1):
        if len(stacks) >= MAX_PROCESSES:
            break
        if child := _CHILD.match(line):
            heading = child
        elif process := _PROCESS.match(line):
            stacks.append(_begin(process, number, heading, rank))
            heading, thread_kept = None, False
        elif stacks and (thread := _THREAD.match(line)):
            is_main = thread["name"] in (None, "MainThread") and not thread_kept
            if is_main:
                thread_kept = True
                stacks[-1].is_active = (thread["state"] or "").startswith("active")
        elif stacks and is_main and (frame := _FRAME.match(line)) and len(stacks[-1].frames) < MAX_FRAMES:
            at = frame["line"]
            stacks[-1].frames.append(
                Frame(frame["function"], frame["file"], int(at) if at else None, number, line.rstrip())
            )
    _number_alone(stacks, name)
    return stacks


def _begin(process: re.Match[str], number: int, heading: re.Match[str] | None, rank: int | None) -> Stack:
    command = process[2]
    stack = Stack(int(process[1]), command[:300], number)
    if local := _LOCAL.search(command):
        stack.local_rank = int(local[1])
    if heading is not None:
        stack.rank, stack.is_child, stack.wchan = int(heading[1]), True, heading[2]
    elif named := _RANK.search(command):
        stack.rank = int(next(value for value in named.groups() if value is not None))
    else:
        stack.rank = rank
    return stack


def _number_alone(stacks: list[Stack], name: str) -> None:
    """`pyspy_rank3.txt` names the one process in it; several in such a file are the rank and its children."""
    if "child" in name:
        for stack in stacks:
            stack.is_child = True


def _from_json(text: str, rank: int | None) -> list[Stack]:
    try:
        threads = json.loads(text)
    except (ValueError, RecursionError):
        return []
    stacks: dict[int, Stack] = {}
    for thread in threads if isinstance(threads, list) else []:
        if not isinstance(thread, dict) or thread.get("thread_name") not in ("MainThread", None):
            continue
        pid = thread.get("pid")
        if isinstance(pid, int) and pid not in stacks and len(stacks) < MAX_PROCESSES:
            stack = stacks[pid] = Stack(pid, "", 1, rank=rank, is_active=thread.get("active") is True)
            stack.frames.extend(_json_frames(thread.get("frames")))
    return list(stacks.values())


def _json_frames(frames: Any) -> Iterable[Frame]:
    for frame in frames[:MAX_FRAMES] if isinstance(frames, list) else []:
        if isinstance(frame, dict):
            file = str(frame.get("short_filename") or frame.get("filename") or "")[:400]
            at = frame.get("line")
            function = str(frame.get("name", ""))[:300]
            yield Frame(function, file, at if isinstance(at, int) else None, 1, f"    {function} ({file}:{at})")


def _name(frame: Frame) -> str:
    return frame.function.rsplit(".", 1)[-1]


def _is_native(frame: Frame) -> bool:
    return frame.at is None


def _is_communication(frame: Frame) -> bool:
    return any(part in frame.file for part in ("distributed", "autograd/graph", "deepspeed", "cuda/", "functional"))
