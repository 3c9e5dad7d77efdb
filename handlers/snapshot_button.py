"""The button “Snapshot”: evidence of the incident's run, answered in its thread."""

from collections.abc import AsyncIterator

from handlers.command import Asked, Button, Desk, Reply, whisper
from handlers.find_incident import get_incident
from handlers.find_run import named_run
from handlers.messages.care import SNAPSHOT
from handlers.messages.incident import what
from handlers.messages.pressed import unknown_incident
from handlers.snapshot import LONGEST_NOTE, take


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The same as /snapshot, for the run of the thread; the note says what the incident is about."""
    kept = await get_incident(desk, asked.words) if asked.words else None
    if kept is None:
        yield whisper(unknown_incident)
        return
    run = await named_run(desk, kept.incident.run)
    async for reply in take(desk, run, asked, f"incident: {what(kept.incident.head)}"[:LONGEST_NOTE]):
        yield reply


BUTTON = Button(SNAPSHOT, answer)
