"""The node's last quarter of an hour, from the watcher's own memory: memory, load, room, states of the processes."""

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene


class HostRingTable:
    """One row for each look at the node."""

    name = "host_ring"
    seconds = 3.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Write the ring as a table."""
        if not len(scene.host_ring):
            return Result(Outcome.EMPTY, "the host was not looked at yet")
        into.write(f"host-{scene.node}.csv", "\n".join(scene.host_ring.csv()) + "\n")
        return Result(Outcome.COLLECTED)
