"""Which server to ask for a key: the only one, the primary that sentinels name, or a Cluster's owner of the slot."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from registry.address import Address, Form
from registry.errors import Refused
from registry.server import Place, Server, server_maker


class Topology(Protocol):
    """Finds servers, and learns from what goes wrong."""

    changes: int
    """Counts up whenever a server was lost or another took its place: what was known of it may not hold."""

    async def server_for(self, key: str) -> Server:
        """Return the server that keeps this key now."""
        ...

    async def redirected(self, answer: Any, server: Server) -> Server | None:
        """Learn from a MOVED or ASK of a Cluster; the server to ask for this once, or None: look anew."""
        ...

    async def lost(self, server: Server) -> None:
        """Learn that a server did not answer, or cannot serve: look again before the next call."""
        ...

    async def everyone(self) -> Sequence[Server]:
        """Return every server that keeps our data now or may after a failover."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class One:
    """A single server; when it is lost, it is met again at the same place."""

    def __init__(self, address: Address, make: Callable[[Place], Server]) -> None:
        self.changes = 0
        self._is_tls = address.is_tls
        self._server = make(address.hosts[0] if address.hosts else (address.path, 0))
        self._renewed_at = 0.0

    async def server_for(self, key: str) -> Server:  # noqa: ARG002 - it keeps every key
        """Return the server."""
        return self._server

    async def redirected(self, answer: Any, server: Server) -> Server | None:
        """Refuse a redirect: a person must put the address right."""
        del server
        raise Refused("This Redis is a server of a Cluster: its address begins with redis+cluster://.") from answer

    async def lost(self, server: Server) -> None:
        """Note it; certificates may have been renewed, so a TLS connection begins with reading them."""
        self.changes += 1
        if self._is_tls and time.monotonic() - self._renewed_at > 1.0:
            self._renewed_at = time.monotonic()
            await server.renew()

    async def everyone(self) -> Sequence[Server]:
        """Return the server."""
        return (self._server,)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._server.aclose()


def topology_of(address: Address, name: str, read_seconds: float) -> Topology:
    """Return the topology of an address; no I/O yet."""
    make = server_maker(address, name, read_seconds, login=address.login)
    # A watcher with one server need not hold the code for others.
    if address.form is Form.SENTINEL:
        from registry.sentinel import Sentinels  # noqa: PLC0415

        return Sentinels(address, make, server_maker(address, name, 1.0, login=address.sentinel_login))
    if address.form is Form.CLUSTER:
        from registry.cluster import Cluster  # noqa: PLC0415

        return Cluster(address, make)
    return One(address, make)
