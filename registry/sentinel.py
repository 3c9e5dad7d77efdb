"""The primary that the sentinels name: all are asked at once, and the newest word counts.

Asked again when the primary is lost or turns out to be none, and every two seconds of use besides: a primary that
was cut off from the others goes on taking writes that nobody will ever see.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from redis import exceptions as answers

from registry.address import Address
from registry.errors import Refused
from registry.naming import BROKEN
from registry.server import Place, Server, ask_plainly, line

ASK_SECONDS: Final = 1.0
REST_SECONDS: Final = 0.1
"""Once a majority has answered, so long the others may add a newer word."""
LOOK_EVERY_SECONDS: Final = 2.0


class Sentinels:
    """Finds the primary by its sentinels."""

    def __init__(
        self, address: Address, make: Callable[[Place], Server], make_sentinel: Callable[[Place], Server]
    ) -> None:
        self.changes = 0
        self._service = address.service
        self._make = make
        self._sentinels = [make_sentinel(place) for place in address.hosts]
        self._primary: Server | None = None
        self._is_lost = True
        self._looked_at = 0.0
        self._look_lock = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    async def server_for(self, key: str) -> Server:  # noqa: ARG002 - the primary keeps every key
        """Return the primary."""
        if self._primary is None:
            await self._look()
        elif self._is_lost:
            # Without any sentinel the primary may still come back where it was.
            with contextlib.suppress(*BROKEN):
                await self._look()
        elif time.monotonic() - self._looked_at > LOOK_EVERY_SECONDS and self._looking is None:
            # In passing: nobody waits for it.
            self._looking = asyncio.create_task(self._look_again())
        assert self._primary is not None  # `_look` found one or raised
        return self._primary

    async def redirected(self, answer: Any, server: Server) -> Server | None:
        """Refuse a redirect: a person must put the address right."""
        del server
        raise Refused("This Redis is a server of a Cluster: its address begins with redis+cluster://.") from answer

    async def lost(self, server: Server) -> None:
        """Ask the sentinels before the next call."""
        self.changes += 1
        if server is self._primary:
            self._is_lost = True

    async def everyone(self) -> Sequence[Server]:
        """Return the primary and the replicas that the sentinels know."""
        primary = await self.server_for("")
        found = [primary]
        for said in await self._ask_all("REPLICAS"):
            found += [self._make(place) for one in said if (place := _place(_pairs(one))) is not None]
            break
        return found

    async def aclose(self) -> None:
        """Close all connections."""
        if self._looking is not None:
            self._looking.cancel()
        for server in (*self._sentinels, *([self._primary] if self._primary else ())):
            await server.aclose()

    async def _look_again(self) -> None:
        try:
            await self._look()
        except (*BROKEN, answers.RedisError, Refused):
            # The sentinels are away or at odds; as long as the primary serves us, that is not our trouble.
            self._looked_at = time.monotonic()
        finally:
            self._looking = None

    async def _look(self) -> None:
        asked = time.monotonic()
        async with self._look_lock:
            if self._looked_at > asked:
                return
            place = await self._ask_for_primary()
            self._looked_at, self._is_lost = time.monotonic(), False
            old = self._primary
            if old is None or old.place != place:
                self._primary = self._make(place)
                self.changes += old is not None
                if old is not None:
                    # Whoever still waits there would wait in vain.
                    await old.aclose()

    async def _ask_for_primary(self) -> Place:
        said = [_pairs(one) for one in await self._ask_all("MASTER")]
        newest = max(said, key=lambda one: int(one.get("config-epoch", "0")))
        place = _place(newest)
        if place is None:
            raise answers.ConnectionError("the sentinels name no primary yet")
        return place

    async def _ask_all(self, what: str) -> list[Any]:
        """Ask every sentinel; the answers of a majority, and of whoever is as quick."""
        waiting = {asyncio.create_task(self._ask(one, what)) for one in self._sentinels}
        said: list[Any] = []
        got: list[BaseException] = []
        while waiting:
            is_enough = len(said) > len(self._sentinels) // 2
            done, waiting = await asyncio.wait(
                waiting, timeout=REST_SECONDS if is_enough else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                problem = task.exception()
                said += [] if problem else [task.result()]
                got += [problem] if problem else []
            if is_enough and not done:
                break
        for task in waiting:
            task.cancel()
        if said:
            return said
        refused = next((one for one in got if isinstance(one, answers.ResponseError)), None)
        if refused is not None and "No such master" in str(refused):
            raise Refused(
                f"The sentinels know no {self._service}: the name after the last / of the address is another."
            )
        raise got[0]

    async def _ask(self, sentinel: Server, what: str) -> Any:
        try:
            async with asyncio.timeout(ASK_SECONDS), line(sentinel.quick) as connection:
                [said] = await ask_plainly(connection, [("SENTINEL", what, self._service)])
        except TimeoutError:
            raise answers.TimeoutError(f"the sentinel at {sentinel} does not answer") from None
        if isinstance(said, Exception):
            raise said
        return said


def _pairs(said: Sequence[bytes]) -> Mapping[str, str]:
    words = [word.decode("utf-8", "replace") for word in said]
    return dict(zip(words[::2], words[1::2], strict=False))


def _place(one: Mapping[str, str]) -> Place | None:
    host, port = one.get("ip", ""), one.get("port", "")
    return (host, int(port)) if host and port.isdigit() and port != "0" else None
