"""`runwatch redact`: what would be masked before it leaves a node."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from bot.opening import FAILURES, opened, reason_of
from diagnosis.errors import Mistake
from diagnosis.redaction import MaskingStream

SUMMARY = "show a file as it would leave the node: with its secrets masked"
CHUNK_BYTES = 1 << 16


def configure(parser: argparse.ArgumentParser) -> None:
    """Which file."""
    parser.add_argument("file", help="the file to read; - is standard input")
    parser.add_argument("--count", action="store_true", help="print only how many secrets would be masked")


def run(options: argparse.Namespace) -> int:
    """Write the masked text to stdout and the count to stderr."""
    stream = MaskingStream()
    for data in _pieces(options.file):
        _write(stream.feed(data), options)
    _write(stream.close(), options)
    said = f"{stream.count} secret{'' if stream.count == 1 else 's'} masked"
    sys.stdout.write(f"{stream.count}\n") if options.count else sys.stderr.write(said + "\n")
    return 0


def _pieces(file: str) -> Iterator[bytes]:
    try:
        with _opened(file) as source:
            while data := source.read(CHUNK_BYTES):
                yield data
    except FAILURES as failure:
        raise Mistake(f"Cannot read {file}: {reason_of(failure)}.") from failure


def _opened(file: str) -> AbstractContextManager[IO[bytes]]:
    # In a packed file, and in UTF-16, no secret can be seen.
    if file == "-":
        return nullcontext(sys.stdin.buffer)
    return opened(Path(file)) if Path(file).is_file() else Path(file).open("rb")


def _write(data: bytes, options: argparse.Namespace) -> None:
    if not options.count:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
