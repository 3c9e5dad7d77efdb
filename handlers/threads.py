"""Which incident a thread belongs to."""

from handlers.command import Desk

RECENT = 300


async def incident_of_thread(desk: Desk, channel: str, ts: str) -> tuple[str, str] | None:
    """The incident whose root this is, and its run; None: it is no thread of ours."""
    found = await desk.registry.incidents.all_open()
    for incidents in (found, None):
        known = incidents if incidents is not None else await desk.registry.incidents.recent(RECENT)
        for name, fields in known.items():
            if fields.get("ts") == ts and fields.get("channel") == channel:
                return name, str(fields.get("run", ""))
    return None
