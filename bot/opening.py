"""Opens a file as the text that is packed in it: plain, gzip, bzip2, xz, zstd, told apart by its first bytes."""

import bz2
import gzip
import lzma
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

ZSTD = b"\x28\xb5\x2f\xfd"
MISSING_ZSTD = "packed with zstd: install the `zstd` command to read it"
FAILURES = (OSError, EOFError, lzma.LZMAError)
"""What a file may do instead of being read."""
_HEADS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", ZSTD)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's content, unpacked while it is read.

    Raises:
        OSError: It is no regular file, cannot be read, or needs a program that is not installed.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(22, "not a regular file")
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        if magic.startswith(ZSTD):
            with _unpacked_zstd(file) as stream:
                yield stream
        else:
            yield _unpacked(file, magic)


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
    return file


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
