"""Where a collector puts what it found: masked on the way, never more than its share, never the disk's last room."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from diagnosis.redaction import MaskingStream, mask

CHUNK_BYTES = 1 << 18
LOOK_BYTES = 1 << 20
"""The room on the disk is looked at again after so much."""
LAST_SHARE = 0.15
"""A collector with less of its time left than this begins no further file."""


class BinClosed(Exception):
    """The snapshot went on without this collector."""


class DiskFull(Exception):
    """What is left of the disk belongs to the job."""


@dataclass(frozen=True, slots=True)
class Saved:
    """One file of a snapshot."""

    name: str
    bytes: int
    sha256: str
    masked: int
    is_cut: bool
    source: str = ""
    """Where it was copied from; empty: it was made here."""


class Bin:
    """The files of one collector."""

    def __init__(
        self,
        folder: Path,
        limit: int,
        *,
        seconds: float = float("inf"),
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self.files: list[Saved] = []
        self._folder = folder
        self._left = limit
        self._unlooked = LOOK_BYTES
        self._has_room = has_room
        self._seconds = seconds
        self._began = time.monotonic()
        self._is_closed = False
        self._names: set[str] = set()

    @contextmanager
    def file(self, name: str, *, is_raw: bool = False, source: str = "") -> Iterator["BinFile"]:
        """A new file of that name (made unique, never a path); raw: bytes that masking would break."""
        self.check()
        self._look()
        path = self._folder / self._unique(name)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        written = BinFile(self, descriptor, path.name, is_raw=is_raw, source=source)
        try:
            yield written
        except BaseException:
            written.abandon()
            raise
        written.finish()
        if not self._is_closed:
            self.files.append(written.saved())

    def write(self, name: str, text: str) -> None:
        """Save a text."""
        with self.file(name) as file:
            file.write(text.encode("utf-8", "surrogateescape"))

    def scratch(self, name: str) -> Path:
        """A path for a program's raw output, which is copied (and masked) from there and removed."""
        self.check()
        self._look()
        return self._folder / f".{name}.raw"

    def close(self) -> None:
        """Nothing more is taken: whoever still writes is told so."""
        self._is_closed = True

    def check(self) -> None:
        """Raise BinClosed when nobody waits for this any more."""
        if self._is_closed:
            raise BinClosed

    def take(self, wanted: int) -> int:
        """How many of the wanted bytes may still be written."""
        self.check()
        self._unlooked -= wanted
        if self._unlooked <= 0:
            self._look()
        granted = min(wanted, self._left)
        self._left -= granted
        return granted

    @property
    def left(self) -> int:
        """Bytes that may still be written."""
        return self._left

    @property
    def is_late(self) -> bool:
        """True when the time is nearly over: what is whole by now is kept, what is begun may be lost."""
        return self.seconds_left <= 0

    @property
    def seconds_left(self) -> float:
        """How long new files may still be begun."""
        return self._seconds * (1 - LAST_SHARE) - (time.monotonic() - self._began)

    def _look(self) -> None:
        self._unlooked = LOOK_BYTES
        if not self._has_room():
            raise DiskFull

    def _unique(self, name: str) -> str:
        plain = "".join(letter if letter.isalnum() or letter in "._-+=" else "_" for letter in name).lstrip(".-")
        plain = plain[-100:] or "file"
        made, count = plain, 1
        while made in self._names or made.startswith(".") or (self._folder / made).exists():
            count += 1
            made = f"{count}-{plain}"
        self._names.add(made)
        return made


class BinFile:
    """One file being written."""

    def __init__(self, into: Bin, descriptor: int, name: str, *, is_raw: bool, source: str) -> None:
        self.is_cut = False
        self._source = mask(source).text
        self._bin = into
        self._descriptor = descriptor
        self._name = name
        self._mask = None if is_raw else MaskingStream()
        self._hash = hashlib.sha256()
        self._bytes = 0

    def write(self, data: bytes) -> bool:
        """Add bytes; False: the share is used up, nothing more is taken."""
        for start in range(0, len(data), CHUNK_BYTES):
            if self.is_cut:
                return False
            piece = data[start : start + CHUNK_BYTES]
            self._put(piece if self._mask is None else self._mask.feed(piece))
            time.sleep(0)  # masking is work; the reading of logs must not wait for it
        return not self.is_cut

    def finish(self) -> None:
        """Write what the masking held back, and make it last."""
        try:
            if not self.is_cut and self._mask is not None:
                self._put(self._mask.close())
            os.fsync(self._descriptor)
        finally:
            os.close(self._descriptor)

    def abandon(self) -> None:
        """It will not be part of the snapshot."""
        os.close(self._descriptor)

    def saved(self) -> Saved:
        """What the manifest says of it."""
        masked = self._mask.count if self._mask is not None else 0
        return Saved(self._name, self._bytes, self._hash.hexdigest(), masked, self.is_cut, self._source)

    def _put(self, data: bytes) -> None:
        granted = self._bin.take(len(data))
        self.is_cut = self.is_cut or granted < len(data)
        view = memoryview(data)[:granted]
        self._hash.update(view)
        self._bytes += granted
        while view:
            view = view[os.write(self._descriptor, view) :]
