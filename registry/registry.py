"""The registry: everything Runwatch keeps in Redis, behind one object."""

from typing import TYPE_CHECKING

from registry import keys
from registry.audit import Audit
from registry.broom import Broom
from registry.clock import RegistryClock
from registry.dead_letters import DeadLetters
from registry.door import CALL_SECONDS, Door
from registry.events import Events
from registry.heartbeats import Heartbeats
from registry.incidents import Incidents
from registry.lease import Lease
from registry.ledger import Ledger
from registry.mutes import Mutes
from registry.notebook import Notebook
from registry.ranks import Ranks
from registry.requests import Requests
from registry.runs import Runs
from registry.safety import Safety
from registry.seen import Seen
from registry.series import SeriesDoor
from registry.signing import Signing
from registry.upkeep import Upkeep

if TYPE_CHECKING:
    from registry.inspection import Inspection


class Registry:
    """One process's door to Redis. `connect` makes one; nothing is sent before the first call."""

    def __init__(self, door: Door, signing: Signing | None = None, audit_key: str = "") -> None:
        self._door = door
        self.clock = RegistryClock(door)
        self.runs = Runs(door, self.clock)
        self.series = SeriesDoor(door)
        self.ranks = Ranks(door)
        self.heartbeats = Heartbeats(door, self.clock)
        self.events = Events(door, self.clock)
        self.ledger = Ledger(door, self.clock)
        self.incidents = Incidents(door, self.clock)
        self.mutes = Mutes(door)
        self.routes = Notebook(door, keys.ROUTES)
        self.digests = Notebook(door, keys.DIGESTS)
        self.languages = Notebook(door, keys.LANGUAGES)
        self.audit = Audit(door, self.clock, audit_key)
        self.requests = Requests(door, self.clock, signing)
        self.seen = Seen(door)
        self._safety = Safety(door)
        self.broom = Broom(
            door, self.clock, runs=self.runs, ledger=self.ledger, heartbeats=self.heartbeats, mutes=self.mutes
        )
        self.upkeep = Upkeep(self._safety, self.broom, self.events, self.ledger)

    @property
    def inspection(self) -> "Inspection":
        """What people who look inside need; no process that serves loads it."""
        from registry.inspection import Inspection  # noqa: PLC0415

        return Inspection(
            self._door,
            runs=self.runs,
            series=self.series,
            ranks=self.ranks,
            heartbeats=self.heartbeats,
            incidents=self.incidents,
            ledger=self.ledger,
            dead=DeadLetters(self._door, self.clock),
        )

    def lease(self, name: str, ttl_seconds: float = 30.0) -> Lease:
        """Return a lease of that name; `take` or `keep` it."""
        return Lease(self._door, name, ttl_seconds)

    async def now(self) -> float:
        """Return the registry's time (Unix seconds), asked now."""
        return await self.clock.now()

    async def check(self) -> list[str]:
        """Return warnings in words; raises Refused when Redis may drop our data by policy, RegistryAway when away."""
        return await self._safety.check()

    async def aclose(self) -> None:
        """Close all connections."""
        await self.events.aclose()
        await self._door.aclose()


def connect(
    url: str,
    name: str = "runwatch",
    *,
    call_seconds: float = CALL_SECONDS,
    request_key: str = "",
    audit_key: str = "",
) -> Registry:
    """Return a registry at this address, in any of the forms of `registry.address`. No I/O yet.

    `name` shows in Redis' list of clients; every call ends within `call_seconds`. With `request_key` what nodes are
    asked is signed, and a watcher takes nothing else; with `audit_key` the audit is chained under it.
    """
    door = Door(url, _client_name(name), call_seconds=call_seconds)
    return Registry(door, Signing(request_key) if request_key else None, audit_key)


def _client_name(name: str) -> str:
    return "runwatch-" + "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
