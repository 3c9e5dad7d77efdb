"""What is said beside a report."""

from collections.abc import Sequence

from diagnosis.incidents import Incident
from handlers.messages.blocks import Message, message
from handlers.messages.phrase import number_of, say


def report_answer(run: str, incidents: Sequence[Incident], *, only: bool) -> Message:
    """What is in the two files."""
    if only:
        return message(say("The report of this incident of *{run}*, as HTML with charts and as Markdown:", run=run))
    count = number_of(len(incidents), "{n} incident", "{n} incidents")
    return message(say("The report of *{run}* ({count}), as HTML with charts and as Markdown:", run=run, count=count))
