"""Redis in the shapes people run it, each with the harm that can be done to it while findings flow."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from registry.access import Role
from tests.durability.machine import Machine
from tests.durability.watcher_process import HURRY
from tests.registry.test_acl import give_rights
from tests.servers import Victim
from tests.topologies import ClusterOf, Node, Trio

STALE_SECONDS = 3.0
"""So long a copy hears nothing before it is promoted all the same."""


class Store(Protocol):
    """Something that keeps findings, and can be harmed."""

    def url_for(self, role: Role, name: str) -> str:
        """Where this process connects."""
        ...

    async def kill(self) -> None:
        """Kill the server that leads, and see to it that another or the same one leads again."""
        ...

    async def pause(self) -> None:
        """Let it fall silent for a while, or something as bad."""
        ...

    async def flush(self) -> None:
        """Empty it."""
        ...

    def stop(self) -> None:
        """End it."""
        ...


class Single:
    """One server; killed, it starts again on the same data."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self._server = Victim(home / "redis")
        self._chance = chance

    def url_for(self, role: Role, name: str) -> str:
        del role, name
        return self._server.url

    async def kill(self) -> None:
        await asyncio.to_thread(self._server.kill)
        await asyncio.sleep(self._chance.uniform(0, 0.3))
        await asyncio.to_thread(self._server.start)

    async def pause(self) -> None:
        self._server.pause()
        await asyncio.sleep(self._chance.uniform(0.2, 1.5))
        self._server.resume()

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        # Stopped, it would still take from its sockets later what was sent to it meanwhile.
        await asyncio.to_thread(self._server.kill)
        yield
        await asyncio.to_thread(self._server.start)

    async def flush(self) -> None:
        await asyncio.to_thread(self._server.client().flushall)

    def stop(self) -> None:
        self._server.stop()


class Powerless(Single):
    """One server whose machine loses its power: what it had not synced is gone. Needs root."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self._machine = Machine(home / "machine")
        super().__init__(self._machine.folder, chance)

    async def kill(self) -> None:
        await asyncio.to_thread(self._machine.fail, self._server.pid, self._server.kill)
        await asyncio.sleep(self._chance.uniform(0, 0.3))
        await asyncio.to_thread(self._server.start)

    def stop(self) -> None:
        super().stop()
        self._machine.close()


class Guarded:
    """A primary with a copy and three sentinels; each process has a user of its own."""

    is_stale = False
    lacking = 0
    """How many findings a copy did not have when it was promoted."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self._home = home
        self._trio = Trio(home / "trio")
        self._chance = chance
        for node in self._trio.nodes:
            give_rights(node.client(), nodes=("w0", "w1"))

    def url_for(self, role: Role, name: str) -> str:
        user = f"runwatch-{role}-{name}" if role is Role.WATCHER else f"runwatch-{role}"
        return self._trio.url.replace("://", f"://{user}:secret-{role}@")

    async def kill(self) -> None:
        """kill -9 of the primary; its copy leads, and the dead one comes back as the copy."""
        old, copy = await asyncio.to_thread(lambda: (self._trio.primary, self._trio.replica))
        if self.is_stale:
            await asyncio.to_thread(self._trio.cut_off, copy)
            (self._home / HURRY).touch()
            await asyncio.sleep(STALE_SECONDS)
            self.lacking += await asyncio.to_thread(lambda: _entries(old) - _entries(copy))
        old.kill()
        (self._home / HURRY).unlink(missing_ok=True)
        await asyncio.to_thread(self._trio.await_failover, old)
        await asyncio.sleep(self._chance.uniform(0, 1))
        await asyncio.to_thread(self._restore, old)

    async def pause(self) -> None:
        primary = await asyncio.to_thread(lambda: self._trio.primary)
        primary.pause()
        await asyncio.sleep(self._chance.uniform(0.1, 0.4))
        primary.resume()

    async def flush(self) -> None:
        await asyncio.to_thread(lambda: self._trio.primary.client().flushall())

    def stop(self) -> None:
        self._trio.stop()

    def _restore(self, node: object) -> None:
        self._trio.restore(node)  # type: ignore[arg-type]
        for one in self._trio.nodes:
            give_rights(one.client(), nodes=("w0", "w1"))


class Stale(Guarded):
    """The same, and the copy lacks the last three seconds when it is promoted; those are busy ones."""

    is_stale = True


class Sharded:
    """A Cluster of three primaries and a copy of each."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self._cluster = ClusterOf(home / "cluster")
        self._chance = chance

    def url_for(self, role: Role, name: str) -> str:
        del role, name
        return self._cluster.url

    async def kill(self) -> None:
        """kill -9 of the primary of one watcher's stream, and a move of another's slot meanwhile."""
        key = f"rw:led:{{w{self._chance.randrange(2)}/all}}"
        old = await asyncio.to_thread(self._cluster.owner, key)
        old.kill()
        await asyncio.to_thread(self._cluster.await_failover, old, key)
        await asyncio.to_thread(self._cluster.restore, old)

    async def pause(self) -> None:
        """Move the slot of one watcher's stream to another server, under load."""
        key = f"rw:led:{{w{self._chance.randrange(2)}/all}}"
        await asyncio.to_thread(self._move, key)

    async def flush(self) -> None:
        for node in self._cluster.nodes:
            if node.role() == "master":
                await asyncio.to_thread(node.client().flushall)

    def stop(self) -> None:
        self._cluster.stop()

    def _move(self, key: str) -> None:
        owner = self._cluster.owner(key)
        target = next(node for node in self._cluster.nodes if node is not owner and node.role() == "master")
        self._cluster.end_move(self._cluster.begin_move(key, target))


def _entries(node: Node) -> int:
    """How many findings were ever added to the streams of a server."""
    client = node.client()
    found = list(client.scan_iter(match="rw:ev:*", count=1000))
    return sum(int(client.xinfo_stream(key)["last-generated-id"].partition(b"-")[0]) for key in found)


STORES = {"one": Single, "power": Powerless, "sentinels": Guarded, "stale copy": Stale, "cluster": Sharded}
