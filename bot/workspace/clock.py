"""The workspace's one clock, which a test may push forward."""

from __future__ import annotations

import time


class Clock:
    """Unix seconds, plus whatever a test skipped; and message timestamps that never repeat."""

    def __init__(self) -> None:
        self._skipped = 0.0
        self._stands_at: float | None = None
        self._newest_microsecond = 0

    def now(self) -> float:
        """Unix seconds as this workspace sees them."""
        return (time.time() if self._stands_at is None else self._stands_at) + self._skipped

    def skip(self, seconds: float) -> None:
        """Let time pass at once: triggers, response URLs and rate limits see it."""
        self._skipped += seconds

    def stand(self) -> None:
        """Let no time pass from here on but what is skipped."""
        self._stands_at = time.time()

    def next_ts(self) -> str:
        """A message timestamp: `seconds.microseconds`, later than every one before it."""
        microsecond = max(int(self.now() * 1_000_000), self._newest_microsecond + 1)
        self._newest_microsecond = microsecond
        return f"{microsecond // 1_000_000}.{microsecond % 1_000_000:06d}"

    def seen(self, ts: str) -> None:
        """Never give out a timestamp at or before this one (read back from a journal)."""
        seconds, _, fraction = ts.partition(".")
        self._newest_microsecond = max(self._newest_microsecond, int(seconds) * 1_000_000 + int(fraction or 0))
