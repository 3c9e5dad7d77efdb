"""Incidents as the registry keeps them, each with the place of its thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diagnosis.incidents import Incident
from handlers.command import Desk
from registry import wire

MOST_CLOSED = 200
"""Newest incidents that are looked at for those that a person closed."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An incident as the registry keeps it, and where its thread is."""

    incident: Incident
    channel: str
    ts: str


def kept_of(fields: Mapping[str, Any] | None) -> Kept | None:
    """The incident in these fields; None: there is none, or another version wrote it."""
    try:
        incident = wire.build(Incident, (fields or {})["incident"])
    except (KeyError, TypeError, wire.Unreadable):
        return None
    return Kept(incident, str((fields or {}).get("channel") or ""), str((fields or {}).get("ts") or ""))


async def kept_of_run(desk: Desk, run: str) -> list[Kept]:
    """The newest incidents of a run, open or over."""
    found = (await desk.registry.incidents.of_run(run)).values()
    return [kept for fields in found if (kept := kept_of(fields)) is not None]


async def runs_in_trouble(desk: Desk) -> list[str]:
    """Runs of which an incident is open, the newest trouble first."""
    every = [kept_of(fields) for fields in (await desk.registry.incidents.all_open()).values()]
    opened = sorted((kept.incident for kept in every if kept is not None), key=lambda incident: -incident.opened_at)
    return list(dict.fromkeys(incident.run for incident in opened))


async def closed_by_people(desk: Desk) -> list[Incident]:
    """What people closed of late: it goes on to tell how its runs stand."""
    found = (await desk.registry.incidents.recent(MOST_CLOSED)).values()
    every = (kept_of(fields) for fields in found if not fields.get("is_open"))
    return [kept.incident for kept in every if kept is not None and kept.incident.resolved_by]
