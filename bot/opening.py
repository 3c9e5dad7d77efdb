"""Opens a file as the text that is packed in it: plain, gzip, bzip2, xz, zstd, told apart by its first bytes.

A UTF-16 text, as PowerShell's `>` writes it, is given as UTF-8.
"""

import bz2
import codecs
import gzip
import io
import lzma
import os
import shutil
import stat
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Protocol, cast

ZSTD = b"\x28\xb5\x2f\xfd"
MISSING_ZSTD = "packed with zstd: install the `zstd` command to read it"
NO_FILE = "not a regular file"
SAVE_IT = " but a pipe: write what it gives into a file first"
_ZSTD: Any = (
    import_module("compression.zstd")
    if find_spec("compression") and find_spec("compression.zstd") is not None
    else None
)
FAILURES: tuple[type[Exception], ...] = (
    *(OSError, EOFError, lzma.LZMAError, zlib.error),
    *((_ZSTD.ZstdError,) if _ZSTD is not None else ()),
)
"""What a file may do instead of being read."""
_CUT_ZSTD = ("premature end", "unexpected end of file", "Read error")
_DAMAGED_BZIP2 = "Invalid data stream"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEADS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", ZSTD, *_UTF_16)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's content, unpacked while it is read.

    Raises:
        OSError: It is no regular file, cannot be read, or needs a program that is not installed.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError(22, NO_FILE + (SAVE_IT if stat.S_ISFIFO(mode) else ""))
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        if magic.startswith(ZSTD):
            with _unpacked_zstd(file) as stream:
                yield stream
        else:
            yield _unpacked(file, magic)


def reason_of(failure: Exception) -> str:
    """Why a file could not be read to its end, in words."""
    if isinstance(failure, EOFError):
        return "packed, and its end is missing: it was cut, or is still being written"
    if isinstance(failure, gzip.BadGzipFile | lzma.LZMAError | zlib.error) or str(failure) == _DAMAGED_BZIP2:
        return f"packed, and damaged: {failure}"
    return getattr(failure, "strerror", None) or str(failure) or type(failure).__name__


def is_packed(path: Path) -> bool:
    """True when the file's first bytes say that it is packed."""
    with path.open("rb") as file:
        return file.read(6).startswith(_HEADS)


def _unpacked(file: IO[bytes], magic: bytes) -> IO[bytes]:
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", _AsFarAsItGoes(gzip.GzipFile(fileobj=file)))
    if magic.startswith(b"BZh"):
        return cast("IO[bytes]", _AsFarAsItGoes(bz2.BZ2File(file)))
    if magic.startswith(b"\xfd7zXZ\x00"):
        return cast("IO[bytes]", _AsFarAsItGoes(lzma.LZMAFile(file)))
    if magic.startswith(_UTF_16):
        return cast("IO[bytes]", io.BufferedReader(_Recoded(file)))
    return file


class _Packed(Protocol):
    """A stream that unpacks while it is read."""

    def read1(self, size: int, /) -> bytes:
        """As many bytes as are there; none at the end."""


class _AsFarAsItGoes:
    """Gives what stands in front of a cut or a damage; only who asks for more is told of it."""

    def __init__(self, packed: "_Packed") -> None:
        self._packed = packed
        self._failure: Exception | None = None

    def read(self, size: int) -> bytes:
        """So many bytes, or what is left of them."""
        if self._failure is not None:
            raise self._failure
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = self._packed.read1(size)
            except FAILURES as failure:
                if not pieces:
                    raise
                self._failure = failure
                break
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


class _Recoded(io.RawIOBase):
    """UTF-16 read as UTF-8; half a letter at the end is left out."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._left = b""

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        """As many bytes as are there; none at the end."""
        while not self._left:
            data = self._file.read(len(buffer))
            if not data:
                return 0
            self._left = self._decoder.decode(data).encode("utf-8", "replace")
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


@contextmanager
def _unpacked_zstd(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Python's own reader from 3.14 on, else the command."""
    if _ZSTD is not None:
        yield cast("IO[bytes]", _AsFarAsItGoes(_ZSTD.ZstdFile(file)))
        return
    command = shutil.which("zstd")
    if command is None:
        raise OSError(2, MISSING_ZSTD)
    os.lseek(file.fileno(), 0, os.SEEK_SET)  # the command reads from where the file stands, not from where we read
    with subprocess.Popen(
        [command, "-dcq", "--long=31"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield cast("IO[bytes]", _AsFarAsItGoes(_OfCommand(process)))
        finally:
            assert process.stdout is not None
            process.stdout.close()


class _OfCommand:
    """What the command gives, and at its end why there is no more."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def read1(self, size: int) -> bytes:
        """As many bytes as are there; none at the end.

        Raises:
            EOFError: The file was cut.
            OSError: The command cannot unpack it.
        """
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        data = self._process.stdout.read(size)
        if data:
            return data
        said = self._process.stderr.read(400).decode("utf-8", "replace").strip()
        if self._process.wait():
            if any(words in said for words in _CUT_ZSTD):
                raise EOFError(said)
            raise OSError(5, f"zstd: {said or 'it cannot be unpacked'}")
        return b""
