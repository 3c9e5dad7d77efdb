"""Is this Redis safe for our data? Asked at the start, and again and again while we run: settings change.

Replicas are asked too: after a failover one of them is the primary, with settings of its own.
"""

from collections.abc import Mapping
from typing import Any, Final

from registry.address import Form
from registry.door import Door
from registry.errors import Refused

EVICTING: Final = ("allkeys", "volatile")
NEARLY_FULL: Final = 0.9


class Safety:
    """Looks at how Redis is set up."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def check(self) -> list[str]:
        """Return warnings in words; raises Refused when Redis may drop our data by policy, RegistryAway when away."""
        warnings = []
        memory = await self._info("memory")
        if not memory or any("maxmemory_policy" not in said for said in memory.values()):
            warnings.append(
                "We may not ask Redis for its memory policy (INFO is not allowed for our user). It must be noeviction:"
                " any other lets Redis drop findings without a word."
            )
        _refuse_eviction(memory)
        persistence = await self._info("persistence")
        for server, said in persistence.items():
            # A server that still reads its file has not opened it for writing yet.
            if str(said.get("aof_enabled", "1")) == "0" and str(said.get("loading", "0")) == "0":
                warnings.append(
                    f"{_named(server, persistence)} keeps no append-only file: if it restarts, series, incidents and"
                    " mutes are gone. Findings are sent again from the nodes' own spools. Set appendonly yes."
                )
        warnings += _failing(persistence).values()
        if self._door.address.form is Form.SENTINEL and len(memory) == 1:
            warnings.append("Redis has no replica that answers: the sentinels have nobody to put in its place.")
        if not self._door.address.is_checked:
            warnings.append("Nobody checks the certificate of Redis (ssl_cert_reqs=none): anybody may answer for it.")
        return warnings

    async def problems(self) -> dict[str, str]:
        """Return what became unsafe while we run, in words: what is the matter → sentence."""
        memory = await self._info("memory")
        problems = _failing(await self._info("persistence"))
        try:
            _refuse_eviction(memory)
        except Refused as unsafe:
            problems["policy"] = str(unsafe)
        for server, said in memory.items():
            used, most = int(said.get("used_memory", 0)), int(said.get("maxmemory", 0))
            if most and used > NEARLY_FULL * most:
                problems[f"memory of {server}"] = (
                    f"{_named(server, memory)} holds {used >> 20:,} of {most >> 20:,} MiB. When it is full, findings"
                    " wait on the nodes and numbers are lost. `runwatch registry size` shows what fills it."
                )
        return problems

    async def _info(self, section: str) -> Mapping[str, Mapping[str, Any]]:
        try:
            return await self._door.everywhere("INFO", section)
        except Refused:
            return {}


def _refuse_eviction(memory: Mapping[str, Mapping[str, Any]]) -> None:
    for server, said in memory.items():
        policy = str(said.get("maxmemory_policy", ""))
        if policy.startswith(EVICTING):
            raise Refused(
                f"{_named(server, memory)} runs with maxmemory-policy {policy}: when memory is short it would drop"
                " findings and series without a word. Set it to noeviction (CONFIG SET maxmemory-policy noeviction) or"
                " give us a Redis of our own."
            )


def _failing(persistence: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    problems = {}
    for server, said in persistence.items():
        if str(said.get("aof_last_write_status", "ok")) != "ok":
            problems[f"append-only file of {server}"] = (
                f"{_named(server, persistence)} cannot write its append-only file: its disk is full or failing."
            )
    return problems


def _named(server: str, among: Mapping[str, Any]) -> str:
    return "Redis" if len(among) == 1 else f"Redis at {server}"
