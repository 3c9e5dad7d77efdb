"""Which checkpoints there are: names, sizes and times, so that people know what to resume from. No weights."""

import time

from watcher.bins import Bin
from watcher.checkpoint_folders import checkpoints_in, folders_of
from watcher.evidence.collector import Outcome, Result, Scene


class Checkpoints:
    """A list."""

    name = "checkpoints"
    seconds = 8.0
    bytes = 2 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """One line for each checkpoint, oldest first within each folder."""
        folders = folders_of(scene.pids, scene.logs, scene.run.checkpoints)
        lines: list[str] = []
        for folder in folders:
            into.check()
            if into.is_late:
                break
            for one in checkpoints_in(folder):
                changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.changed_at))
                lines.append(f"{changed} {one.size:>18,} {one.files:>6,} files {one.path}\n")
        if not lines:
            where = ", ".join(str(folder) for folder in folders[:6]) or "no folder is known"
            return Result(Outcome.EMPTY, f"no checkpoint was found ({where})")
        into.write("checkpoints.txt", "".join(dict.fromkeys(lines)))
        return Result(Outcome.COLLECTED)
