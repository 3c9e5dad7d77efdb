"""Which parts of a long log are worth copying, and copying them: its head, what surrounds the trouble, its end.

Never past the size that was seen at the start, never into another file than the one that was opened, and holes are
jumped over.
"""

import errno
import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from watcher.bins import CHUNK_BYTES, BinFile
from watcher.opening import Refused, open_log

HEAD_BYTES = 256 << 10
"""The head tells versions, arguments and which attempt it is."""
AROUND_BYTES = 1 << 20
"""So much before and after the place that a log had reached when something went wrong."""
GAPS_BYTES = 600
"""Kept of a log's share for the words about what was left out."""
_GAP = "\n[runwatch: {bytes:,} bytes of this log were left out here, from byte {start:,} to {end:,}]\n"


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a file, from `start` up to `end`."""

    start: int
    end: int


def spans(size: int, share: int, moments: Iterable[int] = ()) -> list[Span]:
    """The parts of a file of that size, in order and apart, of together at most `share` bytes."""
    if size <= share:
        return [Span(0, size)] if size else []
    head = min(HEAD_BYTES, share // 8)
    around = min(AROUND_BYTES, share // 8)
    places = list(dict.fromkeys(moments))[:2]
    wanted = [Span(0, head), *(Span(max(0, at - around), min(size, at + around)) for at in places)]
    used = sum(span.end - span.start for span in wanted)
    wanted.append(Span(max(0, size - max(share - used, share // 4)), size))
    return _joined(wanted)


def copy(descriptor: int, file: BinFile, parts: Iterable[Span], size: int) -> None:
    """Copy parts of an open log; each begins and ends with a whole line, and what is between them is named."""
    at = 0
    for part in parts:
        start = part.start if part.start == 0 else _line_start(descriptor, part.start, part.end)
        end = part.end if part.end >= size else _line_end(descriptor, part.start, part.end)
        if start > at:
            file.is_cut = not file.write(_GAP.format(bytes=start - at, start=at, end=start).encode())
        if file.is_cut or not _copy(descriptor, file, start, end):
            return
        at = end


def open_owned(path: str, beneath: str | None, owners: Collection[int]) -> int:
    """A descriptor of a regular file that belongs to one of the owners.

    Raises:
        Refused: it is another kind of file, a link leads to it, or it is somebody else's.
        OSError: it cannot be opened.
    """
    descriptor = open_log(path, beneath)
    if owners and os.fstat(descriptor).st_uid not in owners:
        os.close(descriptor)
        raise Refused(path, "belongs to somebody else than the job")
    return descriptor


def is_foreign(status: os.stat_result, owners: Collection[int]) -> bool:
    """True for a second name of somebody else's file: whoever may write in the folder may have made it."""
    return status.st_nlink > 1 and stat.S_ISREG(status.st_mode) and status.st_uid not in owners


def _joined(wanted: list[Span]) -> list[Span]:
    found: list[Span] = []
    for span in sorted((span for span in wanted if span.start < span.end), key=lambda span: span.start):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def _line_start(descriptor: int, start: int, end: int) -> int:
    """Just behind the first line break; a line that does not end is cut anywhere."""
    data = os.pread(descriptor, min(65536, end - start), start)
    return start + data.find(b"\n") + 1


def _line_end(descriptor: int, start: int, end: int) -> int:
    at = max(start, end - 65536)
    found = os.pread(descriptor, end - at, at).rfind(b"\n")
    return at + found + 1 if found >= 0 else end


def _copy(descriptor: int, file: BinFile, start: int, end: int) -> bool:
    at = start
    while at < end:
        data = os.pread(descriptor, min(CHUNK_BYTES, end - at), at)
        if not data:  # it shrank meanwhile
            return True
        if data.count(0) == len(data):
            at = _behind_hole(descriptor, at, end)
            continue
        at += len(data)
        if not file.write(data.replace(b"\0", b"")):
            return False
    return True


def _behind_hole(descriptor: int, at: int, end: int) -> int:
    """Where the next bytes are that somebody wrote."""
    try:
        return max(at + 1, min(end, os.lseek(descriptor, at, os.SEEK_DATA)))
    except OSError as error:
        return end if error.errno == errno.ENXIO else min(end, at + CHUNK_BYTES)
