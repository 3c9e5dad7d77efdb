"""The button that confirms a stop: by the same person, within a minute; evidence first, then the launcher is told."""

from collections.abc import AsyncIterator

from handlers.command import Asked, Button, Desk, Reply, Right, Say, whisper
from handlers.find_run import named_run
from handlers.messages.snapshot import is_safe
from handlers.messages.stop import CONFIRM, not_safe, somebody_else, stopped, stopping, too_late
from handlers.snapshot import save
from handlers.stop_button import plans_of

STOP_SECONDS = 75.0
"""How long nodes may take to stop: torchrun alone gives its ranks thirty seconds."""


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Save the evidence of every node, then stop, then say what is left."""
    by, _, rest = asked.words.partition("/")
    until, _, name = rest.partition("/")
    if asked.who.user != by:
        yield whisper(somebody_else, by)
        return
    run = await named_run(desk, name)
    if not until.isdecimal() or await desk.registry.now() > float(until):
        yield whisper(too_late, run.name)
        return
    yield Say(stopping(run.name, by))
    taken = await save(desk, run, by, "before a stop", before_stop=True)
    if not is_safe(taken.saved, taken.silent):
        plans, _ = await plans_of(desk, run, "stop_plan", {}, desk.ask_deadline_seconds)
        yield Say(not_safe(run.name, taken.saved, taken.silent, plans))
        return
    plans, silent = await plans_of(desk, run, "stop", {"by": by, "note": "before a stop"}, STOP_SECONDS)
    yield Say(stopped(run.name, plans, silent, [node.path for node in taken.saved if node.path]))


BUTTON = Button(CONFIRM, answer, Right.OPERATE)
