"""The node and the job's processes as /proc shows them: who the ranks are, what state they are in, what is left.

Only read, never touched. Environments are read for an allow-list of names; nothing else of them is kept.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import psutil

from diagnosis.node_facts import MemoryGroup
from diagnosis.observations import GpuSample, HostSample, ProcessSample
from watcher.host_ring import HostRing
from watcher.jobs import Member, find_members
from watcher.looks import Looks
from watcher.memory_groups import MemoryGroups
from watcher.neighbours import has_neighbours
from watcher.run_members import Found, find_by_run
from watcher.settings import WatcherSettings
from watcher.worker import NoAnswer, Worker

T = TypeVar("T")

FIND_SECONDS, FIND_FIRST_SECONDS, FIND_AGAIN_SECONDS = 60.0, 15.0, 3.0
"""How often the job's processes are looked for, how often while none is known, and how soon after there were new ones
(a launcher is there before its ranks); in between only those known are read."""
GONE_SECONDS = 900.0
"""How long a rank that vanished is still told of."""
LOOK_SECONDS = 10.0
MOST_PROCESSES = 256
MOST_PIDS = 8
_STILL_CPU_SECONDS = 0.05


class Host:
    """What the node and the job's processes last looked like."""

    def __init__(self, settings: WatcherSettings) -> None:
        self.sample: HostSample | None = None
        self.problems: tuple[str, ...] = ()
        self.world_size: int | None = None
        self.ring = HostRing()
        self.looks = Looks()
        self.memory_groups = MemoryGroups()
        self._settings = settings
        self._worker = Worker("host")
        self._members: dict[int, Member] = {}
        self._processes: dict[int, psutil.Process] = {}
        self._cpu: dict[int, float] = {}
        self._gone: dict[int, ProcessSample] = {}
        self._last: dict[int, ProcessSample] = {}
        self._found_at = float("-inf")
        self._find_after = FIND_AGAIN_SECONDS
        self._knows_own = False
        self._unclear: tuple[int, ...] = ()
        self._has_neighbours = False

    @property
    def processes(self) -> tuple[ProcessSample, ...]:
        """The job's processes at the last look."""
        return self.sample.processes if self.sample else ()

    def of_run(self, run: str) -> tuple[ProcessSample, ...]:
        """Those of one run: another run's ranks are never taken for its own."""
        return tuple(one for one in self.processes if not self.has_several or one.run == run)

    def process_of(self, pid: str) -> ProcessSample | None:
        """The job's process of that number, as it was last seen: the kernel tells of one after it has ended it."""
        number = int(pid) if pid.isdecimal() else -1
        return next((one for one in (*self._last.values(), *self._gone.values()) if one.pid == number), None)

    @property
    def has_several(self) -> bool:
        """Whether the processes of several runs have to be told apart."""
        return len(self._settings.runs) > 1

    def looks_of(self, run: str, since: float) -> tuple[ProcessSample, ...]:
        """The looks at one run's processes after a moment."""
        return self.looks.since(since, run if self.has_several else None)

    def groups_of(self, run: str) -> tuple[MemoryGroup, ...]:
        """The memory groups that are one run's alone."""
        return self.memory_groups.of_run(run) if self.has_several else self.memory_groups.newest

    def gpus_of(self, run: str, gpus: Iterable[GpuSample]) -> frozenset[int] | None:
        """The GPUs that one run's processes use, where the node has several runs; None: all are the only run's."""
        if not self.has_several:
            return None
        own = {process.pid for process in self.of_run(run)}
        return frozenset(gpu.gpu_index for gpu in gpus if own & set(gpu.pids or ()))

    def problems_of(self, run: str) -> tuple[str, ...]:
        """What cannot be said of one run's processes, where the node has several runs."""
        if not self.has_several or not self.sample or self.of_run(run):
            return ()
        is_named = any(one.name == run and (one.match or one.pids) for one in self._settings.runs)
        if self._unclear and not is_named:
            pids = ", ".join(map(str, self._unclear[:MOST_PIDS]))
            named = "name this run's by `match` or `pids` in its [[runs]] table"
            return (f"cannot tell which run the processes are of (pid {pids}): {named}",)
        return ("no process of this run was found here, only those of other runs",)

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            await self.look()
            await asyncio.sleep(self._settings.host_seconds)

    async def look(self, seconds: float = LOOK_SECONDS, *, finds: bool = False) -> None:
        """Look once, now, and for new processes too if `finds`; a /proc that does not answer is a problem in words."""
        if finds:
            self._found_at = float("-inf")
        try:
            self.sample = await self._worker.call(self._look, what="/proc on this node", seconds=seconds)
            self.looks.add(self.sample.processes)
            self.ring.add(self.sample)
            self.problems = self._nobody_found()
        except NoAnswer as silent:
            self.problems = (str(silent),)

    async def ask(self, look: Callable[[], T], what: str, seconds: float = LOOK_SECONDS) -> T:
        """Another blocking look at this node, in the same thread; raises NoAnswer when it hangs."""
        return await self._worker.call(look, what=what, seconds=seconds)

    def with_gpus(self, gpus: Iterable[GpuSample], run: str | None = None) -> tuple[ProcessSample, ...]:
        """The processes (of one run), each with the GPUs that the driver says it uses."""
        users: dict[int, tuple[int, ...]] = {}
        for gpu in gpus:
            for pid in gpu.pids or ():
                users[pid] = (*users.get(pid, ()), gpu.gpu_index)
        processes = self.processes if run is None else self.of_run(run)
        return tuple(replace(process, gpu_indices=users.get(process.pid, ())) for process in processes)

    # -- in the worker's thread

    def _look(self) -> HostSample:
        now = time.time()
        if time.monotonic() - self._found_at >= (self._find_after if self._members else FIND_FIRST_SECONDS):
            self._find()
        samples = [self._read(member, now) for member in list(self._members.values())[:MOST_PROCESSES]]
        self._last = {sample.pid: sample for sample in samples if sample.state != "gone"}
        self._gone = {pid: sample for pid, sample in self._gone.items() if now - sample.time < GONE_SECONDS}
        self.memory_groups.look(self._last, {pid: sample.run for pid, sample in self._last.items()})
        memory = psutil.virtual_memory()
        return HostSample(
            node=self._settings.node,
            time=now,
            memory_available_bytes=memory.available,
            memory_total_bytes=memory.total,
            disk_free_bytes=self._disks(),
            processes=(*self._last.values(), *self._gone.values()),
        )

    def _find(self) -> None:
        self._found_at = time.monotonic()
        # Where our own processes were known once, the ranks that are left on this node are another job's.
        if self.has_several:
            told = find_by_run(self._settings.runs)
        else:
            self._has_neighbours = has_neighbours(self._settings.home / "bookmarks")
            may_guess = not self._knows_own and not self._has_neighbours
            told = Found(tuple(find_members(self._settings.runs, guesses=may_guess)))
        members, self._unclear = told.members, told.unclear
        found = {member.pid: member for member in members}
        self._knows_own = self._knows_own or any(not member.is_guess for member in members)
        for pid, member in list(self._members.items()):
            now_there = found.get(pid)
            if (now_there is None or now_there.started_at != member.started_at) and not _lives(member):
                self._say_gone(member)
        is_new = bool(found.keys() - self._members.keys())
        self._find_after = FIND_AGAIN_SECONDS if is_new else min(2 * self._find_after, FIND_SECONDS)
        self._members = found
        self._processes = {pid: process for pid, process in self._processes.items() if pid in found}
        sizes = {member.world_size for member in found.values() if member.world_size}
        self.world_size = max(sizes, default=self.world_size)

    def _read(self, member: Member, now: float) -> ProcessSample:
        process = self._processes.get(member.pid)
        try:
            if process is None:
                process = self._processes[member.pid] = psutil.Process(member.pid)
            if not process.is_running() or abs(process.create_time() - member.started_at) > 1:
                raise psutil.NoSuchProcess(member.pid)
            with process.oneshot():
                times, memory = process.cpu_times(), process.memory_info()
                name, state = process.name(), process.status()
        except psutil.ZombieProcess:
            name, state, times, memory = member.name, "zombie", None, None
        except psutil.Error:
            self._found_at = float("-inf")
            return self._say_gone(member)
        cpu = times.user + times.system if times else None
        if cpu is not None and state != "disk-sleep" and cpu - self._cpu.get(member.pid, -1.0) < _STILL_CPU_SECONDS:
            # It does not move: perhaps one of its other threads waits in the kernel.
            state = "disk-sleep" if _has_waiting_thread(member.pid) else state
        if cpu is not None:
            self._cpu[member.pid] = cpu
        return ProcessSample(
            node=self._settings.node,
            pid=member.pid,
            time=now,
            name=name,
            state=state,
            started_at=member.started_at,
            rank=member.rank,
            local_rank=member.local_rank,
            run=member.run,
            wchan=wchan_of(member.pid),
            cpu_seconds=cpu,
            memory_bytes=memory.rss if memory else None,
            read_bytes=_read_bytes(process),
        )

    def _say_gone(self, member: Member) -> ProcessSample:
        last = self._last.get(member.pid)
        gone = ProcessSample(
            node=self._settings.node,
            pid=member.pid,
            time=time.time(),
            name=member.name,
            state="gone",
            started_at=member.started_at,
            rank=member.rank,
            local_rank=member.local_rank,
            run=member.run,
            cpu_seconds=last.cpu_seconds if last else None,
        )
        self._members.pop(member.pid, None)
        self._cpu.pop(member.pid, None)
        if member.rank is not None:
            self._gone.setdefault(member.pid, gone)
        return gone

    def _disks(self) -> dict[str, float]:
        free: dict[str, float] = {}
        folders = {os.path.dirname(pattern) for run in self._settings.runs for pattern in run.logs}  # noqa: PTH120
        for folder in (*sorted(folders), str(self._settings.state_dir)):
            try:
                usage = os.statvfs(folder or ".")
            except OSError:
                continue
            free[folder] = float(usage.f_bavail * usage.f_frsize)
        return free

    def _nobody_found(self) -> tuple[str, ...]:
        if self._members or self._gone or not self._settings.runs:
            return ()
        why = "no process of the job was found here"
        if self._has_neighbours:
            return (f"{why}, and those of the node may be the run's of another watcher: name them with --match",)
        return (f"{why}: name one with --match, or its log is written elsewhere",)


def _lives(member: Member) -> bool:
    """Whether it is there still, though nothing relates it to the run any more: then it is not told as gone."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(member.pid)
        return abs(process.create_time() - member.started_at) <= 1 and process.status() != psutil.STATUS_ZOMBIE
    return False


def wchan_of(pid: int) -> str | None:
    """The kernel function a process waits in; None: not readable, or it runs."""
    try:
        name = Path(f"/proc/{pid}/wchan").read_text().strip("\0\n")
    except OSError:
        return None
    return name if name not in ("", "0") else None


def _has_waiting_thread(pid: int) -> bool:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return False
    for task in tasks:
        try:
            state = Path(f"/proc/{pid}/task/{task}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue
        if state == "D":
            return True
    return False


def _read_bytes(process: psutil.Process | None) -> int | None:
    if process is None:
        return None
    try:
        return int(process.io_counters().read_bytes)
    except (psutil.Error, AttributeError, OSError):
        return None
