"""Rate limits: one post per second and channel, other methods by Slack's tiers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bot.workspace.clock import Clock

CALLS_PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}
"""Slack's tiers; short bursts up to a minute's worth are let through."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class Rates:
    """Token buckets. `wait` says how long a caller must stay away, or nothing."""

    def __init__(self, clock: Clock, *, posts_per_second: float, post_burst: int) -> None:
        self._clock = clock
        self._posts_per_second = posts_per_second
        self._post_burst = post_burst
        self._buckets: dict[str, _Bucket] = {}

    def wait_to_post(self, channel: str) -> int | None:
        """Whole seconds to wait before the next chat.postMessage in this channel."""
        return self._take(f"post {channel}", self._posts_per_second, self._post_burst)

    def wait_to_call(self, method: str, tier: int) -> int | None:
        """Whole seconds to wait before the next call of this method."""
        per_minute = CALLS_PER_MINUTE[tier]
        return self._take(method, per_minute / 60, per_minute)

    def _take(self, key: str, rate: float, burst: int) -> int | None:
        now = self._clock.now()
        bucket = self._buckets.setdefault(key, _Bucket(burst, now))
        bucket.tokens = min(burst, bucket.tokens + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return None
        return max(1, math.ceil((1 - bucket.tokens) / rate))
