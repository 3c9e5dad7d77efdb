"""The GPUs' last quarter of an hour, from the watcher's own memory: it needs no driver that answers."""

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene


class GpuRingTable:
    """One row for each reading of each GPU."""

    name = "gpu_ring"
    seconds = 5.0
    bytes = 16 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Write the ring as a table."""
        if not len(scene.ring):
            return Result(Outcome.EMPTY, scene.facts.get("gpus", "no GPU was read"))
        into.write(f"gpu-{scene.node}.csv", "\n".join(scene.ring.csv()) + "\n")
        return Result(Outcome.COLLECTED)
