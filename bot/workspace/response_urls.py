"""Response URLs: a way to answer a command or click, five times within thirty minutes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from bot.workspace.clock import Clock
from bot.workspace.values import Refused


@dataclass(slots=True)
class ResponseUrl:
    """Where an answer by this URL goes."""

    channel: str
    user: str
    made_at: float
    message_ts: str | None = None
    """The message that was clicked; what `replace_original` and `delete_original` mean."""
    thread_ts: str | None = None
    uses: int = 0


class ResponseUrls:
    """Response URLs given out, by their secret."""

    def __init__(self, clock: Clock, *, uses: int, lifetime_seconds: float) -> None:
        self._clock = clock
        self._uses = uses
        self._lifetime = lifetime_seconds
        self._given: dict[str, ResponseUrl] = {}

    def give(self, channel: str, user: str, message_ts: str | None = None, thread_ts: str | None = None) -> str:
        """The path of a new URL."""
        secret = f"{secrets.randbelow(10**12)}/{secrets.token_hex(12)}"
        self._given[secret] = ResponseUrl(channel, user, self._clock.now(), message_ts, thread_ts)
        return f"/commands/{secret}"

    def use(self, secret: str) -> ResponseUrl:
        """Where this use goes.

        Raises:
            Refused: The URL is unknown, too old or used up.
        """
        found = self._given.get(secret)
        if found is None:
            raise Refused("invalid_url")
        if self._clock.now() - found.made_at > self._lifetime:
            raise Refused("expired_url")
        if found.uses >= self._uses:
            raise Refused("used_url")
        found.uses += 1
        return found
