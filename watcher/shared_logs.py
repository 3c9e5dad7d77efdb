"""Which logs lie on a file system that other nodes see too: what one node can no longer save, another may.

Two nodes name the same file alike by what they mounted (`server:/export`) and the path below it, wherever each has it.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
MOST_NAMED = 64
"""Logs of one run that a heartbeat names."""
_SHARED = re.compile(
    r"nfs4?|lustre|gpfs|ceph|beegfs|cifs|smb3|wekafs|panfs|pvfs2|glusterfs|afs|9p|virtiofs|"
    r"fuse\.(?:ceph|glusterfs|juicefs|sshfs|beegfs|quobyte|mfs|s3fs|gcsfuse|goofys|mount-s3|blobfuse2?)[\w.-]*"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


class SharedLogs:
    """Names for files on shared file systems; the table of mounts is read when a path is new."""

    def __init__(self, mounts: Path | None = None) -> None:
        self._mounts = mounts
        self._names: dict[str, str] = {}

    def names_of(self, paths: Iterable[str], most: int = MOST_NAMED) -> list[str]:
        """`FOLDER-FILE`, each a short hash, for those that lie on a shared file system."""
        wanted = sorted(set(paths))
        new = [path for path in wanted if path not in self._names]
        if new:
            table = _mounted(self._mounts or MOUNTS)
            self._names |= {path: _name(path, table) for path in new}
        return [name for path in wanted if (name := self._names[path])][:most]


def _name(path: str, table: list[tuple[str, str]]) -> str:
    """Empty where the path lies on a disk of this node alone."""
    point, source = next(((point, source) for point, source in table if path.startswith(point)), ("", ""))
    if not source:
        return ""
    folder, file = os.path.split(f"{source}/{path.removeprefix(point)}")
    return f"{_short(folder)}-{_short(file)}"


def _mounted(table: Path) -> list[tuple[str, str]]:
    """Mount point with its slash, and what is mounted there: empty for a local disk; the most exact first."""
    try:
        lines = table.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    found: dict[str, str] = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, what = before.split(), after.split()
        if len(fields) < 5 or len(what) < 2:
            continue
        root, point = _plain(fields[3]), _plain(fields[4])
        source = f"{_plain(what[1]).rstrip('/')}{root.rstrip('/')}" if _SHARED.fullmatch(what[0]) else ""
        found[point.rstrip("/") + "/"] = source  # a later mount hides an earlier one
    return sorted(found.items(), key=lambda item: -len(item[0]))


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), text)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
