"""The job's memory groups: kills by the kernel since we began to look, and how near the limit they are."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from diagnosis.node_facts import MemoryGroup

ROOT = Path("/sys/fs/cgroup")
MOST = 16
NOBODY: Mapping[int, str | None] = MappingProxyType({})


class MemoryGroups:
    """Counters of each group that a process of the job was ever in; blocking, small files."""

    def __init__(self) -> None:
        self._first: dict[Path, int] = {}
        self._groups: dict[int, tuple[Path, ...]] = {}
        self._runs: dict[Path, set[str | None]] = {}
        self.newest: tuple[MemoryGroup, ...] = ()
        """At the last look; a group that is gone as it was last seen."""

    def of_run(self, run: str) -> tuple[MemoryGroup, ...]:
        """Those in which only processes of this run were seen: another's kill would read as its own."""
        own = {str(group) for group, runs in self._runs.items() if runs == {run}}
        return tuple(group for group in self.newest if group.path in own)

    def look(self, pids: Iterable[int], runs: Mapping[int, str | None] = NOBODY) -> None:
        """Read the counters of these processes' groups, and of those known before; `runs`: whose each process is."""
        living = set(pids)
        self._groups = {pid: self._groups.get(pid) or tuple(groups_of(pid)) for pid in living}
        for pid, groups in self._groups.items():
            for group in groups:
                self._runs.setdefault(group, set()).add(runs.get(pid))
        known = dict.fromkeys([*self._first, *(group for groups in self._groups.values() for group in groups)])
        before = {group.path: group for group in self.newest}
        self.newest = tuple(found for group in list(known)[:MOST] if (found := self._read(group, before)) is not None)

    def _read(self, group: Path, before: dict[str, MemoryGroup]) -> MemoryGroup | None:
        kills = _kills(group)
        if kills is None:
            return before.get(str(group))
        first = self._first.setdefault(group, kills)
        limit = _number(group / "memory.max") or _number(group / "memory.limit_in_bytes")
        used = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes")
        return MemoryGroup(str(group), max(0, kills - first), limit, used)


def groups_of(pid: int) -> set[Path]:
    """The folders of a process's memory groups, version 1 and 2."""
    found = set()
    for line in _text(Path(f"/proc/{pid}/cgroup")).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        below = path.lstrip("/")
        if ".." in below.split("/"):
            continue
        if not controllers:
            found.add(ROOT / below)
        elif "memory" in controllers.split(","):
            found.add(ROOT / "memory" / below)
    return {group for group in found if group.is_dir()}


def _kills(group: Path) -> int | None:
    """Kills in this group, of version 2 or else 1; None: it does not count them."""
    text = _text(group / "memory.events") or _text(group / "memory.oom_control")
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == "oom_kill" and value.isdecimal():
            return int(value)
    return None


def _number(path: Path) -> int | None:
    text = _text(path)
    # Version 1 says "no limit" with a number that no machine has.
    return int(text) if text.isdecimal() and int(text) < 1 << 60 else None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(4096).decode("utf-8", "replace").strip()
    except OSError:
        return ""
