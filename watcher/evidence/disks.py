"""How full the disks are that the job writes to."""

import os
from pathlib import Path

from watcher.bins import Bin
from watcher.checkpoint_folders import folders_of
from watcher.evidence.collector import Outcome, Result, Scene


class Disks:
    """Free bytes and inodes for each folder."""

    name = "disks"
    seconds = 5.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Ask each file system once; one that hangs makes this piece time out and no other."""
        lines = []
        checkpoints = folders_of(scene.pids, scene.logs, scene.run.checkpoints)
        shared = Path("/dev/shm")  # noqa: S108  (where data loaders keep their batches)
        for folder in dict.fromkeys((*scene.folders, *checkpoints, shared)):
            into.check()
            try:
                usage = os.statvfs(folder)
            except OSError as error:
                lines.append(f"{folder}: {error.strerror}")
                continue
            total, free = usage.f_blocks * usage.f_frsize, usage.f_bavail * usage.f_frsize
            share = 100 * free / total if total else 0.0
            lines.append(
                f"{folder}: {free:,} of {total:,} bytes free ({share:.1f} %), {usage.f_favail:,} of "
                f"{usage.f_files:,} inodes free"
            )
        into.write("disks.txt", "\n".join(lines) + "\n")
        return Result(Outcome.COLLECTED)
