"""Power cuts without a second machine: a small ext4 on a loop device whose image is copied in the middle of the work.

What the kernel still held in memory is not in the copy, as it would not be on a disk after a cut. The writer is stopped
first: an image that is copied while it is written to is a state that no disk ever had.
"""

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path

SIZE = 160 << 20
COMMIT_SECONDS = 1
"""The journal's beat: more of what was never synced has a name on the disk already, which is the harder case."""


def why_not():
    """Why no power can be cut here; empty: it can."""
    if os.geteuid() != 0:
        return "needs root to mount an image"
    if shutil.which("mkfs.ext4") is None:
        return "mkfs.ext4 is not installed"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices here"
    return ""


class Disk:
    """An ext4 of its own, mounted at `folder`."""

    def __init__(self, home):
        self._home = home
        self._image = home / "disk.img"
        self.folder = home / "disk"
        with self._image.open("wb") as file:
            file.truncate(SIZE)
        subprocess.run(["mkfs.ext4", "-q", "-F", self._image], check=True)
        _mount(self._image, self.folder, f"loop,commit={COMMIT_SECONDS}")

    @contextmanager
    def cut(self, process):
        """The disk as the next start would find it, if the power had failed now; `process` goes on after."""
        copy, folder = self._home / "after.img", self._home / "after"
        process.send_signal(signal.SIGSTOP)
        try:
            subprocess.run(["cp", "--sparse=always", self._image, copy], check=True)
        finally:
            process.send_signal(signal.SIGCONT)
        _mount(copy, folder, "loop")
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)

    def close(self):
        with suppress(OSError):
            subprocess.run(["umount", "-l", self.folder], check=False)


def _mount(image, folder, options):
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", options, image, folder], check=True)
