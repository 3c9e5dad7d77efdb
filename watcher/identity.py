"""What makes a log file the same file: where it lies and which bytes were read from it.

A name is not enough (rotation), an inode is not enough (ext4 hands it out again at once), so a place in a
file also carries digests of its head and of the bytes just before the place. Digests, not bytes: what a log
says must not end up in our state folder.
"""

import hashlib
import os
from dataclasses import dataclass, field
from typing import Self

HEAD_BYTES = 256
BEHIND_BYTES = 128
MOST_RECENT_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class FileId:
    """Device and inode: the same file only as long as somebody holds it open."""

    device: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The identity in a stat result."""
        return cls(status.st_dev, status.st_ino)


@dataclass(frozen=True, slots=True)
class Digest:
    """So many bytes, and their hash."""

    length: int = 0
    sha: str = ""

    @classmethod
    def of(cls, data: bytes) -> Self:
        """The digest of these bytes."""
        return cls(len(data), hashlib.blake2b(data, digest_size=16).hexdigest()) if data else cls()

    def matches(self, data: bytes) -> bool:
        """True when `data` begins with the digested bytes."""
        return len(data) >= self.length and Digest.of(data[: self.length]) == self


@dataclass(frozen=True, slots=True)
class Place:
    """A position in one file, recognisable after a restart under any name."""

    file_id: FileId
    offset: int
    line: int | None
    """Number of the line that begins at (or contains) `offset`, 1-based; None: the head was never read."""
    head: Digest = Digest()
    behind: Digest = Digest()
    written_at: float = 0.0
    """Unix seconds of the newest write to the file that was seen; what is younger was not read."""
    caught_up_at: float | None = field(default=None, compare=False)
    """When nothing lay behind it (monotonic seconds of this boot): later bytes are younger. None: not known."""

    def fits(self, fd: int) -> bool:
        """True when the open file holds the bytes that were read up to this place."""
        if self.head.length and not self.head.matches(os.pread(fd, self.head.length, 0)):
            return False
        start = self.offset - self.behind.length
        return not self.behind.length or self.behind.matches(os.pread(fd, self.behind.length, start))


class Recent:
    """The bytes read last, kept just long enough to fingerprint the place where a bookmark may stand.

    Read-back would race with a rotation, so the fingerprint is always made from the bytes consumed.
    """

    def __init__(self, offset: int, before: bytes = b"") -> None:
        self._bytes = bytearray(before[-BEHIND_BYTES:])
        self.end = offset
        """The offset after the last byte."""

    def add(self, data: bytes) -> None:
        """Remember what was read."""
        self._bytes += data
        self.end += len(data)
        # A line that does not end must not fill the memory; its bookmark stays at its start.
        if len(self._bytes) > MOST_RECENT_BYTES:
            del self._bytes[:-MOST_RECENT_BYTES]

    def digest_before(self, offset: int) -> Digest | None:
        """The fingerprint of the bytes before `offset`, forgetting older ones; None: no longer known."""
        have_from = self.end - len(self._bytes)
        if not have_from <= offset <= self.end:
            return None
        keep_from = max(have_from, offset - BEHIND_BYTES)
        del self._bytes[: keep_from - have_from]
        return Digest.of(bytes(self._bytes[: offset - keep_from]))
