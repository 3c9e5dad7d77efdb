"""States of a job's processes: what psutil and /proc told, saved as JSON, or a table of `ps`."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis.minority import MIN_LOOKS, place_of

MAX_PROCESSES = 20_000

_STATES = {
    "R": "running", "S": "sleeping", "D": "disk-sleep", "T": "stopped", "t": "tracing-stop", "Z": "zombie",
    "I": "idle", "X": "dead",
}  # fmt: skip
_STORAGE_WAITS = ("nfs", "rpc_", "lustre", "ptlrpc", "fuse", "request_wait_answer", "ceph", "gpfs", "cxi",
                  "locks_lock", "flock", "wait_for_partner", "io_schedule", "wait_on_page", "folio_wait", "ext4", "xfs",
                  "jbd2", "blk_", "bio_", "beegfs", "weka", "mmfs", "fifo_open")  # fmt: skip
_FINAL = frozenset({"gone", "zombie", "dead", "stopped", "tracing-stop"})
_LOCK_WAITS = ("locks_lock", "flock_lock", "posix_lock_inode_wait")
_GPU_WAITS = ("nvidia", "nv_", "uvm_", "os_acquire", "rm_", "_nv")


@dataclass(frozen=True, slots=True)
class Look:
    """A process as one of several looks at it found it."""

    time: float
    state: str
    wchan: str | None
    cpu_seconds: float | None


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One process at one moment."""

    line: int | None
    """Line of the exhibit where it begins; None: it was asked of a living node."""
    text: str
    """The line that tells its state."""
    pid: int | None = None
    rank: int | None = None
    name: str = ""
    state: str = "unknown"
    wchan: str | None = None
    cpu_seconds: float | None = None
    children: tuple["ProcessState", ...] = ()
    looks: tuple[Look, ...] = ()
    """Where it was looked at several times: each look, oldest first."""

    @property
    def is_stopped(self) -> bool:
        """Somebody sent SIGSTOP, or a debugger holds it."""
        return self.state in {"stopped", "tracing-stop"}

    @property
    def is_gone(self) -> bool:
        """Dead, even where its parent has not noticed."""
        return self.state in {"zombie", "dead", "gone"}

    @property
    def waits_for_storage(self) -> bool:
        """It waits in the kernel for a file, a lock on one, or a disk."""
        return self.wchan is not None and any(part in self.wchan for part in _STORAGE_WAITS)

    @property
    def waits_for_lock(self) -> bool:
        """It waits for a lock on a file that another process holds."""
        return self.wchan is not None and any(part in self.wchan for part in _LOCK_WAITS)

    @property
    def waits_for_gpu(self) -> bool:
        """It waits in the kernel inside the GPU driver."""
        return self.wchan is not None and any(part in self.wchan for part in _GPU_WAITS)

    @property
    def is_uninterruptible(self) -> bool:
        """State D: not even SIGKILL ends it."""
        return self.state == "disk-sleep"


def read_processes(text: str) -> list[ProcessState]:
    """Every process of the file; empty when it is no list of processes."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return []
        return list(_from_json(value, _Lines(text)))[:MAX_PROCESSES]
    return list(_from_table(text))[:MAX_PROCESSES]


def has_kernel_pids(text: str) -> bool:
    """True when a watcher says that its numbers of processes are those of the kernel log."""
    return re.search(r'"has_kernel_pids"\s?: ?true', text[:1000]) is not None


class _Lines:
    """Finds the line that tells a value, so that a person can check it."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def of_pid(self, pid: Any) -> int:
        """Where the entry of a process stands; the first line where nothing tells."""
        wanted = re.compile(rf'"pid"\s?: ?{pid}\b') if isinstance(pid, int) else None
        if wanted is None:
            return 1
        return next((number for number, line in enumerate(self._lines, 1) if wanted.search(line)), 1)

    def of_rank(self, key: str) -> int:
        wanted = re.compile(rf'^\s{{0,40}}"{re.escape(key)}"\s?:')
        return next((number for number, line in enumerate(self._lines, 1) if wanted.match(line)), 1)

    def telling(self, begin: int, words: Iterable[str]) -> tuple[int, str]:
        found = list(words)
        for word in found:
            for number in range(begin, min(begin + 400, len(self._lines) + 1)):
                line = self._lines[number - 1]
                if f'"{word}"' in line:
                    return number, line.strip()[:300]
        return begin, (self._lines[begin - 1] if begin <= len(self._lines) else "").strip()[:300]


