"""Incidents as the bot keeps them: life cycle, thread, timeline. The tracker decides; this only remembers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Door

KEPT_DAYS = 90
AT_ONCE = 40
"""So many incidents are in memory at once where hundreds are looked through."""


class Incidents:
    """The door to incidents."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock

    async def save(
        self,
        incident_id: str,
        run: str,
        fields: Mapping[str, Any],
        *,
        is_open: bool = True,
        timeline: Mapping[str, Any] | None = None,
    ) -> None:
        """Write fields of an incident (others stay) and entries of its timeline, keyed by finding ids.

        It stands among the unfinished ones from now on, until `finish`: one that is over may still have to be told.
        Saving the same again changes nothing. An entry of the timeline that is there already stays as it is.
        """
        now = await self._clock.estimate()
        key, story = keys.incident(incident_id), keys.incident(incident_id, "timeline")
        pairs: list[str | bytes] = ["run", wire.dump(run), "is_open", wire.dump(is_open), "saved_at", wire.dump(now)]
        for name, value in fields.items():
            pairs += [name, wire.dump(value)]
        commands: list[Sequence[Any]] = [("HSET", key, *pairs)]
        commands += [("HSETNX", story, entry, wire.dump(what)) for entry, what in (timeline or {}).items()]
        life = ("PERSIST",) if is_open else ("EXPIRE", KEPT_DAYS * keys.DAY)
        commands += [(life[0], each, *life[1:]) for each in (key, story)]
        # The index first: an entry without its incident is skipped by readers, an incident without entry is lost.
        index = keys.run(run, "incidents")
        await self._door.many(
            [
                ("ZADD", keys.INCIDENTS, now, incident_id),
                ("ZREMRANGEBYSCORE", keys.INCIDENTS, "-inf", now - KEPT_DAYS * keys.DAY),
                ("ZADD", keys.OPEN_INCIDENTS, "NX", now, incident_id),
                ("ZADD", index, "NX", now, incident_id),
            ]
        )
        await self._door.together(commands)

    async def finish(self, incident_ids: Sequence[str]) -> None:
        """Say of incidents that they are over and all of it was told."""
        if incident_ids:
            await self._door.call("ZREM", keys.OPEN_INCIDENTS, *incident_ids)

    async def amend(self, incident_id: str, fields: Mapping[str, Any]) -> None:
        """Write fields of an incident that is there already, and nothing of its life: open, over, finished or not."""
        key = keys.incident(incident_id)
        if await self._door.call("EXISTS", key):
            await self._door.call(
                "HSET", key, *(part for name, value in fields.items() for part in (name, wire.dump(value)))
            )

    async def get(self, incident_id: str) -> dict[str, Any] | None:
        """Return the fields of an incident, or None."""
        return _fields(await self._door.call("HGETALL", keys.incident(incident_id)))

    async def timeline(self, incident_id: str) -> dict[str, Any]:
        """Return an incident's timeline: finding id → entry, in no order."""
        return _fields(await self._door.call("HGETALL", keys.incident(incident_id, "timeline"))) or {}

    async def open_of(self, run: str) -> dict[str, dict[str, Any]]:
        """Return the open incidents of a run: id → fields."""
        found = await self.of_run(run)
        return {incident_id: fields for incident_id, fields in found.items() if fields.get("is_open")}

    async def of_run(self, run: str, limit: int = 200) -> dict[str, dict[str, Any]]:
        """Return the newest incidents of a run: id → fields."""
        return await self._read(await self._door.call("ZREVRANGE", keys.run(run, "incidents"), 0, limit - 1))

    async def all_open(self) -> dict[str, dict[str, Any]]:
        """Return every open incident: id → fields."""
        return {
            incident_id: fields for incident_id, fields in (await self.unfinished()).items() if fields.get("is_open")
        }

    async def unfinished(self) -> dict[str, dict[str, Any]]:
        """Return every incident that is open, or of which something is still to be said: id → fields."""
        return await self._read(await self._door.call("ZRANGE", keys.OPEN_INCIDENTS, 0, -1))

    async def recent(self, limit: int = 50) -> dict[str, dict[str, Any]]:
        """Return the incidents that changed last: id → fields."""
        return await self._read(await self._door.call("ZREVRANGE", keys.INCIDENTS, 0, limit - 1))

    async def newest(self, run: str, of_run: int, of_all: int) -> AsyncIterator[dict[str, dict[str, Any]]]:
        """Yield the newest incidents of a run and then of all runs, some at a time: id → fields.

        Hundreds at once are megabytes, and a process that needed them once never gets all of them back.
        """
        own = await self._door.call("ZREVRANGE", keys.run(run, "incidents"), 0, of_run - 1)
        ids = list(dict.fromkeys([*own, *await self._door.call("ZREVRANGE", keys.INCIDENTS, 0, of_all - 1)]))
        for at in range(0, len(ids), AT_ONCE):
            yield await self._read(ids[at : at + AT_ONCE])

    async def _read(self, ids: Sequence[bytes]) -> dict[str, dict[str, Any]]:
        names = [incident_id.decode() for incident_id in ids]
        found = await self._door.many([("HGETALL", keys.incident(name)) for name in names])
        read = {name: _fields(fields) for name, fields in zip(names, found, strict=True)}
        return {name: fields for name, fields in read.items() if fields is not None}


def _fields(found: Mapping[bytes, bytes]) -> dict[str, Any] | None:
    if not found:
        return None
    fields = {}
    for name, data in found.items():
        try:
            fields[name.decode("utf-8", "replace")] = wire.load(data)
        except wire.Unreadable:
            continue
    return fields
