"""The buttons and the menu below /runs: another page, another order, in the same message."""

from collections.abc import AsyncIterator

from handlers.command import Asked, Button, Desk, Reply, Right, Say
from handlers.messages.runs import TURN, runs_answer
from handlers.run_list import listing_of
from handlers.runs import look


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The list as it is now, turned to that page."""
    page, incidents, now = await look(desk, listing_of(asked.words))
    yield Say(runs_answer(page, incidents, now), replaces=True)


BUTTON = Button(TURN, answer, Right.READ)
