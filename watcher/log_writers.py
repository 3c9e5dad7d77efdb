"""Who writes a log and how it keeps the file open: that decides what a rotation loses."""

# Thousands of links are read at once.
# ruff: noqa: PTH115, PTH116, PTH119, PTH120, PTH208

import os
from dataclasses import dataclass
from pathlib import Path

from watcher import process_tree
from watcher.identity import FileId

_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Writer:
    """One process that has a file of this log open for writing."""

    pid: int
    name: str
    descriptor: int
    appends: bool
    """True: each write goes to the end (`>>`); false: to where this process was (`>`)."""
    path: str
    """The file it writes now, as the kernel names it; not always the log's own name any more."""
    is_deleted: bool
    size: int
    is_live: bool
    """Whether that file bears the log's name."""

    @property
    def is_redirected(self) -> bool:
        """A shell, a pipe's end or a launcher gave it this file; it will never open it anew."""
        return self.descriptor in (1, 2)


def writers_of(path: Path) -> list[Writer]:
    """Every process that writes the log at `path`, or a rotated copy of it, where /proc lets us look."""
    real = os.path.realpath(path)
    folder, base = os.path.split(real)
    live = _id_of(real)
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            found += _writers_in(int(entry), folder, base, live)
    return found


def _writers_in(pid: int, folder: str, base: str, live: FileId | None) -> list[Writer]:
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []
    found: dict[FileId, Writer] = {}
    for number in sorted(numbers, key=int):
        link = f"/proc/{pid}/fd/{number}"
        try:
            target = os.readlink(link)
        except OSError:
            continue
        name = target.removesuffix(_DELETED)
        if os.path.dirname(name) != folder or not os.path.basename(name).startswith(base):
            continue
        flags = _flags(pid, number)
        file_id = _id_of(link)
        if flags is None or file_id is None or flags & os.O_ACCMODE == os.O_RDONLY or file_id in found:
            continue
        known = process_tree.read(pid)
        found[file_id] = Writer(
            pid,
            known.name if known else "",
            int(number),
            bool(flags & os.O_APPEND),
            name,
            target.endswith(_DELETED),
            os.stat(link).st_size,
            file_id == live,
        )
    return list(found.values())


def _flags(pid: int, number: str) -> int | None:
    told = process_tree.text_of(f"/proc/{pid}/fdinfo/{number}")
    after = told.partition("flags:")[2].split()
    return int(after[0], 8) if after else None


def _id_of(path: str) -> FileId | None:
    try:
        return FileId.of(os.stat(path))
    except OSError:
        return None
