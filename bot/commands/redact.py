"""`runwatch redact`: what would be masked before it leaves a node."""

import argparse
import sys
from pathlib import Path

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
    try:
        source = sys.stdin.buffer if options.file == "-" else Path(options.file).open("rb")  # noqa: SIM115
    except OSError as away:
        raise Mistake(f"Cannot read {options.file}: {away.strerror}.") from away
    stream = MaskingStream()
    with source:
        while data := source.read(CHUNK_BYTES):
            _write(stream.feed(data), options)
    _write(stream.close(), options)
    said = f"{stream.count} secret{'' if stream.count == 1 else 's'} masked"
    sys.stdout.write(f"{stream.count}\n") if options.count else sys.stderr.write(said + "\n")
    return 0


def _write(data: bytes, options: argparse.Namespace) -> None:
    if not options.count:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
