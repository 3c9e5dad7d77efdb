"""The job's process tree: state, what each thread waits for, memory, open files, CPU time, command line (masked)."""

import json
import os
import time
from typing import Any

from diagnosis.observations import ProcessSample
from watcher import process_tree
from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.host import wchan_of
from watcher.process_tree import Relative, text_of

MOST_PROCESSES = 1024
MOST_THREADS = 64
MOST_FILES = 64
_MEMORY = ("VmPeak", "VmRSS", "RssAnon", "RssFile", "RssShmem", "VmSwap", "VmLck", "VmPin", "Threads")
_STATES = {"R": "running", "S": "sleeping", "D": "disk-sleep", "T": "stopped", "t": "tracing-stop", "Z": "zombie"}


class Processes:
    """One entry for each process of the job's family, its waiting threads inside."""

    name = "processes"
    seconds = 8.0
    bytes = 16 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Read /proc; nothing is asked of the processes themselves."""
        if not scene.processes:
            return Result(Outcome.UNAVAILABLE, "no process of the job was found on this node")
        tree = process_tree.look()
        known = {process.pid: process for process in scene.processes}
        family = [pid for pid in tree.family(scene.pids) if pid not in known]
        entries: list[dict[str, Any]] = []
        for pid in (*known, *family)[:MOST_PROCESSES]:
            into.check()
            if into.is_late:
                break
            entry = _entry(known.get(pid), tree.all.get(pid), pid)
            looks = [_look(one) for one in scene.looks if pid in known and _is_same(one, known[pid])]
            entries.append(entry | ({"looks": looks} if looks else {}))
        left = len(known) + len(family) - len(entries)
        content = {
            "time": time.time(),
            "node": scene.node,
            "has_kernel_pids": process_tree.counts_as_kernel(),
            "processes": entries,
        }
        into.write("processes.json", json.dumps(content, indent=1) + "\n")
        return Result(Outcome.COLLECTED, f"{left:,} more processes are not listed" if left else "")


def _entry(known: ProcessSample | None, now: Relative | None, pid: int) -> dict[str, Any]:
    said: dict[str, Any] = {"pid": pid}
    if known is not None:
        said |= {"rank": known.rank, "local_rank": known.local_rank, "name": known.name, "state": known.state}
    elif now is not None:
        said |= {"name": now.name, "state": _STATES.get(now.state, now.state)}
    said["parent"] = now.parent if now is not None else None
    if known is not None:
        said |= {
            "cpu_seconds": known.cpu_seconds,
            "memory_bytes": known.memory_bytes,
            "started_at": known.started_at,
            "gpu_indices": list(known.gpu_indices),
        }
    return said | {
        "wchan": wchan_of(pid) or (known.wchan if known is not None else None),
        "command": process_tree.command_of(pid),
        "memory": _memory(pid),
        "oom_score": text_of(f"/proc/{pid}/oom_score").strip(),
        "files": _files(pid),
        "threads": _threads(pid),
    }


def _look(seen: ProcessSample) -> dict[str, Any]:
    return {"time": seen.time, "state": seen.state, "wchan": seen.wchan, "cpu_seconds": seen.cpu_seconds}


def _is_same(one: ProcessSample, other: ProcessSample) -> bool:
    return (one.pid, one.started_at) == (other.pid, other.started_at)


def _memory(pid: int) -> dict[str, str]:
    pairs = (line.partition(":") for line in text_of(f"/proc/{pid}/status").splitlines())
    return {name: value.strip() for name, _, value in pairs if name in _MEMORY}


def _files(pid: int) -> list[str]:
    """The names of the regular files it holds, with the offset where it is; other kinds are counted."""
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    except OSError:
        return []
    named, others = [], 0
    for number in numbers:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115
        except OSError:
            continue
        if target.startswith("/") and not target.startswith(("/dev/", "/proc/")):
            named.append(f"{target} (at {text_of(f'/proc/{pid}/fdinfo/{number}').partition('pos:')[2].split()[:1]})")
        else:
            others += 1
    named = [name.replace("['", "").replace("']", "") for name in named]
    more = [f"… and {len(named) - MOST_FILES} more files"] if len(named) > MOST_FILES else []
    return [*named[:MOST_FILES], *more, *([f"{others} sockets, pipes and devices"] if others else [])]


def _threads(pid: int) -> list[dict[str, str]]:
    """Threads that wait in the kernel in a way that matters, or run; sleeping ones are the rule."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
    found = []
    for task in tasks:
        state = text_of(f"/proc/{pid}/task/{task}/stat").rpartition(")")[2].split()[:1]
        if state in (["D"], ["R"], ["T"], ["t"]):
            wchan = text_of(f"/proc/{pid}/task/{task}/wchan")
            name = text_of(f"/proc/{pid}/task/{task}/comm").strip()
            found.append({"tid": task, "name": name, "status": state[0], "waits_in": wchan})
    return found[:MOST_THREADS]
