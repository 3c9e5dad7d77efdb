"""`/runwatch report RUN`: the post-mortem as two files."""

from collections.abc import AsyncIterator

from handlers.arguments import read_arguments
from handlers.command import Asked, Desk, Reply, Right
from handlers.find_run import find_run
from handlers.reports.making import make_report
from handlers.subjects.subject import Subject


async def report(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Timeline, evidence, what was done and by whom, with charts."""
    given = read_arguments(asked.words)
    run = await find_run(desk, asked, given.names[0] if given.names else None)
    async for reply in make_report(desk, run):
        yield reply


SUBJECTS = (Subject("report", "RUN", "what happened, as HTML with charts and as Markdown", report, Right.READ),)
