"""The form that closes an incident, and asks what helped."""

from collections.abc import AsyncIterator

from diagnosis.incidents import Act
from handlers.acts import do_act
from handlers.command import Asked, Desk, Modal, Reply, Right, Say
from handlers.messages.modals import CLOSE, TEXT
from handlers.messages.pressed import changed


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The thread says who closed it and what helped; it opens again by itself when it comes back."""
    act = Act("resolve", asked.who.user, asked.values.get(TEXT, ""))
    said = changed(await do_act(desk.registry, asked.thread_incident or "", act))
    if said is not None:
        yield Say(said, is_private=True)


FORM = Modal(CLOSE, answer, Right.RESPOND)
