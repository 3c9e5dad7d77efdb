"""The family of a job's processes: who launched them, what they started, which program that is. Only read."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_LAUNCHER = re.compile(
    r"(?:^|[/\s])(?:torchrun|torch\.distributed\.(?:run|launch)|pt_elastic|deepspeed|deepspeed\.launcher\.\w+|"
    r"accelerate(?:\.commands\.\w+)?|mpirun|mpiexec|orterun|prun|horovodrun|lightning|composer|colossalai)(?:\s|$)"
)
_NOT_THE_JOB = re.compile(
    r"^(?:systemd|init|tini|dumb-init|sshd|login|su|sudo|cron|screen|tmux.*|slurmstepd|slurmd|containerd-shim.*|conmon|"
    r"(?:ba|z|da|k|fi|c|tc|pd|s|clu)?sh|ssh|script|strace|watch|time|nohup|srun|kubelet|dockerd|supervisord|runwatch|tee|pytest)$"
)
_OURS = re.compile(r"(?:^|[/\s])runwatch(?:\s|$)|-m (?:watcher|pytest|xdist)\b|execnet")


_FIRST_NAMESPACE = "pid:[4026531836]"
"""PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h: the same on every machine."""


def counts_as_kernel() -> bool:
    """True when pids seen here are those that the kernel log prints: we are in no container's namespace."""
    try:
        return os.readlink("/proc/self/ns/pid") == _FIRST_NAMESPACE  # noqa: PTH115
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Relative:
    """One process and where it hangs in the tree."""

    pid: int
    parent: int
    name: str
    state: str
    """The kernel's letter."""
    started_ticks: int
    """Clock ticks after the boot; with the pid it is the identity."""
    session: int = 0


class Tree:
    """All processes of this machine at one moment."""

    def __init__(self, relatives: Iterable[Relative]) -> None:
        self.all: Mapping[int, Relative] = {relative.pid: relative for relative in relatives}
        self._children: dict[int, list[int]] = {}
        for relative in self.all.values():
            self._children.setdefault(relative.parent, []).append(relative.pid)

    def below(self, pid: int) -> list[int]:
        """Everything that a process started, near ones first."""
        found = list(self._children.get(pid, ()))
        for child in found:
            found += [grand for grand in self._children.get(child, ()) if grand not in found]
        return found

    def launchers(self, ranks: Collection[int]) -> list[int]:
        """The processes that started the ranks and would end them in order; a rank nobody launched is its own."""
        return sorted({self._launcher(pid, ranks) for pid in ranks if pid in self.all})

    def family(self, pids: Collection[int]) -> list[int]:
        """The processes of a job, those that launched them, and everything they started."""
        found: list[int] = []
        for top in (*self.launchers(pids), *sorted(pids)):
            found += [pid for pid in (top, *self.below(top)) if pid in self.all and pid not in found]
        return found

    def _launcher(self, pid: int, ranks: Collection[int]) -> int:
        top, at = pid, self.all.get(self.all[pid].parent)
        is_parent = True
        while at is not None and at.pid != os.getpid():
            command = command_of(at.pid)
            if _OURS.search(command):
                break
            is_job = _NOT_THE_JOB.match(at.name) is None
            is_launcher = is_job and (_LAUNCHER.search(command) is not None or at.name == "pt_elastic")
            # In a container the launcher itself may be the first process; elsewhere that is the system.
            starts_ranks = is_parent and at.pid > 1 and is_job and self._starts_only(at.pid, ranks)
            if at.pid in ranks or is_launcher or starts_ranks:
                top = at.pid
            is_parent = False
            at = self.all.get(at.parent)
        return top

    def _starts_only(self, pid: int, ranks: Collection[int]) -> bool:
        """A process that has children of its own beside the ranks may be anything, such as a desktop or a test."""
        children = self._children.get(pid, ())
        return sum(child in ranks for child in children) * 2 > len(children)


def look() -> Tree:
    """The tree now."""
    pids = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208  (thousands of them)
    return Tree(relative for pid in pids if (relative := read(pid)) is not None)


def read(pid: int) -> Relative | None:
    """One process; None: it is gone."""
    try:
        with Path(f"/proc/{pid}/stat").open("rb") as file:
            head, _, tail = file.read(2048).rpartition(b") ")
    except OSError:
        return None
    fields = tail.split()
    if len(fields) < 20:
        return None
    name = head.partition(b" (")[2].decode("utf-8", "replace")
    return Relative(pid, int(fields[1]), name, fields[0].decode(), int(fields[19]), int(fields[3]))


def command_of(pid: int) -> str:
    """Its command line, words joined by blanks; not masked."""
    return text_of(f"/proc/{pid}/cmdline").replace("\0", " ").strip()


def uid_of(pid: int) -> int | None:
    """Whose process it is; None: it is gone."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def text_of(path: str, most_bytes: int = 65536) -> str:
    """What a file of /proc or /sys says; empty when it may not be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(most_bytes).decode("utf-8", "replace")
    except OSError:
        return ""
