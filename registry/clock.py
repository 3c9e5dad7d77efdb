"""One clock for all: Redis TIME, and how far this machine's clock is from it."""

import contextlib
import math
import time
from dataclasses import dataclass
from typing import Final

from registry.door import Door
from registry.errors import RegistryAway

MEASURE_EVERY_SECONDS: Final = 5.0
"""At most so often is the clock measured anew because a server was lost or replaced."""


@dataclass(frozen=True, slots=True)
class Offset:
    """This machine's clock minus the registry's."""

    seconds: float
    uncertainty_seconds: float
    """Half the round trip that measured it."""


class RegistryClock:
    """Knows the registry's time without asking each time."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._offset: Offset | None = None
        self._ahead = 0.0
        self._changes = 0
        self._measured_at = -math.inf

    async def now(self) -> float:
        """Ask the registry what time it is (Unix seconds)."""
        return (await self._ask())[0]

    async def measure(self) -> Offset:
        """Measure this machine's offset anew, the best of three."""
        changes = self._door.changes
        found = [(await self._ask())[1] for _ in range(3)]
        self._offset = min(found, key=lambda offset: offset.uncertainty_seconds)
        self._changes, self._measured_at = changes, time.monotonic()
        return self._offset

    async def estimate(self) -> float:
        """Return the registry's time by the last measurement, which is taken on first use."""
        if self._offset is None:
            await self.measure()
        elif self._changes != self._door.changes and time.monotonic() - self._measured_at > MEASURE_EVERY_SECONDS:
            # Another server may have taken over, with a clock of its own. Until it answers, the old one will do.
            self._measured_at = time.monotonic()
            with contextlib.suppress(RegistryAway):
                await self.measure()
        # Counted on the monotonic clock, so a jump of the wall clock here does not move the registry's time.
        return time.monotonic() + self._ahead

    async def _ask(self) -> tuple[float, Offset]:
        before, wall = time.monotonic(), time.time()
        seconds, micros = await self._door.call("TIME")
        trip = time.monotonic() - before
        there = int(seconds) + int(micros) / 1e6
        self._ahead = there + trip / 2 - (before + trip)
        return there, Offset(wall + trip / 2 - there, trip / 2)
