"""How a finding stands in a spool file: magic, length, checksum, number, key, body.

Any bytes can be read: a damaged record costs itself, and reading goes on at the next one that proves to be whole.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from registry import wire

_MAGIC: Final = b"RWF\x01"
_HEAD: Final = struct.Struct("<4sIIQ16s")
_COVERED: Final = 12
"""The checksum covers everything from here on: number, key and body."""


@dataclass(frozen=True, slots=True)
class Record:
    """One accepted finding."""

    number: int
    key: str
    body: bytes = field(repr=False)


def packed(record: Record) -> bytes:
    """Return a record as it stands in a file."""
    content = struct.pack("<Q16s", record.number, record.key.encode()[:16]) + record.body
    return _MAGIC + struct.pack("<II", len(record.body), zlib.crc32(content)) + content


def records_in(data: bytes) -> Iterator[Record | None]:
    """Yield the records of a file; None for each place that cannot be read."""
    at = 0
    while at < len(data):
        record, size = _record_at(data, at)
        yield record
        if record is None and not data.startswith(_MAGIC, at + size):
            # The length itself may be damaged: go on at the next place that looks like a record and proves to be one.
            size = _next_record(data, at + 1) - at
        at += size


def _record_at(data: bytes, at: int) -> tuple[Record | None, int]:
    if len(data) - at < _HEAD.size:
        return None, len(data) - at
    magic, length, checksum, number, key = _HEAD.unpack_from(data, at)
    end = at + _HEAD.size + length
    if magic != _MAGIC or length > wire.LARGEST_BYTES or end > len(data):
        return None, len(data) - at
    if zlib.crc32(data[at + _COVERED : end]) != checksum:
        return None, end - at
    return Record(number, key.rstrip(b"\0").decode("ascii", "replace"), data[at + _HEAD.size : end]), end - at


def _next_record(data: bytes, at: int) -> int:
    while (at := data.find(_MAGIC, at)) >= 0:
        if _record_at(data, at)[0] is not None:
            return at
        at += 1
    return len(data)
