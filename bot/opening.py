"""Opens a file as the text that is packed in it: plain, gzip, bzip2, xz, zstd, told apart by its first bytes.

A UTF-16 text, as PowerShell's `>` writes it, is given as UTF-8.
"""

import bz2
import codecs
import gzip
import io
import lzma
import shutil
import stat
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

ZSTD = b"\x28\xb5\x2f\xfd"
MISSING_ZSTD = "packed with zstd: install the `zstd` command to read it"
NO_FILE = "not a regular file"
SAVE_IT = " but a pipe: write what it gives into a file first"
FAILURES = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""What a file may do instead of being read."""
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
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if magic.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(file))
    if magic.startswith(b"\xfd7zXZ\x00"):
        return cast("IO[bytes]", lzma.LZMAFile(file))
    if magic.startswith(_UTF_16):
        return cast("IO[bytes]", io.BufferedReader(_Recoded(file)))
    return file


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
    if find_spec("compression") is not None and find_spec("compression.zstd") is not None:
        yield cast("IO[bytes]", import_module("compression.zstd").ZstdFile(file))
        return
    command = shutil.which("zstd")
    if command is None:
        raise OSError(2, MISSING_ZSTD)
    with subprocess.Popen(
        [command, "-dcq", "--long=31"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield process.stdout
            is_at_end = not process.stdout.read(1)
        finally:
            process.stdout.close()
        said = process.stderr.read(400).decode("utf-8", "replace").strip()
        if process.wait() and is_at_end:
            raise OSError(5, f"zstd: {said or 'it cannot be unpacked'}")
