"""Memory counters of the job's control groups: whether the kernel killed something, and how near the limit it is."""

from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.memory_groups import groups_of

_FILES = (
    "memory.events",
    "memory.max",
    "memory.high",
    "memory.current",
    "memory.peak",
    "memory.swap.current",
    "memory.pressure",
    "memory.oom_control",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.max_usage_in_bytes",
    "memory.failcnt",
)


class Cgroups:
    """One text for all groups that the job's processes are in."""

    name = "cgroups"
    seconds = 3.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Read the counters of each group once."""
        groups = {group for process in scene.processes for group in groups_of(process.pid)}
        lines = []
        for group in sorted(groups):
            said = [(name, _read(group / name)) for name in _FILES]
            lines += [f"# {group}", *(f"{name}:\n{text}" for name, text in said if text)]
        if not any(not line.startswith("#") for line in lines):
            return Result(Outcome.UNAVAILABLE, "no control group of the job is readable here")
        into.write("cgroup.txt", "\n".join(lines) + "\n")
        return Result(Outcome.COLLECTED)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(65536).decode("utf-8", "replace").strip()
    except OSError:
        return ""