def _from_json(value: Any, lines: _Lines) -> Iterator[ProcessState]:
    if isinstance(value, dict) and isinstance(value.get("processes"), list):
        value = value["processes"]
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict):
                yield _process(item, lines, str(key))
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield _process(item, lines, None)


def _process(item: Mapping[str, Any], lines: _Lines, key: str | None, begin: int = 1) -> ProcessState:
    state = str(item.get("state", item.get("status", "unknown")))[:40]
    wchan = item.get("wchan")
    wchan = str(wchan)[:120] if wchan not in (None, "", "0") else None
    begin = lines.of_rank(key) if key is not None else max(begin, lines.of_pid(item.get("pid")))
    looks = _looks(item.get("looks"))
    usual = _usual_look(looks, _STATES.get(state, state))
    if usual is not None:
        state, wchan = usual.state, usual.wchan
    stuck = _stuck_thread(item.get("threads")) if state not in {"stopped", "T", "tracing-stop"} else None
    if stuck is not None:
        state, wchan = "disk-sleep", stuck
    line, text = lines.telling(begin, [word for word in (wchan, state) if word])
    rank = item.get("rank", key)
    children = item.get("children")
    return ProcessState(
        line=line,
        text=text,
        pid=_whole(item.get("pid")),
        rank=int(rank) if isinstance(rank, int) or (isinstance(rank, str) and rank.isdecimal()) else None,
        name=str(item.get("name", item.get("comm", "")))[:80],
        state=_STATES.get(state, state),
        wchan=wchan,
        cpu_seconds=_cpu(item),
        children=tuple(_process(child, lines, None, begin) for child in children[:256] if isinstance(child, dict))
        if isinstance(children, list)
        else (),
        looks=looks,
    )


def _looks(told: Any) -> tuple[Look, ...]:
    """Several looks at one process, oldest first."""
    found = []
    for item in told[:64] if isinstance(told, list) else ():
        if isinstance(item, dict) and isinstance(when := item.get("time"), int | float):
            state, wchan, cpu = str(item.get("state", "unknown"))[:40], item.get("wchan"), item.get("cpu_seconds")
            waits = str(wchan)[:120] if wchan not in (None, "", "0") else None
            spent = float(cpu) if isinstance(cpu, int | float) else None
            found.append(Look(float(when), _STATES.get(state, state), waits, spent))
    return tuple(found)


def _usual_look(looks: Sequence[Look], state: str) -> Look | None:
    """Where most looks found a process that lives; None: too few, or it is over."""
    if len(looks) < MIN_LOOKS or state in _FINAL:
        return None
    usual = Counter(place_of(look.state, look.wchan) for look in looks).most_common(1)[0][0]
    return next(look for look in reversed(looks) if place_of(look.state, look.wchan) == usual)


def _stuck_thread(threads: Any) -> str | None:
    """What a thread in state D waits for: its process waits with it."""
    for thread in threads if isinstance(threads, list) else []:
        if isinstance(thread, dict) and str(thread.get("status", thread.get("state")))[:1] in {"D", "d"}:
            found = str(thread.get("waits_in", thread.get("wchan", "")))[:120]
            if found not in {"", "0"}:
                return found
    return None


def _cpu(item: Mapping[str, Any]) -> float | None:
    times = item.get("cpu_times")
    if isinstance(times, list) and times and all(isinstance(part, int | float) for part in times[:2]):
        return float(sum(times[:2]))
    seconds = item.get("cpu_seconds")
    return float(seconds) if isinstance(seconds, int | float) else None


def _from_table(text: str) -> Iterator[ProcessState]:
    """`ps -eo pid,stat,wchan,comm` and its like: columns by the names in the header."""
    lines = text.splitlines()
    header: list[str] = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if "PID" in words and ("STAT" in words or "S" in words):
            header = words
            continue
        if not header or len(words) < len(header) - 1:
            continue
        cells = dict(zip(header, line.split(None, len(header) - 1), strict=False))
        state = (cells.get("STAT") or cells.get("S") or "?")[:1]
        if not cells.get("PID", "").isdecimal() or state not in _STATES:
            continue
        wchan = cells.get("WCHAN")
        yield ProcessState(
            line=number,
            text=line.strip()[:300],
            pid=int(cells["PID"][:10]),
            name=(cells.get("COMMAND") or cells.get("CMD") or cells.get("COMM") or "")[:80],
            state=_STATES[state],
            wchan=wchan if wchan not in (None, "-", "0") else None,
        )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
