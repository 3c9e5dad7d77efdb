"""What following a log hands on: bytes in order, and what became of the files they are from."""

from dataclasses import dataclass
from enum import Enum

from watcher.identity import Place


class Use(Enum):
    """What a chunk is for."""

    NEWS = "news"
    WARM_UP = "warm up"
    """Read before a restart: baselines learn from it, nothing is said about it."""
    CONTEXT = "context"
    """Read before a file was set aside: only its reader must hear it again."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of one part, in order."""

    source: str
    part: int
    offset: int
    data: bytes
    place: Place
    """The file they are from; its offset is that of the end of the chunk."""
    written_at: float = 0.0
    """Unix seconds of the last write to the file, by the clock of its file system."""
    line: int | None = None
    """Line number where the part was opened; None: its head was never read."""
    use: Use = Use.NEWS
    unread_seconds: float | None = None
    """These bytes are not older, on a clock that nobody sets: so long ago nothing lay there. None: not known."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The bytes of one part go on in another file: a rotated copy of it."""

    source: str
    before: int
    part: int


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more will come from this part."""

    source: str
    part: int


@dataclass(frozen=True, slots=True)
class Rested:
    """A quiet file was set aside; it is read on, under another number, when it changes."""

    source: str
    part: int


Piece = Chunk | Continued | Ended | Rested


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin with a file that was never seen."""

    where: str = "auto"
    """`start`, `end`, or `auto`: from the beginning if it is small, else from the end."""
    small_bytes: int = 64 << 20
    warm_up_bytes: int = 256 << 10

    def offset(self, size: int) -> int:
        """The first byte to judge."""
        if self.where == "start" or (self.where == "auto" and size <= self.small_bytes):
            return 0
        return size


START = Start()
