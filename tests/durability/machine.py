"""A machine whose power fails: its disk is an ext4 on a loop device, and what was never synced is not there afterwards."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SIZE = 64 << 20
COMMIT_SECONDS = 1
"""The journal's beat: a bookmark that nobody synced is on the disk soon, and what it stands for may not be."""


def why_not() -> str:
    """Why no power can fail here; empty: it can."""
    if os.geteuid() != 0:
        return "needs root to mount an image"
    return "" if Path("/dev/loop-control").exists() else "there are no loop devices here"


class Machine:
    """One disk, mounted at `folder`; needs root and loop devices."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True)
        self._image = home / "disk.img"
        self.folder = home / "disk"
        self.folder.mkdir()
        with self._image.open("wb") as file:
            file.truncate(SIZE)
        subprocess.run(["mkfs.ext4", "-q", "-F", self._image], check=True)
        self._mount()

    def fail(self, pid: int, kill: Callable[[], None]) -> None:
        """The power fails while this process works; its disk is mounted again as it was at that moment."""
        after = self._image.with_suffix(".after")
        # Stopped first: an image that is copied while it is written to is a state that no disk ever had.
        os.kill(pid, signal.SIGSTOP)
        subprocess.run(["cp", "--sparse=always", self._image, after], check=True)
        kill()
        self.close()
        after.replace(self._image)
        self._mount()

    def close(self) -> None:
        """The disk is taken out."""
        with suppress(OSError):
            subprocess.run(["umount", "-l", self.folder], check=False)

    def _mount(self) -> None:
        subprocess.run(["mount", "-o", f"loop,commit={COMMIT_SECONDS}", self._image, self.folder], check=True)
