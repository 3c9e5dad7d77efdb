"""The last lines before a run fell quiet: a watchdog that aborts prints thousands more, and they must not be lost.

They are kept at half the shortest time after which anybody may call a run stalled, and let go at the next step.
"""

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from diagnosis.formats.reader import LogReader
from diagnosis.formats.tags import rank_in
from diagnosis.observations import Evidence
from diagnosis.thresholds import Thresholds

MOST_RANKS = 256
"""Ranks of one log whose lines are kept."""
KEPT_LINES = 400
"""Lines of each rank that a snapshot shows, as far as the newest bytes of its log reach back."""


class Quiet:
    """Keeps the last lines of every rank once no step came for a while."""

    def __init__(self, thresholds: Thresholds) -> None:
        limits = thresholds
        early = limits.stall_evidence_share * min(limits.stall_min, limits.stall_after)
        self._after = max(early, limits.stall_evidence_min)
        self._since: float | None = None
        self._lines: dict[str, dict[int | None, tuple[Evidence, ...]]] = {}
        self._packed: dict[str, bytes] = {}

    @property
    def since(self) -> float | None:
        """When the last step came before what is kept; None: nothing is."""
        return self._since

    def look(
        self,
        progressed_at: float | None,
        now: float,
        readers: Iterable[LogReader],
        newest_bytes: Callable[[str], bytes] = lambda _: b"",
    ) -> None:
        """Keep the lines if it has been quiet for long enough, forget them if it goes on; times on one clock."""
        if progressed_at is None or now - progressed_at < self._after:
            self._since = None
            self._lines.clear()
            self._packed.clear()
        elif self._since != progressed_at:
            self._since = progressed_at
            self._lines, self._packed = {}, {}
            for reader in readers:
                self._lines[reader.file] = _newest(reader)
                if data := newest_bytes(reader.file):
                    self._packed[reader.file] = zlib.compress(_last_of_each(data))

    def texts(self) -> dict[str, str]:
        """Log → the last 400 lines of each of its ranks before it fell quiet, in their order."""
        return {path: zlib.decompress(packed).decode("utf-8", "replace") for path, packed in self._packed.items()}

    def newest(self, reader: LogReader) -> Mapping[int | None, tuple[Evidence, ...]]:
        """The last lines of every rank of a log: those before it fell quiet, then those since."""
        newest, kept = _newest(reader), self._lines.get(reader.file, {})
        return {rank: _joined(kept.get(rank, ()), newest.get(rank, ())) for rank in (kept | newest)}


def _last_of_each(data: bytes) -> bytes:
    """The lines of a common log that are among the last ones of the rank that they name."""
    lines = data.splitlines(keepends=True)
    by_rank: dict[str, deque[int]] = {}
    for place, line in enumerate(lines):
        head = line[:200].decode("utf-8", "replace")
        tag = rank_in(head)
        rank = head[tag.start : tag.end] if tag is not None else ""
        if rank not in by_rank and len(by_rank) > MOST_RANKS:
            continue
        by_rank.setdefault(rank, deque(maxlen=KEPT_LINES)).append(place)
    return b"".join(lines[place] for place in sorted(place for places in by_rank.values() for place in places))


def _newest(reader: LogReader) -> dict[int | None, tuple[Evidence, ...]]:
    """The last lines by rank: a stream of one rank's own, and lines of a common stream that name their rank."""
    found: dict[int | None, list[Evidence]] = {}
    for rank in [*sorted(reader.ranks)[:MOST_RANKS], None]:
        for line in reader.recent_evidence(rank):
            tag = rank_in(line.text) if rank is None else None
            owner = int(line.text[tag.start : tag.end]) if tag is not None else rank
            found.setdefault(owner if owner in reader.ranks else rank, []).append(line)
    return {rank: tuple(lines) for rank, lines in found.items()}


def _joined(before: tuple[Evidence, ...], after: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    newest = max((line.line or 0 for line in before), default=0)
    return (*before, *(line for line in after if (line.line or 0) > newest or not before))
