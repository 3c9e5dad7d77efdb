"""Other watchers of this node: where one follows another run, ranks that nothing relates to ours may be its."""

import os
from pathlib import Path

from watcher.process_tree import text_of


def has_neighbours(folder: Path, *, locks: str = "/proc/locks") -> bool:
    """Whether another process holds the lock of a run in our state folder; looks only, so that it disturbs nobody."""
    try:
        inodes = {str(entry.stat().st_ino) for entry in folder.glob("*.lock")}
    except OSError:
        return False
    for line in text_of(locks, 4 << 20).splitlines():
        fields = line.split()
        if len(fields) < 6 or "FLOCK" not in fields[1:3] or fields[4] == str(os.getpid()):
            continue
        if fields[5].rpartition(":")[2] in inodes:
            return True
    return False
