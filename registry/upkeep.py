"""What the announcing bot does for Redis beside announcing: looks whether it is still safe, and sweeps.

Somebody may change a setting while everything runs, or memory may grow short; that is noticed within half a minute,
and each sentence here is one that a person should read.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from registry.broom import Broom, Retention, Swept
from registry.events import Events
from registry.ledger import Ledger
from registry.safety import Safety

CHECK_EVERY_SECONDS: Final = 20.0
SWEEP_EVERY_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn found."""

    problems: Mapping[str, str] = field(default_factory=dict)
    """What is the matter → a sentence; what is not named any more is over."""
    swept: Swept = field(default_factory=Swept)


class Upkeep:
    """Turns now and then; each turn does what is due."""

    def __init__(self, safety: Safety, broom: Broom, events: Events, ledger: Ledger) -> None:
        self._safety = safety
        self._broom = broom
        self._events = events
        self._ledger = ledger
        self._problems: dict[str, str] = {}
        self._checked_at = self._swept_at = float("-inf")

    async def turn(self, retention: Retention = Retention()) -> Turn:  # noqa: B008 - a frozen value
        """Do what is due; raises RegistryError while Redis is away."""
        now = time.monotonic()
        if now - self._checked_at >= CHECK_EVERY_SECONDS:
            self._problems = await self._safety.problems() | await self._stream_problems()
            self._checked_at = now
        swept = Swept()
        if now - self._swept_at >= SWEEP_EVERY_SECONDS:
            # Noted before: a sweep that fails half-way waits its hour too.
            self._swept_at = now
            swept = await self._broom.sweep(retention)
        return Turn(dict(self._problems), swept)

    async def _stream_problems(self) -> dict[str, str]:
        """Say which streams cannot be read; what is plainly rubbish goes, and the watcher sends its own again."""
        problems = {}
        for stream, trouble in list(self._events.troubles.items()):
            sentence = f"The findings of {stream.watcher} cannot be read: {trouble.why}."
            if trouble.is_rubbish:
                await self._ledger.discard(stream, trouble.why)
                sentence += (
                    " It was thrown away unread; the watcher sends its own findings again. Whoever wrote the rest has"
                    " its Redis login."
                )
            problems[f"stream {stream}"] = sentence
        return problems
