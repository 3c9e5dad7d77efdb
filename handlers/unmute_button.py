"""The button “End it” beside a quiet in somebody's Home."""

from collections.abc import AsyncIterator

from handlers.command import Asked, Button, Desk, Reply, Right, whisper
from handlers.messages.home import UNMUTE
from handlers.messages.mutes import unmuted
from handlers.mutes import active_mutes


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The quiet is over; Home shows it."""
    mute = (await active_mutes(desk)).get(asked.words)
    is_gone = mute is not None and await desk.registry.mutes.remove(asked.words)
    if not is_gone:
        yield whisper(unmuted, asked.words, 0)


BUTTON = Button(UNMUTE, answer, Right.RESPOND)
