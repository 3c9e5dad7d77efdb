"""Which processes belong to a run: ranks by their environment, else those that write its logs or were named."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from watcher import writers
from watcher.globs import Globs
from watcher.settings import WatchedRun

_WANTED = (b"RANK", b"LOCAL_RANK", b"WORLD_SIZE", b"SLURM_PROCID", b"SLURM_LOCALID", b"OMPI_COMM_WORLD_RANK")
"""The only names that are ever taken from an environment."""
LOADER = "pt_data_worker"
NOT_THE_JOB = frozenset({"tee", "cat", "tail", "less", "logger", "rotatelogs", "multilog", "runwatch"})
"""Programs that only pass the output on, or read it."""
_MOST_ENVIRONMENT = 256 << 10


@dataclass(frozen=True, slots=True)
class Member:
    """One process of the job. (pid, started_at) is its identity."""

    pid: int
    started_at: float
    name: str
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    is_guess: bool = False
    """Nothing names it: it is a rank on this node, and there is only one run."""
    run: str | None = None
    """Whose it is, where the watcher follows several runs; None: the only run's."""


@dataclass(slots=True)
class Process:
    """One process of this machine, as little as is needed to tell whose it is."""

    pid: int
    parent: int
    started_at: float
    name: str
    environment: dict[bytes, int]

    @property
    def is_rank(self) -> bool:
        """Whether a launcher told it which rank it is."""
        return b"RANK" in self.environment and b"WORLD_SIZE" in self.environment


def find_members(runs: Sequence[WatchedRun], *, guesses: bool = True) -> list[Member]:
    """The processes of these runs that can be seen from here: each rank and its data loaders.

    `guesses`: where nothing names a process, all ranks of the node are taken for those of the only run.
    """
    processes = {process.pid: process for process in every_process()}
    tops, is_guess = _tops(runs, processes, guesses=guesses)
    members = [member_of(processes[pid], processes[pid].environment, is_guess=is_guess) for pid in sorted(tops)]
    loaders = [
        member_of(process, processes[process.parent].environment, is_guess=is_guess)
        for process in processes.values()
        if process.name == LOADER and process.parent in tops
    ]
    return members + loaders


def _tops(runs: Sequence[WatchedRun], processes: dict[int, Process], *, guesses: bool) -> tuple[set[int], bool]:
    """One process for each rank: those related to what was named or writes the logs; else all ranks of the node.

    The second value is true when nothing related them to the run.
    """
    ranks = top_ranks(processes)
    related = {*_named(runs, processes), *_holding(runs)} & processes.keys() - {os.getpid()}
    related = {pid for pid in related if processes[pid].name not in NOT_THE_JOB}
    family = {pid for pid in ranks if related & {pid, *ancestors(pid, processes), *descendants(pid, processes)}}
    if family or related:
        return family or related, False
    return (ranks if guesses and _may_guess(runs, ranks, processes) else set()), True


def top_ranks(processes: dict[int, Process]) -> set[int]:
    """One process for each rank of the node: not what a rank started."""
    ranks = {pid for pid, process in processes.items() if process.is_rank and process.name != LOADER}
    return {pid for pid in ranks if not ranks & set(ancestors(pid, processes))}


def _may_guess(runs: Sequence[WatchedRun], ranks: set[int], processes: dict[int, Process]) -> bool:
    """Whether all ranks of the node are one job's: one run, nobody said which they are, and no rank is there twice."""
    if len(runs) != 1 or runs[0].match or runs[0].pids:
        return False
    numbers = [processes[pid].environment[b"RANK"] for pid in ranks]
    return len(numbers) == len(set(numbers))


def every_process() -> Iterable[Process]:
    """Read directly: one small file for each process of a node that may have thousands."""
    boot = psutil.boot_time()
    ticks = os.sysconf("SC_CLK_TCK")
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if not entry.isdigit():
            continue
        try:
            with Path(f"/proc/{entry}/stat").open("rb") as file:
                head, _, tail = file.read(1024).rpartition(b") ")
        except OSError:
            continue
        fields = tail.split()
        if len(fields) < 20:
            continue
        pid, name = int(entry), head.partition(b" (")[2].decode("utf-8", "replace")
        yield Process(pid, int(fields[1]), boot + int(fields[19]) / ticks, name, _environment(pid))


def _environment(pid: int) -> dict[bytes, int]:
    """The wanted numbers of a process's initial environment; empty where we may not look."""
    try:
        with Path(f"/proc/{pid}/environ").open("rb") as file:
            content = file.read(_MOST_ENVIRONMENT)
    except OSError:
        return {}
    if b"RANK=" not in content and b"SLURM_PROCID=" not in content:
        return {}
    pairs = (entry.partition(b"=") for entry in content.split(b"\0"))
    return {name: int(value) for name, _, value in pairs if name in _WANTED and value.isdigit()}


def _named(runs: Sequence[WatchedRun], processes: dict[int, Process]) -> Iterable[int]:
    for run in runs:
        yield from run.pids
        if run.match:
            yield from commands(run.match, processes)


def commands(text: str, processes: Iterable[int]) -> Iterable[int]:
    """The processes whose command line holds this text."""
    return (pid for pid in processes if pid != os.getpid() and text in _command(pid))


def _command(pid: int) -> str:
    try:
        with Path(f"/proc/{pid}/cmdline").open("rb") as file:
            return file.read(16384).replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _holding(runs: Sequence[WatchedRun]) -> Iterable[int]:
    globs = Globs([pattern for run in runs for pattern in run.logs])
    paths = [match.real_path for pattern in globs.patterns for match in globs.matches(pattern)]
    return writers.holders(paths).keys()


def ancestors(pid: int, processes: dict[int, Process]) -> list[int]:
    """Who started it, and who started that, near ones first."""
    found: list[int] = []
    while (process := processes.get(pid)) is not None and process.parent not in found and process.parent:
        pid = process.parent
        found.append(pid)
    return found


def descendants(pid: int, processes: dict[int, Process]) -> list[int]:
    """Everything it started."""
    found = [pid]
    for parent in found:
        found += [child.pid for child in processes.values() if child.parent == parent and child.pid not in found]
    return found[1:]


def member_of(process: Process, environment: dict[bytes, int], *, is_guess: bool = False) -> Member:
    """A process as one of the job, with the rank that this environment tells."""
    return Member(
        process.pid,
        process.started_at,
        process.name,
        rank=environment.get(b"RANK", environment.get(b"SLURM_PROCID")),
        local_rank=environment.get(b"LOCAL_RANK", environment.get(b"SLURM_LOCALID")),
        world_size=environment.get(b"WORLD_SIZE"),
        is_guess=is_guess,
    )
