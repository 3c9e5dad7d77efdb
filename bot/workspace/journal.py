"""An append-only journal, so that messages survive the death of the workspace process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from bot.workspace.values import Json


class Journal:
    """One JSON object per line; each is handed to the kernel before its call is answered.

    That survives `kill -9` of the process (the kernel has the bytes), not a power cut.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        self._end_torn_line()

    def write(self, record: Json) -> None:
        """Append one record."""
        os.write(self._file, json.dumps(record, separators=(",", ":")).encode() + b"\n")

    def read(self) -> Iterator[Json]:
        """Every whole record, oldest first."""
        with self.path.open("rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # a line torn by a kill: its call was never answered
                if isinstance(record, dict):
                    yield record

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)

    def _end_torn_line(self) -> None:
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")
