"""A reader over the real tail: what would be judged, and what a bookmark would say."""

import random
from dataclasses import replace
from pathlib import Path

from watcher.identity import Place, Recent
from watcher.pieces import Chunk, Continued, Ended, Rested, Start, Use
from watcher.tail import Tail


class Follower:
    """Polls a tail on its own clock and keeps every line that came, per part, in order."""

    def __init__(self, pattern, *, places=None, start="start", **options):
        self.now = 1000.0
        self.tail = Tail(
            [str(pattern)],
            start=Start(start),
            places=places,
            clock=lambda: self.now,
            **options,
        )
        self.lines: list[bytes] = []
        self.warm: list[bytes] = []
        self.batch = None
        self._partial: dict[int, bytes] = {}
        self._recent: dict[int, Recent] = {}
        self._places: dict[str, dict[int, Place]] = {}

    def poll(self, times=1, seconds=0.25):
        """Let time pass and read all there is."""
        for _ in range(times):
            self.now += seconds
            while True:
                self.batch = self.tail.poll()
                for piece in self.batch.pieces:
                    self._take(piece)
                if not self.batch.has_more:
                    break
        return self

    def places(self):
        """What would be bookmarked now: each part up to its last whole line."""
        return {source: tuple(parts.values()) for source, parts in self._places.items()}

    def _take(self, piece):
        match piece:
            case Rested() | Chunk(use=Use.CONTEXT):
                pass
            case Chunk(use=Use.WARM_UP):
                self.warm += piece.data.splitlines()
                self._recent[piece.part] = Recent(piece.offset + len(piece.data), piece.data)
                self._mark(piece, piece.offset + len(piece.data))
            case Chunk():
                recent = self._recent.setdefault(piece.part, Recent(piece.offset))
                if piece.offset != recent.end:
                    recent = self._recent[piece.part] = Recent(piece.offset, b"\0" * 128)
                recent.add(piece.data)
                whole, newline, rest = (self._partial.pop(piece.part, b"") + piece.data).rpartition(b"\n")
                self.lines += (whole + newline).splitlines()
                self._partial[piece.part] = rest
                self._mark(piece, piece.offset + len(piece.data) - len(rest))
            case Continued():
                for table in (self._partial, self._recent, self._places.get(piece.source, {})):
                    if piece.before in table:
                        table[piece.part] = table.pop(piece.before)
            case Ended():
                rest = self._partial.pop(piece.part, b"")
                self.lines += [rest] if rest else []
                self._recent.pop(piece.part, None)
                self._places.get(piece.source, {}).pop(piece.part, None)

    def _mark(self, piece, offset):
        behind = self._recent[piece.part].digest_before(offset)
        if behind is not None:
            place = replace(piece.place, offset=offset, line=1, behind=behind)
            self._places.setdefault(piece.source, {})[piece.part] = place


def lines(first, last, text="step={} loss=2.5 lr=0.0001 grad_norm=1.0"):
    """Log lines as bytes, newline at each end."""
    return b"".join(text.format(number).encode() + b"\n" for number in range(first, last))


def steps(found):
    """The step numbers of lines made by `lines`."""
    return [int(line.split()[0].removeprefix(b"step=")) for line in found]


def append(path: Path, data: bytes):
    """Write at the end of a file, as `>>` does."""
    with path.open("ab") as file:
        file.write(data)


def junk(size, seed=1):
    """Bytes that are no text."""
    return random.Random(seed).randbytes(size)
