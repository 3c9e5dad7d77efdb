"""`/runwatch patience RUN [stall=30m first=2h phase=1h]`: how long a run may stand before somebody is called."""

from collections.abc import AsyncIterator

from handlers.arguments import WrongWords, first_name
from handlers.command import Asked, Desk, Reply, Right, Say, opened, whisper
from handlers.find_run import find_run
from handlers.messages.patience import patience_answer, patience_form
from handlers.patience import FACT, patience_of, read_patience
from handlers.subjects.subject import Subject


async def patience(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """With limits: set them. Without: a form where one can open, else what holds."""
    name, rest = first_name(asked.words)
    if "=" in name.partition(" ")[0]:
        name, rest = "", asked.words
    words = [word.strip("`*") for word in rest.split()]
    run = await find_run(desk, asked, name or None)
    if not words:
        holds = patience_of(run)
        if asked.how == "command":
            yield opened(patience_form, run.name, holds, asked.channel)
        else:
            yield whisper(patience_answer, run.name, holds)
        return
    told = {}
    for word in words:
        limit, has_value, value = word.partition("=")
        if not has_value:
            raise WrongWords("Limits are set so: `stall=30m first=2h phase=1h`; `stall=` takes one back.")
        told[limit.lower()] = value
    wanted = {**patience_of(run), **read_patience(told)}
    wanted = {limit: seconds for limit, seconds in wanted.items() if told.get(limit, "x").strip()}
    await desk.registry.runs.update(run.name, **{FACT: wanted})
    yield Say(patience_answer(run.name, wanted, is_new=True))


SUBJECTS = (Subject("patience", "RUN [stall=30m first=2h phase=1h]", "how long it may stand", patience, Right.OPERATE),)
