"""The form of a note: a line for everybody who reads the thread, now or later."""

from collections.abc import AsyncIterator

from diagnosis.incidents import Act
from handlers.acts import do_act
from handlers.command import Asked, Desk, Modal, Reply, Right, Say
from handlers.messages.modals import NOTE, TEXT
from handlers.messages.pressed import changed


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The thread shows it, with who wrote it."""
    act = Act("note", asked.who.user, asked.values.get(TEXT, ""))
    said = changed(await do_act(desk.registry, asked.thread_incident or "", act))
    if said is not None:
        yield Say(said, is_private=True)


FORM = Modal(NOTE, answer, Right.ACKNOWLEDGE)
