"""How far back each server of Redis may have forgotten: until then, what it says was told or not told is doubtful.

After a restart the newest second may be gone; a replica that was promoted may lack the last seconds of its primary.
A finding may then stand in its stream although the word that it was told is gone, so whoever tells it looks first.
The uptime says nothing of a promotion. A server is therefore known by its run id and replication id together: one
changes with every start, the other with every promotion. When each pair was first met stands in Redis.
"""

import math
import time
from dataclasses import dataclass
from typing import Final

from registry import keys
from registry.clock import RegistryClock
from registry.door import Door
from registry.errors import Refused, RegistryAway

ASK_EVERY_SECONDS: Final = 15.0
"""Asked at once when a connection broke or a server was replaced; so often in any case."""
MARGIN_SECONDS: Final = 2.0
"""How far the clocks of two servers may be apart, and a watcher's idea of them."""
MOST_KEPT: Final = 200


@dataclass(frozen=True, slots=True)
class _Met:
    before: float
    changes: int
    asked_at: float


class Doubt:
    """Knows for each server since when it is what it is."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock
        self._met: dict[str, _Met] = {}

    async def before(self, key: str) -> float:
        """Return the time before which the server of this key may have forgotten something; 0: nobody knows."""
        place = await self._door.where(key)
        met = self._met.get(place)
        now = time.monotonic()
        if met is None or met.changes != self._door.changes or now - met.asked_at > ASK_EVERY_SECONDS:
            changes = self._door.changes
            try:
                met = self._met[place] = _Met(await self._ask(key), changes, now)
            except RegistryAway:
                # Part of a Cluster is down and nobody can say: a look too many harms nobody.
                return math.inf
        return met.before

    async def _ask(self, key: str) -> float:
        try:
            server = await self._door.call("INFO", "server", beside=key)
            replication = await self._door.call("INFO", "replication", beside=key)
            identity = f"{server['run_id']}/{replication['master_replid']}"
            uptime = float(server["uptime_in_seconds"])
            now = await self._clock.now()
            # In a registry that met no server yet there is nothing to have forgotten since this one started.
            is_first = not await self._door.call("ZCARD", keys.SERVERS)
            # Whole seconds between two clocks without fractions: it may have started up to a second later than that.
            met_at = now - uptime + 1.0 if is_first else now + MARGIN_SECONDS
            _, found, _ = await self._door.together(
                [
                    ("ZADD", keys.SERVERS, "NX", met_at, identity),
                    ("ZSCORE", keys.SERVERS, identity),
                    ("ZREMRANGEBYRANK", keys.SERVERS, 0, -MOST_KEPT - 1),
                ]
            )
            return float(found)
        except (Refused, KeyError):
            # We may not ask, so nothing is held to be doubtful for this reason.
            return 0.0
