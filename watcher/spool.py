"""Findings on the node's own disk, before anything else knows of them.

A finding is *accepted* when its record is written and synced; only then may the log's bookmark move. Numbers
count up within an epoch and are never used twice; a lost spool is a new epoch. Files:

    lock            held while we live, so that no second watcher counts in the same place
    epoch           the name of this spool's life
    delivered       up to which number everything is known to be settled (a hint; older is safe)
    NUMBER.seg      records from that number on: magic, length, checksum, number, key, body
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from diagnosis.findings import Cleared, Finding
from registry import wire
from watcher.records import Record, packed, records_in

SEGMENT_BYTES: Final = 1 << 20
MOST_BYTES: Final = 24 << 20
"""Beyond this the spool is full: findings are rare, so this is a runaway, and the disk belongs to the job."""
DAMAGE_GAP: Final = 1_000_000
"""After a file whose end cannot be read, counting goes on this much higher: no lost number is used again."""


class SpoolFull(Exception):
    """The disk takes no more; nothing was accepted. The next finding tries again by itself."""


class SpoolTaken(Exception):
    """Another watcher lives in this state directory."""


@dataclass(slots=True)
class _Segment:
    path: Path
    first: int
    last: int
    size: int


def key_of(verdict: Finding | Cleared) -> str:
    """Return what is the same for the same thing seen again after a restart."""
    if isinstance(verdict, Finding):
        return verdict.key
    origin = verdict.origin
    parts = ("cleared", verdict.kind, origin.run, origin.node, origin.rank, verdict.step, verdict.attempt, verdict.time)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


class Spool:
    """The spool of one watcher. Open it once; `close` gives the directory back."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = _locked(self.directory / "lock")
        self._segments: list[_Segment] = []
        self._file: int | None = None
        self._pending: dict[int, Record] = {}
        self._keys: dict[str, int] = {}
        self._bookmarked = 0
        self.corrupt_records = 0
        """Places in the files that could not be read; each cost one finding, or none if it was never accepted."""
        self.delivered = 0
        """Up to here everything is known to be settled."""
        self.last_number = 0
        self.epoch = ""
        """Which life of the spool this is; empty while the disk is too full to begin one."""
        try:
            self._open()
        except BaseException:
            os.close(self._lock)
            raise

    def accept(self, verdict: Finding | Cleared) -> int:
        """Write a finding to disk and return its number; one that is known already keeps its number.

        Raises SpoolFull when the disk does not take it.
        """
        return self.accept_all([verdict])[0]

    def accept_all(self, verdicts: Sequence[Finding | Cleared]) -> list[int]:
        """Accept several findings with one sync: all of them, or SpoolFull and none."""
        numbers, fresh, number = [], [], self.last_number
        keys = dict[str, int]()
        for verdict in verdicts:
            key = key_of(verdict)
            known = self._keys.get(key, keys.get(key))
            if known is None:
                number += 1
                known = keys[key] = number
                fresh.append(Record(number, key, wire.encode(verdict)))
            numbers.append(known)
        if fresh:
            self._append(fresh)
        return numbers

    def knows(self, verdict: Finding | Cleared) -> bool:
        """Return True when this very finding was accepted since the last bookmark."""
        return key_of(verdict) in self._keys

    def pending(self, after: int = 0) -> list[Record]:
        """Return accepted findings that are not known to be settled, above a number, in order."""
        return [record for number, record in self._pending.items() if number > after]

    def drop_delivered(self, upto: int) -> None:
        """Say that everything up to a number is settled; its files go when the bookmark is past them too."""
        upto = min(upto, self.last_number)
        if upto <= self.delivered:
            return
        self.delivered = upto
        for number in [number for number in self._pending if number <= upto]:
            del self._pending[number]
        with contextlib.suppress(OSError):
            _replace(self.directory / "delivered", str(upto), sync=False)
        self._prune()

    def bookmarked(self) -> None:
        """Say that the bookmarks now stand behind every line whose finding was accepted: none will be seen again."""
        if self._bookmarked != self.last_number:
            self._bookmarked = self.last_number
            self._prune()

    def renumber(self, records: Sequence[Record], above: int) -> list[Record]:
        """Give pending findings new numbers above one that is taken, because theirs cannot be used in Redis.

        Raises SpoolFull like `accept`; then they keep their old numbers and it can be tried again.
        """
        self.last_number = max(self.last_number, above)
        renewed = [
            Record(self.last_number + position, record.key, record.body)
            for position, record in enumerate(records, start=1)
        ]
        self._append(renewed)
        for record in records:
            self._pending.pop(record.number, None)
        return renewed

    def renew_epoch(self) -> str:
        """Start a new epoch and go on counting: for a stream in Redis that can no longer be filled."""
        epoch = _new_epoch()
        _replace(self.directory / "epoch", epoch, sync=True)
        self.epoch = epoch
        return epoch

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        return sum(segment.size for segment in self._segments)

    def close(self) -> None:
        """Close the files and give the directory back."""
        self._close_file()
        os.close(self._lock)

    def _open(self) -> None:
        """Read what is there, whatever state it is in."""
        paths = sorted(self.directory.glob("*.seg"))
        # Without its files the count is lost: a number must never mean two findings, so a new life begins. Old
        # records, if any are left, are told in the new epoch under their old numbers.
        epoch = _read_text(self.directory / "epoch") if paths else ""
        damaged_tail = False
        for path in paths:
            segment = _Segment(path, int(path.stem) if path.stem.isdigit() else 0, 0, path.stat().st_size)
            self.last_number = max(self.last_number, segment.first - 1)
            damaged_tail = False
            for item in records_in(path.read_bytes()):
                damaged_tail = item is None
                if item is None:
                    self.corrupt_records += 1
                    continue
                self._remember(item)
            segment.last = self.last_number
            self._segments.append(segment)
        # The numbers of records that cannot be read may have been told already. Gaps are harmless, repeats are not.
        self.last_number += DAMAGE_GAP * damaged_tail
        delivered = _read_text(self.directory / "delivered")
        self.delivered = min(int(delivered), self.last_number) if delivered.isdigit() else 0
        for number in [number for number in self._pending if number <= self.delivered]:
            del self._pending[number]
        # Always a fresh segment: nothing is ever appended behind a torn record, and its name keeps the count.
        self.epoch = epoch
        with contextlib.suppress(OSError):
            self._begin_life()
            self._begin_segment()
        self._prune()

    def _remember(self, record: Record) -> None:
        self._pending[record.number] = record
        self._keys[record.key] = record.number
        self.last_number = max(self.last_number, record.number)

    def _append(self, records: Sequence[Record]) -> None:
        data = b"".join(map(packed, records))
        if self.size_bytes + len(data) > MOST_BYTES:
            raise SpoolFull(f"the spool holds {self.size_bytes >> 20} MiB of findings that nobody fetched")
        try:
            self._begin_life()
            if self._needs_segment():
                self._begin_segment()
            assert self._file is not None
            _write_all(self._file, data)
            os.fsync(self._file)
        except OSError as problem:
            self._abandon_segment(len(records))
            raise SpoolFull(f"{self.directory}: {problem.strerror}") from problem
        segment = self._segments[-1]
        segment.size += len(data)
        for record in records:
            self._remember(record)
        segment.last = self.last_number

    def _begin_life(self) -> None:
        if not self.epoch:
            epoch = _new_epoch()
            _replace(self.directory / "epoch", epoch, sync=True)
            self.epoch = epoch

    def _needs_segment(self) -> bool:
        # A file that somebody removed still takes our writes, and they would be gone at the next start.
        return self._file is None or self._segments[-1].size >= SEGMENT_BYTES or os.fstat(self._file).st_nlink == 0

    def _begin_segment(self) -> None:
        self._close_file()
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        first = self.last_number + 1
        path = self.directory / f"{first:020d}.seg"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fsync(self._file)
        _sync_directory(self.directory)
        if not self._segments or self._segments[-1].path != path:
            self._segments.append(_Segment(path, first, self.last_number, path.stat().st_size))

    def _abandon_segment(self, attempted: int) -> None:
        """Take back what was half written. After a failed sync nobody knows what is on disk: use none of it."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, self._segments[-1].size)
            os.fsync(self._file)
        self._close_file()
        # If the cut failed too, a later start may find these records, so their numbers are not used again.
        self.last_number += attempted

    def _close_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _prune(self) -> None:
        """Remove files whose findings are all settled and whose lines will not be read again."""
        settled = min(self.delivered, self._bookmarked)
        while self._segments and self._segments[0].last <= settled:
            segment = self._segments[0]
            if len(self._segments) == 1:
                if segment.size == 0:
                    return
                try:
                    # The name of the next file keeps the count; only then may the last one go.
                    self._begin_segment()
                except OSError:
                    return
            with contextlib.suppress(OSError):
                segment.path.unlink(missing_ok=True)
            self._segments.remove(segment)
            for key in [key for key, number in self._keys.items() if segment.first <= number <= segment.last]:
                del self._keys[key]


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _new_epoch() -> str:
    return secrets.token_hex(6)


def _locked(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(file, 32).decode("ascii", "replace").strip()
        os.close(file)
        raise SpoolTaken(
            f"another watcher (pid {holder or 'unknown'}) uses {path.parent}; give each watcher its own state directory"
        ) from None
    with contextlib.suppress(OSError):
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
    return file


def _replace(path: Path, text: str, *, sync: bool) -> None:
    temporary = path.with_suffix(".new")
    with temporary.open("w") as file:
        file.write(text)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    temporary.replace(path)
    if sync:
        _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _read_text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
