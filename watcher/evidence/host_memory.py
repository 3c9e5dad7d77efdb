"""How the node's memory stands, its load and its pressure."""

from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene

_HOST_FILES = ("/proc/meminfo", "/proc/loadavg", "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory")


class HostMemory:
    """Memory, load and pressure of the whole node."""

    name = "host_memory"
    seconds = 3.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:  # noqa: ARG002  (the common shape of collectors)
        """Copy what /proc says."""
        said = []
        for name in _HOST_FILES:
            try:
                said.append(f"== {name}\n{Path(name).read_text()}")
            except OSError:
                continue
        if not said:
            return Result(Outcome.UNAVAILABLE, "/proc is not readable here")
        into.write("host-memory.txt", "\n".join(said))
        return Result(Outcome.COLLECTED)
