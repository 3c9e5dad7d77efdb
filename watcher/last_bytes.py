"""The newest bytes of each log, as they were read, within a bound: the last lines before a run fell quiet."""

from collections import deque

PER_LOG_BYTES = 256 << 10
"""Four hundred lines of each of eight ranks that share a log."""
PER_RUN_BYTES = 4 << 20
"""Of all logs together, or LEAST_BYTES of each, where that is more."""
LEAST_BYTES = 16 << 10
SMALL_BYTES = 1 << 10
"""Smaller pieces are joined: thousands of short lines would weigh more than their bytes."""


class LastBytes:
    """What was read last of every log of one run."""

    def __init__(self) -> None:
        self._chunks: dict[str, deque[bytes]] = {}
        self._sizes: dict[str, int] = {}
        self._total = 0

    def add(self, source: str, data: bytes) -> None:
        """Bytes that come after those before."""
        limit = max(LEAST_BYTES, min(PER_LOG_BYTES, PER_RUN_BYTES // max(1, len(self._chunks))))
        chunks = self._chunks.setdefault(source, deque())
        piece = data[-limit:]
        if chunks and len(chunks[-1]) < SMALL_BYTES:
            chunks[-1] += piece
        else:
            chunks.append(piece)
        self._sizes[source] = self._sizes.get(source, 0) + len(piece)
        self._total += len(piece)
        if self._sizes[source] > limit + limit // 4:  # now and then: what is cut is copied
            self._cut(source, limit)
        if self._total > 5 * max(PER_RUN_BYTES, LEAST_BYTES * len(self._chunks)) // 4:
            for other in self._chunks:  # they filled up when there were fewer of them
                self._cut(other, limit)

    def _cut(self, source: str, limit: int) -> None:
        """Keep no more than so many bytes of a log."""
        chunks, over = self._chunks[source], self._sizes[source] - limit
        while over > 0:
            first = chunks.popleft()
            if len(first) > over:
                chunks.appendleft(first[over:])
            gone = min(over, len(first))
            self._sizes[source] -= gone
            self._total -= gone
            over -= gone

    def forget(self, source: str) -> None:
        """The log is read anew, or no longer."""
        self._chunks.pop(source, None)
        self._total -= self._sizes.pop(source, 0)

    def of(self, source: str) -> bytes:
        """Whole lines; a log whose first line is still there has all of it."""
        chunks = self._chunks.get(source, ())
        data = b"".join(chunks)
        is_whole = len(data) < LEAST_BYTES
        return data if is_whole else data[data.find(b"\n") + 1 :]
