"""One file of a log, read forward once: the live one, a renamed one still being written, or a rotated copy."""

import errno
import itertools
import os
import zlib

from watcher.identity import BEHIND_BYTES, HEAD_BYTES, Digest, FileId, Place

NUL_RUN = b"\0" * 16
"""So many NULs in a row are a hole, not text: what a truncation leaves before a writer that kept its offset."""
_SCAN_BYTES = 1 << 20
_SCAN_LIMIT = 64 << 20
_GZIP_SKIP_LIMIT = 8 << 20
_numbers = itertools.count(1)


class Truncated(Exception):
    """The bytes before our offset are no longer the ones we read: the file was cut or written anew."""


class Part:
    """An open file and how far it was read. Reading never blocks on anything but the disk."""

    is_copy = False
    """True: nothing more will come after its end."""

    def __init__(
        self,
        descriptor: int,
        path: str,
        *,
        offset: int = 0,
        line: int | None = 1,
        head: Digest | None = None,
        settled: bool = False,
    ) -> None:
        self.number = next(_numbers)
        """Unique in this process; a reader of observations belongs to one number."""
        self.path = path
        self.offset = offset
        """The next byte to read."""
        self.line = line
        """The number of the line at the offset it was opened at."""
        self.file_id = FileId.of(os.fstat(descriptor))
        self.is_copy = settled
        self.written_at = os.fstat(descriptor).st_mtime
        """Unix seconds of the newest write of which we know: set when bytes come."""
        self.grew_at = 0.0
        """When bytes came last, on the caller's monotonic clock."""
        self.caught_up_at: float | None = None
        """When it was last read to its end, on the same clock; None: not known."""
        self.nul_bytes = 0
        """Bytes of holes that were stepped over."""
        self._descriptor = descriptor
        self._head = bytearray(os.pread(descriptor, min(offset, HEAD_BYTES), 0))
        self._head_digest = head if head is not None and offset >= HEAD_BYTES else None
        self._behind = os.pread(descriptor, min(offset, BEHIND_BYTES), max(0, offset - BEHIND_BYTES))
        self.looks_short = False
        """True: it seems to be shorter than what was read; the next read decides whether it is."""
        self._scanned_to = 0

    def read(self, limit: int) -> bytes:
        """The next bytes, at most `limit`; empty at the end for now.

        Raises:
            Truncated: what was read before is no longer there.
        """
        back = len(self._behind)
        raw = os.pread(self._descriptor, back + limit, self.offset - back)
        if raw[:back] != self._behind:
            # A network file system may show a stale size for a moment, so "shorter" must be seen twice.
            if len(raw) < back and not self.looks_short:
                self.looks_short = True
                return b""
            raise Truncated
        self.looks_short = False
        fresh = raw[back:]
        if fresh[:1] == b"\0":
            fresh = self._step_over_nuls(limit)
        hole = fresh.find(NUL_RUN)
        if hole >= 0:
            fresh = fresh[:hole]
        self._consume(fresh)
        return fresh

    def read_back(self, length: int) -> bytes:
        """Up to `length` bytes before the offset, from the start of a line on."""
        start = max(0, self.offset - length)
        data = os.pread(self._descriptor, self.offset - start, start)
        return data if start == 0 else data[data.find(b"\n") + 1 :]

    def unread_bytes(self) -> int:
        """How much lies on the disk that was not read yet."""
        return max(0, os.fstat(self._descriptor).st_size - self.offset)

    def is_at_end(self) -> bool:
        """True when all there is was read, and what was read is still there."""
        back = len(self._behind)
        is_same = os.pread(self._descriptor, back, self.offset - back) == self._behind
        return is_same and os.fstat(self._descriptor).st_size == self.offset

    def has_name(self) -> bool:
        """False when the file was deleted and lives on only through open descriptors."""
        return os.fstat(self._descriptor).st_nlink > 0

    def head(self) -> Digest:
        """The digest of the first bytes consumed: a file shorter than that has a short one."""
        if self._head_digest is None:
            digest = Digest.of(bytes(self._head))
            if len(self._head) < HEAD_BYTES:
                return digest
            self._head_digest = digest
        return self._head_digest

    def place(self) -> Place:
        """Where reading stands."""
        behind = Digest.of(self._behind)
        return Place(self.file_id, self.offset, None, self.head(), behind, self.written_at, self.caught_up_at)

    def mark(self) -> Place:
        """A place by which this file is recognised even when nothing was read of it yet."""
        if self.offset or self.is_copy:
            return self.place()
        data = os.pread(self._descriptor, HEAD_BYTES, 0)
        return Place(self.file_id, len(data), None, Digest.of(data), Digest.of(data[-BEHIND_BYTES:]), self.written_at)

    def changed_at(self) -> float:
        """Unix seconds of the last write to the file."""
        return os.fstat(self._descriptor).st_mtime

    def reopened(self) -> int:
        """A second descriptor of the same file, for a part that starts over."""
        return os.dup(self._descriptor)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)

    def _consume(self, data: bytes) -> None:
        if not data:
            return
        if self.offset < HEAD_BYTES and self.offset == len(self._head):
            self._head += data[: HEAD_BYTES - len(self._head)]
        self.offset += len(data)
        self._behind = data[-BEHIND_BYTES:] if len(data) >= BEHIND_BYTES else (self._behind + data)[-BEHIND_BYTES:]

    def _step_over_nuls(self, limit: int) -> bytes:
        """Move to the first byte after the hole and read there; stay when only NULs follow, they may be filled yet."""
        at = max(self.offset, self._scanned_to)
        looked = 0
        while looked < _SCAN_LIMIT:
            at = self._next_data(at)
            block = os.pread(self._descriptor, _SCAN_BYTES, at)
            text = block.lstrip(b"\0")
            if text:
                at += len(block) - len(text)
                self.nul_bytes += at - self.offset
                self.offset, self._behind, self._scanned_to = at, bytes(min(at - self.offset, BEHIND_BYTES)), 0
                return os.pread(self._descriptor, limit, at)
            if not block:
                return b""
            at += len(block)
            looked += len(block)
            self._scanned_to = at
        return b""

    def _next_data(self, offset: int) -> int:
        try:
            return os.lseek(self._descriptor, offset, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole up to the end
                return os.fstat(self._descriptor).st_size
            return offset


class GzipPart(Part):
    """A rotated copy that was compressed: read as a stream, never held whole, never longer than asked for."""

    def __init__(self, descriptor: int, path: str, *, skip_to: int = 0, line: int | None = 1) -> None:
        super().__init__(descriptor, path, line=line, settled=True)
        self._inflate = zlib.decompressobj(wbits=31)
        self._compressed_at = 0
        self._skip_to = skip_to
        self._held = b""

    def read(self, limit: int) -> bytes:
        """The next bytes of the text; empty with the offset moved: still passing what was read before the rotation."""
        passed = 0
        while passed < _GZIP_SKIP_LIMIT:
            wanted = min(limit, self._skip_to - self.offset) if self.offset < self._skip_to else limit
            data = self._pull(wanted)
            if not data:
                return b""
            if self.offset < self._skip_to:
                self._consume(data)
            elif data[:1] == b"\0":
                text = data.lstrip(b"\0")
                self.nul_bytes += len(data) - len(text)
                self._consume(data[: len(data) - len(text)])
                self._held = text
            else:
                hole = data.find(NUL_RUN)
                text, self._held = (data[:hole], data[hole:]) if hole >= 0 else (data, b"")
                self._consume(text)
                return text
            passed += len(data)
        return b""

    def unread_bytes(self) -> int:
        """Compressed bytes left."""
        return max(0, os.fstat(self._descriptor).st_size - self._compressed_at)

    def _pull(self, limit: int) -> bytes:
        if self._held:
            data, self._held = self._held[:limit], self._held[limit:]
            return data
        while True:
            pending = self._inflate.unconsumed_tail
            if self._inflate.eof:  # gzip files may be joined end to end
                pending = self._inflate.unused_data
                self._inflate = zlib.decompressobj(wbits=31)
            if not pending:
                pending = os.pread(self._descriptor, 65536, self._compressed_at)
                self._compressed_at += len(pending)
            try:
                data = self._inflate.decompress(pending, limit)
            except zlib.error:
                self._compressed_at = os.fstat(self._descriptor).st_size
                return b""
            if data or not pending:
                return data
