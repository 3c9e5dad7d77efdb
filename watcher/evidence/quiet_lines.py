"""The last lines of every rank before the run fell quiet, from the memory of the watcher.

An abort or a rotation may have taken them from the disk since.
"""

from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene


class QuietLines:
    """Up to 400 lines of each rank, one file for each log."""

    name = "quiet_lines"
    seconds = 5.0
    bytes = 4 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Write what was kept; nothing was where steps come."""
        if not scene.quiet:
            return Result(Outcome.EMPTY, "the run was not quiet")
        for path, text in scene.quiet.items():
            into.write(f"quiet-{Path(path).name}", text)
        return Result(Outcome.COLLECTED)
