"""The button “I have it”: reminders stop, news still comes."""

from collections.abc import AsyncIterator

from handlers.acts import ask_announcer
from handlers.command import Asked, Button, Desk, Reply, Right, Say
from handlers.messages.care import ACKNOWLEDGE
from handlers.messages.pressed import acknowledged


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The root shows who has it; a second person is told who was first."""
    payload = {"incident": asked.words, "by": asked.who.user}
    done = await ask_announcer(desk.registry, "acknowledge", payload)
    said = acknowledged(done, asked.who.user)
    if said is not None:
        yield Say(said, is_private=True)


BUTTON = Button(ACKNOWLEDGE, answer, Right.ACKNOWLEDGE)
