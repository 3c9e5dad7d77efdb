"""Reads a big log in a process of its own, beside the one that judges: each has a core, and the order stays.

The process reads as `BulkReader` does and writes what each piece of the log says to its stdout, as pickles that only
the process that started it reads. Points keep their place in the file: a line is fetched again when it is shown.
"""

import copyreg
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from diagnosis.formats.bulk.block import StepBlock, Whole
from diagnosis.formats.bulk.learning import LONGEST
from diagnosis.formats.bulk.reader import BulkReader, Item
from diagnosis.formats.bulk.weaving import Woven, redrawn
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.formats.memory import Unread
from diagnosis.formats.settings import ReadSettings
from diagnosis.observations import Origin

PIECE = 1 << 19
"""Bytes that are read and told of together."""
_END = re.compile(rb"[\r\n]")
_COMMAND = (
    sys.executable,
    "-P",
    "-c",
    "import sys; sys.path[:] = sys.argv[1:]; import bot.second_reader as it; it.main()",
)


@dataclass(frozen=True, slots=True)
class Account:
    """What a reader says of a log as a whole."""

    dialect: str | None
    envelope: str | None
    ranks: set[int]
    node: str | None
    lines: int
    tracebacks: int
    unread: Unread
    """Lines that looked like metrics and were not read."""
    processes: Mapping[tuple[str | None, int], int]
    """(node, pid) → rank, as far as the log told it."""
    size: int
    """Bytes that were read."""


class SecondReader:
    """The other process, as the one that judges sees it."""

    def __init__(self, path: Path, file: str, origin: Origin, settings: ReadSettings | None = None) -> None:
        self._path = path
        self._file = file
        self._origin = origin
        self._settings = settings
        self._origins: dict[tuple[Any, ...], Origin] = {}
        self.account: Account | None = None
        """Known at the end."""

    def read(self) -> Iterator[tuple[Sequence[Item], int]]:
        """What each piece of the log says, and its size.

        Raises:
            OSError: The log cannot be read, or the process was ended.
        """
        with (
            self._path.open("rb") as log,
            subprocess.Popen((*_COMMAND, *sys.path), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
        ):
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump((self._path, self._file, self._origin, self._settings), process.stdin)
            process.stdin.close()
            try:
                while self.account is None:
                    told = self._next(process.stdout)
                    if isinstance(told, Account):
                        self.account = told
                        break
                    items, size = told
                    for item in items:
                        if isinstance(item, StepBlock):
                            item.printed = partial(_line, log.fileno(), item.offsets)
                        elif isinstance(item, Woven):
                            for block in (item.bars, item.dicts):
                                block.printed = partial(_redraw, log.fileno(), block.offsets)
                    yield items, size
            finally:
                process.stdout.close()

    def _next(self, stream: IO[bytes]) -> Any:
        unpickler = pickle.Unpickler(stream)  # noqa: S301 - written by our own child
        unpickler.persistent_load = self._known  # type: ignore[method-assign]
        try:
            return unpickler.load()
        except (EOFError, pickle.UnpicklingError) as problem:
            raise OSError(5, "the process that read it was ended") from problem

    def _known(self, told: tuple[Any, ...]) -> Any:
        """The one object for an origin or the file's name: who follows a log knows them by identity."""
        if told[0] == "file":
            return self._file
        return self._origins.setdefault(told, Origin(*told[1:]))


def _line(log: int, offsets: Whole, place: int) -> str:
    """A line as `Chunk` gives it."""
    data = os.pread(log, LONGEST + 2, int(offsets[place]))
    return data[: data.find(b"\n")].removesuffix(b"\r").decode("utf-8", "replace")


def _redraw(log: int, offsets: Whole, place: int) -> str:
    """A piece of a line that is rewritten, as `Weaver` gives it."""
    start = int(offsets[place])
    kept = min(start, MAX_EVIDENCE)
    before = os.pread(log, kept, start - kept)
    piece = os.pread(log, LONGEST + 1, start)
    return redrawn(before[before.rfind(b"\n") + 1 :], _END.split(piece, 1)[0])


class _Pickler(pickle.Pickler):
    """Names what the other side has already."""

    def __init__(self, stream: IO[bytes], file: str) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._file = file

    def persistent_id(self, told: Any) -> tuple[Any, ...] | None:
        """What stands for an origin, and for the file's name."""
        kind = type(told)
        if kind is Origin:
            return ("origin", told.run, told.node, told.rank, told.local_rank)
        if kind is str and told is self._file:
            return ("file",)
        return None


def _block(*values: Any) -> StepBlock:
    return StepBlock(*values)


def _frozen(told: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(told)


def _reduced(block: StepBlock) -> tuple[Any, ...]:
    """Without what fetches its lines: that stays here."""
    kept = [one.name for one in fields(StepBlock) if one.name != "_made"]
    return _block, tuple(None if name == "printed" else getattr(block, name) for name in kept)


def main() -> None:
    """The process itself."""
    path, file, origin, settings = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own parent
    copyreg.pickle(StepBlock, _reduced)
    copyreg.pickle(MappingProxyType, lambda told: (_frozen, (dict(told),)))
    out, size = sys.stdout.buffer, 0
    reader = BulkReader(file, origin, settings=settings)
    with path.open("rb") as log:
        while data := log.read(PIECE):
            size += len(data)
            _Pickler(out, file).dump((reader.read(data), len(data)))
            out.flush()
    _Pickler(out, file).dump((reader.finish(), 0))
    known = (
        reader.dialect,
        reader.envelope,
        set(reader.ranks),
        reader.node,
        reader.lines,
        reader.tracebacks,
        reader.unread,
    )
    pickle.dump(Account(*known, reader.processes, size), out)
    out.flush()
