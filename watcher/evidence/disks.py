"""How full the disks are that the job writes to."""

import os
import threading
import time
from pathlib import Path

from watcher.bins import Bin
from watcher.checkpoint_folders import candidates_of
from watcher.evidence.collector import Outcome, Result, Scene

ANSWER_SECONDS = 3.0
"""All file systems are asked at once, and waited for together."""
MOST_FOLDERS = 64
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  (where data loaders keep their batches)

_asking: dict[Path, "_Look"] = {}
"""Who asked a file system last: while it gives no answer, nobody asks again."""


class Disks:
    """Free bytes and inodes for each folder."""

    name = "disks"
    seconds = 5.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Ask each file system by itself: a dead mount is named, and what the others say is saved."""
        checkpoints = candidates_of(scene.pids, scene.logs, scene.run.checkpoints)
        named = list(dict.fromkeys((*scene.folders, *checkpoints)))[:MOST_FOLDERS]
        folders = list(dict.fromkeys((*named, _SHARED_MEMORY)))
        answers = _ask(folders)
        lines = [answers.get(folder, f"{folder}: does not answer") for folder in folders]
        into.write("disks.txt", "".join(f"{line}\n" for line in lines if line))
        silent = ", ".join(str(folder) for folder in folders if folder not in answers)
        if silent:
            return Result(Outcome.TIMED_OUT, f"{silent} gave no answer in {ANSWER_SECONDS:.0f} s: a dead mount?")
        return Result(Outcome.COLLECTED)


class _Look(threading.Thread):
    """Asks one file system. Snapshots of two runs may wait for the same answer."""

    def __init__(self, folder: Path) -> None:
        super().__init__(name="disks", daemon=True)
        self.folder = folder
        self.said: str | None = None
        """Empty: there is no such folder."""

    def run(self) -> None:
        """May never come back."""
        folder = self.folder
        try:
            usage = os.statvfs(folder)
            is_folder = folder.is_dir()
        except (FileNotFoundError, NotADirectoryError, ValueError):  # nothing of that name, or none that can be one
            self.said = ""
            return
        except OSError as error:
            self.said = f"{folder}: {error.strerror}"
            return
        total, free = usage.f_blocks * usage.f_frsize, usage.f_bavail * usage.f_frsize
        share = 100 * free / total if total else 0.0
        room = f"{free:,} of {total:,} bytes free ({share:.1f} %)"
        self.said = f"{folder}: {room}, {usage.f_favail:,} of {usage.f_files:,} inodes free" if is_folder else ""


def _ask(folders: list[Path]) -> dict[Path, str]:
    """What the file system of each folder says, without those that are silent; empty where there is no such folder."""
    until, looks = time.monotonic() + ANSWER_SECONDS, {}
    for folder in folders:
        look = _asking.get(folder)
        if look is None or not look.is_alive():
            look = _asking[folder] = _Look(folder)
            look.start()
        looks[folder] = look
    for look in looks.values():
        look.join(max(0.0, until - time.monotonic()))
    return {folder: look.said for folder, look in looks.items() if look.said is not None}
