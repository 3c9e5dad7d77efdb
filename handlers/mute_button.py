"""The button “Mute 1 h”: this trouble of this run is quiet for an hour."""

from collections.abc import AsyncIterator

from diagnosis.incidents import Mute
from handlers.command import Asked, Button, Desk, Reply, whisper
from handlers.messages.care import MUTE
from handlers.messages.mutes import muted
from handlers.messages.pressed import over, unknown_incident
from handlers.mutes import DEFAULT_SECONDS, add_mute


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The root shows until when, and who asked."""
    fields = await desk.registry.incidents.get(asked.words) if asked.words else None
    if fields is None:
        yield whisper(unknown_incident)
        return
    if not fields.get("is_open"):
        yield whisper(over)
        return
    now = await desk.registry.now()
    mute = Mute(str(fields["run"]), now + DEFAULT_SECONDS, asked.who.user, str(fields.get("trouble") or ""))
    await add_mute(desk, mute)
    yield whisper(muted, mute, now)


BUTTON = Button(MUTE, answer)
