"""A lease: of several processes that want to do one thing, one holder does it.

The holder counts its time on CLOCK_BOOTTIME, which goes on while the machine sleeps and never jumps, from the
moment *before* it asked. `allows` is the fence: whoever was paused past it must not act any more.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from registry import keys
from registry.door import Door
from registry.errors import Overtaken, RegistryAway

NEXT_SECONDS = 5.0
"""So long it holds what somebody says who waits for a lease; said anew each second."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

logger = logging.getLogger(__name__)


def boottime() -> float:
    """Return seconds since this machine booted, sleep included."""
    return time.clock_gettime(_CLOCK)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, precisely enough that a neighbour on the same machine can see whether it still lives."""

    name: str
    machine: str
    """Boot id and PID namespace: only inside the same one does the pid mean anything."""
    pid: int
    born: str
    """Start time of the process in ticks, so a reused pid is not taken for the holder."""
    nonce: str

    @classmethod
    def this_process(cls, name: str) -> "Holder":
        """Return this process as a holder."""
        pid = os.getpid()
        return cls(name, _machine(), pid, _born(pid), secrets.token_hex(8))

    def __str__(self) -> str:
        return "|".join((self.name.replace("|", "/"), self.machine, str(self.pid), self.born, self.nonce))

    @classmethod
    def parse(cls, text: str) -> "Holder | None":
        """Read what `str` wrote; None: something else stands there."""
        try:
            name, machine, pid, born, nonce = text.split("|")
            return cls(name, machine, int(pid), born, nonce)
        except ValueError:
            return None

    def is_surely_dead(self) -> bool:
        """True when this very machine shows that the holder has ended; False also when we cannot know."""
        if not self.machine or self.machine != _machine():
            return False
        return _born(self.pid) != self.born


class Lease:
    """One lease as this process sees it."""

    def __init__(self, door: Door, name: str, ttl_seconds: float = 30.0) -> None:
        self._door = door
        self._key, self._next = keys.lease(name), keys.lease(f"{name}-next")
        self._me = Holder.this_process(socket.gethostname())
        self.ttl_seconds = ttl_seconds
        self._until = 0.0

    @property
    def is_held(self) -> bool:
        """True while the lease is surely ours."""
        return boottime() < self._until

    def allows(self, seconds: float = 0.0) -> bool:
        """Return True when an act that takes at most so many seconds ends while the lease is surely ours."""
        return boottime() + seconds < self._until

    async def take(self) -> bool:
        """Take the lease or renew it; False: another holds it."""
        asked = boottime()
        try:
            taken = await self._take()
        except Overtaken:
            taken = False
        self._until = asked + self.ttl_seconds if taken else 0.0
        return taken

    async def confirm(self, seconds: float = 0.0) -> bool:
        """Ask the registry whether the lease is still ours, for an act of at most so many seconds.

        Right before an act that must not happen twice: it also notices that Redis was emptied and another took it.
        """
        stands = await self._door.call("GET", self._key)
        if stands is None or stands.decode("utf-8", "replace") != str(self._me):
            self._until = 0.0
        return self.allows(seconds)

    async def release(self) -> None:
        """Give the lease back, so that the next one need not wait."""
        self._until = 0.0
        with contextlib.suppress(Overtaken):
            async with self._door.watching(self._key) as look:
                if await look.read("GET", self._key) == str(self._me).encode():
                    await look.commit([("DEL", self._key)])

    async def keep(self, is_able: Callable[[], bool] = lambda: True) -> None:
        """Renew for as long as this runs: a task of its own, three times per ttl; waits and takes when it is free.

        Who is not able to do what the lease is for leaves it to another one who waits for it; alone it keeps trying.
        """
        while True:
            with contextlib.suppress(RegistryAway):
                await self._keep_on(is_able=is_able())
            await asyncio.sleep(self.ttl_seconds / 3 if self.is_held else min(1.0, self.ttl_seconds / 5))

    async def _keep_on(self, *, is_able: bool) -> None:
        if not is_able and await self._has_heir():
            if self.is_held:
                logger.warning("This process cannot do what its lease is for; it is left to another one that waits.")
                await self.release()
        elif not await self.take() and is_able:
            await self._door.call("SET", self._next, str(self._me), "PX", int(NEXT_SECONDS * 1000))

    async def _has_heir(self) -> bool:
        """Whether another one said just now that it waits and is able."""
        return await self._door.call("GET", self._next) not in (None, str(self._me).encode())

    async def holder(self) -> str | None:
        """Return the name of whoever holds it."""
        stands = await self._door.call("GET", self._key)
        found = Holder.parse(stands.decode("utf-8", "replace")) if stands else None
        return found.name if found else None

    async def _take(self) -> bool:
        ttl_ms = int(self.ttl_seconds * 1000)
        mine = str(self._me)
        if await self._door.call("SET", self._key, mine, "NX", "PX", ttl_ms):
            return True
        async with self._door.watching(self._key) as look:
            stands = (await look.read("GET", self._key) or b"").decode("utf-8", "replace")
            other = Holder.parse(stands)
            if stands != mine and not (other is not None and other.is_surely_dead()):
                return False
            await look.commit([("SET", self._key, mine, "PX", ttl_ms)])
            return True


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _born(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if status[0] in "ZX" else status[19]
    except (OSError, IndexError):
        return ""
