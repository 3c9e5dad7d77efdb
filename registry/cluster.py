"""A Redis Cluster: which server owns which slot, learnt from any of them and from every redirect."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from redis import exceptions as answers
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from registry.address import Address
from registry.errors import Refused
from registry.naming import BROKEN
from registry.server import Place, Server, ask_plainly, line

ASK_SECONDS: Final = 1.0
LOOK_AGAIN_SECONDS: Final = 0.2
"""A lost server makes everybody look; so often one of them asks for the map."""


class Cluster:
    """Finds the owner of each slot."""

    def __init__(self, address: Address, make: Callable[[Place], Server]) -> None:
        self.changes = 0
        self._make = make
        self._seeds = address.hosts
        self._servers: dict[Place, Server] = {}
        self._owners: list[Place | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        self._everyone: tuple[Place, ...] = ()
        self._lost: dict[Place, float] = {}
        self._is_stale = True
        self._looked_at = float("-inf")
        self._look_lock = asyncio.Lock()

    async def server_for(self, key: str) -> Server:
        """Return the primary that owns the slot of this key."""
        slot = key_slot(key.encode())
        if self._is_stale or self._owners[slot] is None:
            await self._look()
        place = self._owners[slot]
        if place is None:
            raise answers.ClusterDownError(f"no server of the Cluster owns slot {slot}")
        return self._server(place)

    async def redirected(self, answer: Any, server: Server) -> Server | None:
        """Learn where a slot lives (MOVED), or whom to ask this once (ASK)."""
        place = (answer.host or server.place[0], int(answer.port))
        if not isinstance(answer, answers.MovedError):
            return self._server(place)
        self.changes += 1
        self._owners[int(answer.slot_id)] = place
        # One slot moved alone, or many did: the whole map is asked for, but not for each slot.
        self._is_stale = time.monotonic() - self._looked_at > 1.0
        return None

    async def lost(self, server: Server) -> None:
        """Ask another server for the map before the next call."""
        self.changes += 1
        self._lost[server.place] = time.monotonic()
        self._is_stale = True

    async def everyone(self) -> Sequence[Server]:
        """Return all primaries and replicas."""
        await self._look()
        return [self._server(place) for place in self._everyone]

    async def aclose(self) -> None:
        """Close all connections."""
        servers, self._servers = self._servers, {}
        for server in servers.values():
            await server.aclose()

    def _server(self, place: Place) -> Server:
        if place not in self._servers:
            self._servers[place] = self._make(place)
        return self._servers[place]

    async def _look(self) -> None:
        """Get the map from the first server that has one, those that were lost just now last."""
        async with self._look_lock:
            if time.monotonic() - self._looked_at < LOOK_AGAIN_SECONDS and any(self._owners):
                return
            problem: Exception = answers.ConnectionError("no server of the Cluster answers")
            for place in self._places_to_ask():
                try:
                    shards = await self._ask_for_map(self._server(place))
                except (*BROKEN, answers.ResponseError) as failed:
                    _raise_refusal(failed)
                    problem = failed
                    continue
                await self._learn(shards, place)
                self._looked_at, self._is_stale = time.monotonic(), False
                return
            self._looked_at = time.monotonic()
            raise problem

    def _places_to_ask(self) -> list[Place]:
        places = list(dict.fromkeys((*self._everyone, *self._seeds)))
        random.shuffle(places)
        recently = time.monotonic() - 5.0
        return sorted(places, key=lambda place: self._lost.get(place, 0.0) > recently)

    async def _ask_for_map(self, server: Server) -> list[Any]:
        try:
            async with asyncio.timeout(ASK_SECONDS), line(server.quick) as connection:
                [said] = await ask_plainly(connection, [("CLUSTER", "SLOTS")])
        except TimeoutError:
            raise answers.TimeoutError(f"{server} does not answer") from None
        if isinstance(said, Exception):
            raise said
        if not said:
            raise answers.ClusterDownError(f"{server} knows no owner of any slot")
        return said  # type: ignore[no-any-return]

    async def _learn(self, shards: Iterable[Any], asked: Place) -> None:
        owners: list[Place | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        everyone: list[Place] = []
        for first, last, *servers in shards:
            places = [_place(one, asked) for one in servers]
            owners[first : last + 1] = [places[0]] * (last + 1 - first)
            everyone += places
        self._owners, self._everyone = owners, tuple(dict.fromkeys(everyone))
        for place in set(self._servers) - set(self._everyone) - set(self._seeds):
            await self._servers.pop(place).aclose()


def _place(server: Sequence[Any], asked: Place) -> Place:
    host = (server[0] or b"").decode()
    # A server that does not know its own address leaves it out: it is the one we reached.
    return (host if host not in ("", "?") else asked[0], int(server[1]))


def _raise_refusal(failed: Exception) -> None:
    """Every server of the Cluster would say the same: a person must act."""
    said = failed.__cause__ if isinstance(failed.__cause__, answers.ResponseError) else failed
    if isinstance(said, answers.NoPermissionError | answers.AuthenticationError):
        raise said
    if isinstance(said, answers.ResponseError) and "cluster support disabled" in str(said):
        raise Refused("That Redis is no Cluster: its address begins with redis://, not redis+cluster://.") from failed
