"""`/runwatch thresholds RUN [jump=0.5 spike=8 …]`: from when on a run's numbers are called wrong."""

from collections.abc import AsyncIterator

from handlers.arguments import WrongWords, first_name
from handlers.command import Asked, Desk, Reply, Right, opened, whisper
from handlers.find_run import find_run
from handlers.limits import SETTABLE, limits_of, read_limits
from handlers.limits_form import said
from handlers.messages.limits import EXAMPLE, limits_answer, limits_form
from handlers.subjects.subject import Subject


async def thresholds(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """With values: set them. Without: a form where one can open, else what holds."""
    name, rest = first_name(asked.words)
    if "=" in name.partition(" ")[0]:
        name, rest = "", asked.words
    words = [word.strip("`*") for word in rest.split()]
    run = await find_run(desk, asked, name or None)
    holds = limits_of(run)
    if not words:
        if asked.how == "command":
            yield opened(limits_form, run.name, holds, desk.thresholds, asked.channel)
        else:
            yield whisper(limits_answer, run.name, holds, desk.thresholds)
        return
    told = {}
    for word in words:
        limit, has_value, value = word.partition("=")
        if not has_value:
            raise WrongWords(f"Thresholds are set so: `{EXAMPLE}`; `jump=` takes one back.")
        told[limit.lower()] = value
    wanted = {**holds, **read_limits(told)}
    gone = {SETTABLE[word] for word, value in told.items() if not value.strip()}
    async for reply in said(desk, run, {name: value for name, value in wanted.items() if name not in gone}):
        yield reply


SUBJECTS = (
    Subject(
        "thresholds",
        f"RUN [{EXAMPLE}]",
        "from when on its numbers are called wrong",
        thresholds,
        Right.OPERATE,
    ),
)
