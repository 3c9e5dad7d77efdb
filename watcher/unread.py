"""Logs of a run in which no line told a step or a loss: a person may have to name the words."""

from diagnosis.own_words import ENOUGH_LINES, sample_of
from watcher.run_watch import RunWatch
from watcher.saying import Saying


def unread_line(run: RunWatch) -> str | None:
    """A line that may tell a loss in words of its own, where a log of some length told no step and no loss."""
    if run.dialect is not None or run.reporting.progress.facts.get("last_step") is not None:
        return None
    for reader in run.reading.readers():
        if reader.lines >= ENOUGH_LINES:
            for rank in (None, *sorted(reader.ranks)[:1]):
                line = sample_of(reader.recent_lines(rank))
                if line is not None:
                    return line
    return None


def say_how_it_reads(saying: Saying, run: RunWatch) -> None:
    """The first step and loss that were read, or a line of which nothing was."""
    facts, name = run.reporting.progress.facts, run.run.name
    saying.reads(name, run.dialect, facts.get("last_step"), facts.get("last_loss"))
    saying.unread(name, unread_line(run))
