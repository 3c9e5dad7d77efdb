"""Where reading goes on after a restart: one small JSON file per run on the node's own disk.

Written to a temporary name, synced and renamed, with the previous good one kept beside it. A damaged file
is answered with the previous one, and that with the start policy; never with a crash.
"""

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from watcher.boot import boot_name, is_this_boot
from watcher.identity import Digest, FileId, Place

VERSION = 1
Places = Mapping[str, tuple[Place, ...]]
"""Per followed name: its places, oldest file first (a rotated file may still be read beside the new one)."""


class RunTaken(Exception):
    """Another watcher follows this run on this node."""

    def __init__(self, run: str) -> None:
        super().__init__(f"another watcher on this node follows {run} already; two would tell everything twice")


class Bookmarks:
    """The bookmarks of one run."""

    def __init__(self, folder: Path, run: str) -> None:
        self._run = run
        self._lock: int | None = None
        self._path = folder / f"{file_name(run)}.json"
        self._previous = self._path.with_suffix(".previous.json")
        self.problem: str | None = None
        self.extra: Mapping[str, Any] = {}
        """Whatever else must move together with the places."""

    def claim(self) -> None:
        """Keep every other watcher on this state folder away from this run, as long as we live.

        Raises:
            RunTaken: another one follows it.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return  # a state folder that takes no writes is reported elsewhere
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise RunTaken(self._run) from None
        except OSError:  # a network file system without locks
            os.close(descriptor)
            return
        self._lock = descriptor

    def release(self) -> None:
        """Let others have the run."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def load(self) -> Places:
        """The places of the newest undamaged file; empty when there is none."""
        for path in (self._path, self._previous):
            try:
                raw = path.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                self.problem = f"bookmark {path.name} is not readable: {error.strerror}"
                continue
            try:
                document = json.loads(_checked(raw))
                places = _places(document)
                extra = dict(document.get("extra") or {})
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                self.problem = f"bookmark {path.name} was damaged; went on from the one before"
                continue
            self.extra = extra
            return places
        if self.problem:
            self.problem = "the bookmarks were damaged; logs are read by the start policy"
        return {}

    def save(self, places: Places, extra: Mapping[str, Any]) -> None:
        """Replace the bookmarks; on return they are on the disk.

        Raises:
            OSError: the disk did not take them; the old ones are still good.
        """
        document = {
            "version": VERSION,
            "boot": boot_name(),
            "extra": dict(extra),
            "places": {path: [_as_json(place) for place in marks] for path, marks in places.items()},
        }
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_with_sum(json.dumps(document, separators=(",", ":")).encode()))
                file.flush()
                os.fsync(file.fileno())
            self._keep_previous()
            temporary.replace(self._path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(self._path.parent)

    def _keep_previous(self) -> None:
        # A second name for the file that is about to be replaced: no copy, nothing to tear.
        spare = self._path.with_suffix(".spare")
        spare.unlink(missing_ok=True)
        try:
            os.link(self._path, spare)
        except FileNotFoundError:
            return
        except OSError:  # a file system without hard links: one good copy has to do
            return
        spare.replace(self._previous)


def file_name(name: str) -> str:
    """A safe file name for any run name: readable where it can be, never a path, never ambiguous."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip(".-")[:48]
    if readable == name and readable:
        return readable
    return f"{readable or 'run'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _with_sum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _checked(raw: bytes) -> bytes:
    body = raw.partition(b"\n")[2]
    if raw != _with_sum(body):
        raise ValueError("checksum")
    return body


def _as_json(place: Place) -> dict[str, Any]:
    return {
        "device": place.file_id.device,
        "inode": place.file_id.inode,
        "offset": place.offset,
        "line": place.line,
        "head": [place.head.length, place.head.sha],
        "behind": [place.behind.length, place.behind.sha],
        "written": place.written_at,
        "caught_up": place.caught_up_at,
    }


def _places(document: Any) -> dict[str, tuple[Place, ...]]:
    if document["version"] > VERSION:
        raise ValueError(document["version"])
    is_same_boot = is_this_boot(document.get("boot"))
    return {
        str(path): tuple(_place(mark, is_same_boot) for mark in marks) for path, marks in document["places"].items()
    }


def _place(mark: Mapping[str, Any], is_same_boot: bool) -> Place:
    offset, line = int(mark["offset"]), mark["line"]
    head, behind = _digest(mark["head"]), _digest(mark["behind"])
    if offset < behind.length or (line is not None and int(line) < 1):
        raise ValueError(offset)
    file_id = FileId(int(mark["device"]), int(mark["inode"]))
    at = mark.get("caught_up") if is_same_boot else None
    caught_up_at = float(at) if at is not None and float(at) <= time.monotonic() else None
    return Place(
        file_id, offset, None if line is None else int(line), head, behind, float(mark["written"]), caught_up_at
    )


def _digest(pair: Any) -> Digest:
    length, sha = pair
    if not 0 <= int(length) <= 4096:
        raise ValueError(length)
    return Digest(int(length), str(sha))
