"""Looks at the disks that a run writes to, now and then: room, and the size of its newest checkpoint."""

import os
from collections.abc import Iterable
from pathlib import Path

from watcher.checkpoint_folders import Checkpoint, checkpoints_in, folders_of
from watcher.disk_forecast import DiskLook

SETTLED_SECONDS = 30.0
"""A checkpoint that changed this recently may still be written; its size says nothing yet."""


def look_at_disks(pids: Iterable[int], logs: Iterable[Path], named: Iterable[str], now: float) -> list[DiskLook]:
    """One look at each folder of a run; blocking, and it may hang with its file system."""
    logs = list(logs)
    found = []
    for folder in folders_of(pids, logs, named):
        try:
            usage, device = os.statvfs(folder), folder.stat().st_dev
        except OSError:
            continue
        whole = [one for one in checkpoints_in(folder) if now - one.changed_at > SETTLED_SECONDS]
        found.append(
            DiskLook(
                str(folder),
                device,
                usage.f_bavail * usage.f_frsize,
                usage.f_blocks * usage.f_frsize,
                now,
                _size(whole),
            )
        )
    return found


def _size(whole: list[Checkpoint]) -> int | None:
    """The largest of the newest few: optimizer states are not in every one."""
    return max((checkpoint.size for checkpoint in whole[-3:]), default=None)
