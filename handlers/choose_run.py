"""A run chosen in Home while typing its name: a window that says how it stands."""

from collections.abc import AsyncIterator

from handlers.command import Asked, Button, Desk, Reply, Right, opened
from handlers.find_run import named_run
from handlers.kept import kept_of
from handlers.messages.home import CHOOSE, run_card
from handlers.shown_runs import few_as_shown

MOST_INCIDENTS = 5


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The window."""
    (run,) = await few_as_shown(desk, [await named_run(desk, asked.words)])
    found = await desk.registry.incidents.of_run(run.name, MOST_INCIDENTS)
    kept = [one for fields in found.values() if (one := kept_of(fields)) is not None]
    yield opened(run_card, run, kept, await desk.registry.clock.estimate(), desk.workspace_url())


BUTTON = Button(CHOOSE, answer, Right.READ)
