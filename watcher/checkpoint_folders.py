"""Where a job's checkpoints lie: named by the user, by the job's own arguments, or beside its logs."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from watcher import process_tree

_FLAG = re.compile(
    r"--?(?:output[_-]dir|save(?:[_-](?:dir|path|folder))?|(?:checkpoint|ckpt)(?:s)?(?:[_-](?:dir|path|folder))?|"
    r"default[_-]root[_-]dir|dump[_-]folder|dirpath|out[_-]dir)[= ](\S+)"
)
_NAME = re.compile(
    r"(?i)(?:checkpoint|ckpt|global_step|iter_|step[-_]?\d|epoch[-_=]?\d)[\w.=-]*|.*\.(?:ckpt|pt|pth|distcp)"
)
MOST_ENTRIES = 4000
MOST_SCANNED = 20_000
DEPTH = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a checkpoint, not its content."""

    path: str
    size: int
    changed_at: float


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint: one file, or a folder of them."""

    path: str
    size: int
    changed_at: float
    files: int


def folders_of(pids: Iterable[int], logs: Iterable[Path], named: Iterable[str] = ()) -> list[Path]:
    """The folders that may hold checkpoints of a job, most certain first; may hang with their file system."""
    return [path for path in candidates_of(pids, logs, named) if path.is_dir()]


def candidates_of(pids: Iterable[int], logs: Iterable[Path], named: Iterable[str] = ()) -> list[Path]:
    """What may be such a folder by its name alone: no file system is asked."""
    found = [Path(path) for path in named]
    for pid in pids:
        command = process_tree.command_of(pid)
        try:
            home = Path(os.readlink(f"/proc/{pid}/cwd"))  # noqa: PTH115  (a link whose target is only text here)
        except OSError:
            home = None
        for given in _FLAG.findall(command):
            path = Path(given.strip("'\""))
            if path.is_absolute() or home is not None:
                found.append(path if path.is_absolute() else (home or Path()) / path)
    found += [log.parent for log in logs]
    return list(dict.fromkeys(found))


def checkpoints_in(folder: Path, left: int = MOST_ENTRIES) -> list[Checkpoint]:
    """The checkpoints right below a folder or one below it, oldest first; sizes are sums of names, nothing is read."""
    found: list[Checkpoint] = []
    for path in _candidates(folder):
        files = list(entries_of(path, left))
        left -= len(files) + 1
        if files:
            changed = max(entry.changed_at for entry in files)
            found.append(Checkpoint(str(path), sum(entry.size for entry in files), changed, len(files)))
        if left <= 0:
            break
    return sorted(found, key=lambda checkpoint: checkpoint.changed_at)


def entries_of(path: Path, most: int = MOST_ENTRIES) -> Iterator[Entry]:
    """The files of one checkpoint; links are not followed."""
    waiting, count = [(path, 0)], 0
    while waiting and count < most:
        at, depth = waiting.pop()
        try:
            status = at.lstat()
            if stat.S_ISREG(status.st_mode):
                count += 1
                yield Entry(str(at), status.st_size, status.st_mtime)
            elif stat.S_ISDIR(status.st_mode) and depth <= DEPTH:
                waiting += [(child, depth + 1) for child in _children(at)]
        except OSError:
            continue


def _candidates(folder: Path) -> Iterator[Path]:
    for child in _named(folder):
        # `checkpoints/step-1000` is a folder of checkpoints; `step-1000/iter.pt` is one.
        inner = [] if child.is_symlink() or not child.is_dir() else _named(child)
        yield from inner if inner and not re.search(r"\d", child.name) else [child]


def _named(folder: Path) -> list[Path]:
    return [path for path in _children(folder) if _NAME.fullmatch(path.name)]


def _children(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; of one with a million files only some."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, MOST_SCANNED))
    except OSError:
        return []
    return [folder / name for name in names]
