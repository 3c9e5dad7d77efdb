"""Which process is of which run, where a watcher follows several: told by what it writes and by what was named.

A sign at the process itself (or at one it started) counts before one at whoever started it, and a process with signs of
two runs is of neither: another run's rank is never named.
"""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from watcher import writers
from watcher.globs import Globs
from watcher.jobs import (
    LOADER,
    NOT_THE_JOB,
    Member,
    Process,
    ancestors,
    commands,
    descendants,
    every_process,
    member_of,
    top_ranks,
)
from watcher.settings import WatchedRun

PASSING_ON = NOT_THE_JOB - {"runwatch", "tail", "less"}
Signs = Mapping[int, Collection[str]]
_PIPE = re.compile(r"^pipe:\[\d+\]$")


@dataclass(frozen=True, slots=True)
class Found:
    """The processes that are surely of one run, and the ranks of which nobody can tell whose they are."""

    members: tuple[Member, ...] = ()
    unclear: tuple[int, ...] = ()


def find_by_run(runs: Sequence[WatchedRun]) -> Found:
    """Each run's ranks and their data loaders; of a run without ranks, the processes that write its logs."""
    processes = {process.pid: process for process in every_process()}
    ranks = top_ranks(processes)
    signs, beside = _signs(runs, processes)
    owners = {pid: run for pid in ranks if (run := _owner(pid, signs, beside, processes)) is not None}
    with_ranks = set(owners.values())
    above = {pid for rank in ranks for pid in ancestors(rank, processes)}
    for pid in sorted(signs.keys() - ranks - above):
        run = next(iter(signs[pid]))
        is_beside = any(pid in descendants(rank, processes) for rank in ranks)
        if len(signs[pid]) == 1 and run not in with_ranks and not is_beside and _may_be_the_job(processes[pid]):
            owners[pid] = run
    return Found(tuple(_members(owners, processes)), tuple(sorted(ranks - owners.keys())))


def _members(owners: Mapping[int, str], processes: Mapping[int, Process]) -> Iterable[Member]:
    for pid, run in sorted(owners.items()):
        yield replace(member_of(processes[pid], processes[pid].environment), run=run)
    for process in processes.values():
        if process.name == LOADER and (of := owners.get(process.parent)) is not None:
            yield replace(member_of(process, processes[process.parent].environment), run=of)


def _owner(pid: int, signs: Signs, beside: Collection[int], processes: dict[int, Process]) -> str | None:
    """The one run that the nearest signs speak of."""
    family = [[pid, *descendants(pid, processes)], *([above] for above in ancestors(pid, processes))]
    has_own_output = False
    for near in family:
        told = {run for one in near for run in signs.get(one, ())}
        # What somebody above writes beside its own output says nothing of a child whose output goes to another file.
        if told and not (has_own_output and near[0] in beside):
            return told.pop() if len(told) == 1 else None
        has_own_output = has_own_output or any(_is_file(output) for output in _outputs(near[0]))
    return None


def _is_file(target: str) -> bool:
    return target.startswith("/") and not target.startswith("/dev/")


def _may_be_the_job(process: Process) -> bool:
    return process.name not in NOT_THE_JOB and process.pid != os.getpid()


def _signs(runs: Sequence[WatchedRun], processes: dict[int, Process]) -> tuple[Signs, Collection[int]]:
    """Process → the runs that it is named for, or whose logs it writes (through `tee` and the like too).

    Then those that only write a log beside their own output, as a program does that has other children too.
    """
    signs: dict[int, set[str]] = defaultdict(set)
    for run in runs:
        for pid in run.pids:
            signs[pid].add(run.name)
        if run.match:
            for pid in commands(run.match, processes):
                signs[pid].add(run.name)
    named = set(signs)
    paths = {path: run.name for run in runs for path in _logs_of(run)}
    shared = {path for path, name in paths.items() if any(path in _logs_of(run) for run in runs if run.name != name)}
    for pid, held in writers.holders(paths, writing=True).items():
        signs[pid] |= {paths[path] for path in held - shared}
    for pid, pipe in [(pid, pipe) for pid in signs if (pipe := _read_pipe(pid, processes))]:
        for writer in (one for one in processes if one != pid and pipe in _outputs(one)):
            signs[writer] |= signs[pid]
            named.add(writer)
    redirected = {pid for pid in signs if any(output in paths for output in _outputs(pid))}
    kept = {pid: told for pid, told in signs.items() if told and pid in processes and pid != os.getpid()}
    return kept, kept.keys() - named - redirected


def _logs_of(run: WatchedRun) -> list[str]:
    globs = Globs(list(run.logs))
    return [match.real_path for pattern in globs.patterns for match in globs.matches(pattern)]


def _read_pipe(pid: int, processes: Mapping[int, Process]) -> str | None:
    """The pipe that `tee` or the like reads the job's output from."""
    target = _link(pid, 0) if pid in processes and processes[pid].name in PASSING_ON else ""
    return target if _PIPE.match(target) else None


def _outputs(pid: int) -> tuple[str, str]:
    return _link(pid, 1), _link(pid, 2)


def _link(pid: int, descriptor: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/fd/{descriptor}").readlink())
    except OSError:
        return ""
