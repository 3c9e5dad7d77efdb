"""Where the rest of a log went: finding rotated copies by the bytes they hold, not by what they are called."""

# Paths stay strings: one idea with source.py.
# ruff: noqa: PTH120, PTH208

import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from watcher.identity import FileId, Place
from watcher.opening import Refused, open_log
from watcher.part import GzipPart, Part

_MARK = r"(?:[.-]\d[\d._T:-]*|\.old|\.bak|\.prev)"
_COMPRESSED = r"(?:\.gz)?"
_OTHER_COMPRESSION = (".xz", ".bz2", ".zst", ".lz4")
_VERIFY_BYTES = 256 << 20
"""So much of a compressed copy is unpacked to be sure that it is ours; beyond, its head and its size decide."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A file beside a log whose name says that it is the same log, earlier."""

    path: str
    file_id: FileId
    size: int
    changed_at: float
    """Unix seconds of its last write; gzip and rename keep it."""

    @property
    def is_compressed(self) -> bool:
        """True for `.gz`."""
        return self.path.endswith(".gz")


def is_copy_name(name: str, base: str) -> bool:
    """True when `name` is what a rotation calls an older `base`, as `base.1`, `base-20240131.gz` or `stem.3.log`."""
    stem, dot, extension = base.rpartition(".")
    patterns = [re.escape(base) + _MARK + _COMPRESSED]
    if dot and stem:
        patterns.append(re.escape(stem) + _MARK + re.escape(dot + extension) + _COMPRESSED)
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def copies_of(path: str) -> list[Copy]:
    """The rotated copies beside `path`, oldest content first."""
    folder, base = os.path.split(path)
    found: dict[str, Copy] = {}
    try:
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                if is_copy_name(entry.name, base) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found[entry.path] = Copy(entry.path, FileId.of(status), status.st_size, status.st_mtime)
    except OSError:
        return []
    # While gzip works both names exist; the plain one is whole.
    whole = [
        copy for copy in found.values() if copy.path.removesuffix(".gz") == copy.path or copy.path[:-3] not in found
    ]
    return sorted(whole, key=lambda copy: (copy.changed_at, -_age_in_name(copy.path)))


def copies_beside(paths: Iterable[str]) -> dict[str, list[Copy]]:
    """`copies_of` for many logs at once: each folder is read one time."""
    wanted: dict[str, dict[str, str]] = {}
    for path in paths:
        folder, base = os.path.split(path)
        wanted.setdefault(folder, {})[base] = path
    return {
        path: copies_of(path)
        for folder, bases in wanted.items()
        for path in sorted({bases[base] for base in _with_copies(folder, bases)})
    }


def _with_copies(folder: str, bases: Mapping[str, str]) -> Iterator[str]:
    """The logs of a folder that have any copy there; the folder may hold a million files."""
    try:
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                for base in possible_originals(entry.name.removesuffix(".gz")):
                    if base in bases and is_copy_name(entry.name, base):
                        yield base
    except OSError:
        return


def possible_originals(base: str) -> Iterator[str]:
    """Names that `base` may be a rotation of: everything up to a `.` or `-`, with or without its extension."""
    extension = base[base.rfind(".") :] if "." in base else ""
    for at, letter in enumerate(base):
        if letter in ".-" and at:
            yield base[:at]
            if extension and at < len(base) - len(extension):
                yield base[:at] + extension


def find(place: Place, path: str, beneath: str | None = None) -> Part | None:
    """The file that holds what was read up to `place`, opened there; None when it is nowhere beside `path`."""
    parts = (open_at(candidate, place, beneath) for candidate in _candidates(place, path))
    return next((part for part in parts if part is not None), None)


def open_at(path: str, place: Place, beneath: str | None = None) -> Part | None:
    """The file at `path`, opened at `place`; None when it does not hold the bytes that were read up to there."""
    try:
        descriptor = open_log(path, beneath)
    except (OSError, Refused):
        return None
    try:
        is_same_file = FileId.of(os.fstat(descriptor)) == place.file_id
        # With nothing read yet there are no bytes to compare, so only the very same file will do.
        if place.behind.length or is_same_file:
            if path.endswith(".gz"):
                if not place.behind.length or _holds(descriptor, place):
                    return GzipPart(descriptor, path, skip_to=place.offset, line=place.line)
            elif os.fstat(descriptor).st_size >= place.offset and place.fits(descriptor):
                return Part(descriptor, path, offset=place.offset, line=place.line, head=place.head)
    except OSError:
        pass
    os.close(descriptor)
    return None


def holds(copy: Copy, place: Place, beneath: str | None = None) -> bool:
    """True when a copy has the bytes that were read up to a place."""
    part = open_at(copy.path, place, beneath)
    if part is not None:
        part.close()
    return part is not None


def open_copy(copy: Copy, beneath: str | None = None) -> Part | None:
    """A copy that was never read, from its beginning; None when it is gone or not ours to read."""
    try:
        descriptor = open_log(copy.path, beneath)
    except (OSError, Refused):
        return None
    return GzipPart(descriptor, copy.path) if copy.is_compressed else Part(descriptor, copy.path)


def unreadable_copies(path: str) -> list[str]:
    """Copies compressed in a way we cannot read, to be named."""
    folder, base = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    return [
        name
        for name in names
        for ending in _OTHER_COMPRESSION
        if name.endswith(ending) and is_copy_name(name.removesuffix(ending), base)
    ]


def _candidates(place: Place, path: str) -> Iterator[str]:
    """The name itself, then any file here with the inode, then copies by name, newest first, plain ones before."""
    yield path
    folder = os.path.dirname(path) or "."
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.inode() == place.file_id.inode and entry.path != path:
                    yield entry.path
    except OSError:
        return
    copies = list(reversed(copies_of(path)))
    yield from (copy.path for copy in copies if not copy.is_compressed)
    yield from (copy.path for copy in copies if copy.is_compressed)


def _holds(descriptor: int, place: Place) -> bool:
    """True when the compressed text has our bytes; read as a stream, at most `_VERIFY_BYTES` of it."""
    position, kept = 0, b""
    for text in _unpacked(descriptor):
        if position == 0 and not place.head.matches(text):
            return False
        if position + len(text) >= place.offset:
            data = (kept + text)[: len(kept) + place.offset - position]
            return place.behind.matches(data[len(data) - place.behind.length :])
        position += len(text)
        kept = (kept + text)[-place.behind.length :]
        if position > _VERIFY_BYTES:
            size_at_end = int.from_bytes(os.pread(descriptor, 4, os.fstat(descriptor).st_size - 4), "little")
            return size_at_end >= place.offset % (1 << 32)
    return False


def _unpacked(descriptor: int) -> Iterator[bytes]:
    """The text of a gzip file in pieces of at most 1 MiB; ends where it is damaged."""
    inflate = zlib.decompressobj(wbits=31)
    at = 0
    while not inflate.eof:
        compressed = inflate.unconsumed_tail
        if not compressed:
            compressed = os.pread(descriptor, 65536, at)
            at += len(compressed)
        try:
            text = inflate.decompress(compressed, 1 << 20)
        except zlib.error:
            return
        if text:
            yield text
        elif not compressed:
            return


def _age_in_name(path: str) -> int:
    """Larger for older where the rotation counts up; 0 for dates, whose files the write time orders."""
    name = PurePath(path).name.removesuffix(".gz")
    number = re.search(r"[.-](\d{1,4})(?:\.[A-Za-z]+)?$", name)
    return int(number[1]) if number else 0
