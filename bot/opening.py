"""Opens a file as the text that is packed in it: plain, gzip, bzip2, xz, zstd, told apart by its first bytes.

A text in another encoding, such as UTF-16 of PowerShell's `>` or GBK, is given as UTF-8.
"""

import bz2
import codecs
import gzip
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

from bot.encodings import PEEK, UTF_8, encoding_of

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
                yield _recoded(stream)
        elif magic.startswith(_HEADS):
            yield _recoded(_unpacked(file, magic))
        else:
            name = _encoding_of(file)
            yield file if name in {None, UTF_8} else cast("IO[bytes]", _Recoded(file, str(name)))


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


def lies_plain(path: Path) -> bool:
    """True when the file is read as it lies there: neither packed nor in another encoding."""
    with path.open("rb") as file:
        return not file.read(6).startswith(_HEADS) and _encoding_of(file) in {None, UTF_8}


def _encoding_of(file: IO[bytes]) -> str | None:
    file.seek(0)
    name = encoding_of(file.read(PEEK))
    file.seek(0)
    return name


def _recoded(stream: IO[bytes]) -> IO[bytes]:
    """What was packed, as UTF-8."""
    head = stream.read(PEEK)
    name = encoding_of(head)
    again = cast("IO[bytes]", _Again(head, stream))
    return again if name in {None, UTF_8} else cast("IO[bytes]", _Recoded(again, str(name)))


def _unpacked(file: IO[bytes], magic: bytes) -> IO[bytes]:
    if magic.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", _AsFarAsItGoes(gzip.GzipFile(fileobj=file)))
    if magic.startswith(b"BZh"):
        return cast("IO[bytes]", _AsFarAsItGoes(bz2.BZ2File(file)))
    if magic.startswith(b"\xfd7zXZ\x00"):
        return cast("IO[bytes]", _AsFarAsItGoes(lzma.LZMAFile(file)))
    if magic.startswith(_UTF_16):
        return cast("IO[bytes]", _Recoded(file, "utf-16"))
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


class _Again:
    """A stream whose first bytes were looked at."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int) -> bytes:
        """So many bytes, or what is left of them."""
        if not self._head:
            return self._stream.read(size)
        data, self._head = self._head[:size], self._head[size:]
        return data


class _Recoded:
    """A text in another encoding read as UTF-8; half a letter at the end is left out."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def read(self, size: int) -> bytes:
        """About so many bytes; none at the end."""
        while data := self._stream.read(size):
            text = self._decoder.decode(data).encode("utf-8", "replace")
            if text:
                return text
        return b""


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
