"""Trigger ids: three seconds in which an app may open one modal for the person who acted."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from bot.workspace.clock import Clock
from bot.workspace.values import Refused


@dataclass(slots=True)
class _Trigger:
    user: str
    view_id: str | None
    made_at: float
    used: bool = False


class Triggers:
    """Trigger ids given out with commands, clicks and shortcuts."""

    def __init__(self, clock: Clock, lifetime_seconds: float) -> None:
        self._clock = clock
        self._lifetime = lifetime_seconds
        self._given: dict[str, _Trigger] = {}

    def give(self, user: str, view_id: str | None = None) -> str:
        """A trigger for this person; `view_id` is the modal in which it arose."""
        trigger = f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self._given[trigger] = _Trigger(user, view_id, self._clock.now())
        return trigger

    def exchange(self, trigger: str) -> tuple[str, str | None]:
        """The person and the modal of this trigger, once.

        Raises:
            Refused: It is unknown, expired or used.
        """
        found = self._given.get(trigger)
        if found is None:
            raise Refused("invalid_trigger_id")
        if found.used:
            raise Refused("exchanged_trigger_id")
        if self._clock.now() - found.made_at > self._lifetime:
            raise Refused("expired_trigger_id")
        found.used = True
        return found.user, found.view_id
