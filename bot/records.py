"""An incident as it stands in the registry: what people have been shown, and where."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diagnosis.incidents import Incident
from registry import Registry, wire

NO_CHART, WANTED, SHOWN, MISSING = "none", "wanted", "shown", "missing"


@dataclass(frozen=True, slots=True)
class Record:
    """One incident, its thread, and what is still to be done for it."""

    incident: Incident
    channel: str | None = None
    ts: str | None = None
    is_dirty: bool = False
    """The root does not show the newest state yet."""
    chart: str = NO_CHART
    """none, wanted, shown, missing."""
    has_called: bool = False
    """Whether people were called (`@here`) for it; that is done once."""
    is_guest: bool = False
    """Its thread is one that a forgotten incident had opened: that root tells of more, and is left as it is."""


async def save(registry: Registry, record: Record, *, is_new: bool = False) -> None:
    """Write what was shown; doing it twice is harmless.

    Only a new record says what becomes of its chart.
    """
    incident = record.incident
    fields: dict[str, Any] = {
        "trouble": incident.trouble,
        "severity": incident.severity,
        "state": incident.state,
        "headline": incident.head.text,
        "opened_at": incident.opened_at,
        "resolved_at": incident.resolved_at,
        "owner": incident.acknowledged_by,
        "channel": record.channel,
        "ts": record.ts,
        "is_dirty": record.is_dirty,
        "has_called": record.has_called,
        "is_guest": record.is_guest,
        "incident": wire.plain(incident),
    } | ({"chart": record.chart} if is_new else {})
    timeline = {entry.event: wire.plain(entry) for entry in incident.entries}
    await registry.incidents.save(incident.id, incident.run, fields, is_open=incident.is_open, timeline=timeline)


async def save_chart(registry: Registry, record: Record, chart: str) -> None:
    """Write what became of the chart."""
    await registry.incidents.amend(record.incident.id, {"chart": chart})


def read(fields: Mapping[str, Any]) -> Record | None:
    """The record in these fields; None: it cannot be read (another version wrote it)."""
    try:
        incident = wire.build(Incident, fields["incident"])
    except (KeyError, TypeError, wire.Unreadable):
        return None
    channel, ts = fields.get("channel"), fields.get("ts")
    return Record(
        incident,
        str(channel) if channel else None,
        str(ts) if ts else None,
        is_dirty=bool(fields.get("is_dirty")),
        chart=str(fields.get("chart") or NO_CHART),
        has_called=bool(fields.get("has_called")),
        is_guest=bool(fields.get("is_guest")),
    )
