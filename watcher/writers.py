"""Which processes hold a log open: read from /proc by link text, so that no hung file system is touched."""

# Thousands of links are read at once.
# ruff: noqa: PTH115, PTH116, PTH208

import os
from collections.abc import Iterable
from pathlib import Path

from watcher.identity import FileId

_DELETED = " (deleted)"


def holders(paths: Iterable[str], *, writing: bool = False) -> dict[int, set[str]]:
    """Process id → those of `paths` that it holds open (deleted ones too); only where /proc lets us look.

    `writing`: whoever only reads one does not count.
    """
    wanted = set(paths)
    found: dict[int, set[str]] = {}
    for pid, number, target in _open_files():
        name = target.removesuffix(_DELETED)
        if name in wanted and (not writing or _is_written(pid, number)):
            found.setdefault(pid, set()).add(name)
    return found


def is_held(file_id: FileId, folder: str) -> bool | None:
    """Whether another process holds this file, which lies or lay in `folder`; None when nobody's files are visible."""
    looked = False
    for pid, number, target in _open_files():
        looked = True
        if target.startswith(folder.rstrip("/") + "/") and _is_file(pid, number, file_id):
            return True
    return False if looked else None


def open_through_holder(file_id: FileId, folder: str) -> int | None:
    """A descriptor of a deleted file that some process still holds; None when nobody does."""
    for pid, number, target in _open_files():
        if target.endswith(_DELETED) and target.startswith(folder.rstrip("/") + "/") and _is_file(pid, number, file_id):
            try:
                return os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                continue
    return None


def _is_written(pid: int, number: str) -> bool:
    try:
        told = Path(f"/proc/{pid}/fdinfo/{number}").read_text()
    except OSError:
        return False
    flags = told.partition("flags:")[2].split()
    return bool(flags) and int(flags[0], 8) & os.O_ACCMODE != os.O_RDONLY


def _is_file(pid: int, number: str, file_id: FileId) -> bool:
    try:
        return FileId.of(os.stat(f"/proc/{pid}/fd/{number}")) == file_id
    except OSError:
        return False


def _open_files() -> Iterable[tuple[int, str, str]]:
    own = os.getpid()
    for entry in os.listdir("/proc") if Path("/proc/self/fd").is_dir() else ():
        if not entry.isdigit() or int(entry) == own:
            continue
        try:
            numbers = os.listdir(f"/proc/{entry}/fd")
        except OSError:
            continue
        for number in numbers:
            try:
                yield int(entry), number, os.readlink(f"/proc/{entry}/fd/{number}")
            except OSError:
                continue
