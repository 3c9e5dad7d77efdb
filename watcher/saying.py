"""What a watcher says on stderr to whoever started it: what it follows, and when its registry is away.

Once at the start and again when it changes, never more: this is for a person at a terminal or in a journal.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from diagnosis.own_words import NAME_THEM
from diagnosis.redaction import mask
from watcher.plain_logging import escaped

MOST_PATTERNS = 3
MOST_SAMPLE = 200


def to_stderr(text: str) -> None:
    """One line for the person; a closed terminal is no reason to stop."""
    try:
        sys.stderr.write(f"runwatch: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


class Saying:
    """Remembers what was said, so that nothing is said twice."""

    def __init__(self, place: str, kept_in: Path, say: Callable[[str], None] = to_stderr) -> None:
        self._place = place
        self._kept_in = kept_in
        self._write = say
        self._said_files: dict[str, int] = {}
        self._seen_files: dict[str, int] = {}
        self._is_away = False
        self._told_unread: set[str] = set()
        self._told_read: dict[str, bool] = {}

    def follows(self, run: str, patterns: Sequence[str], files: int, problems: Iterable[str]) -> None:
        """How many files a run has now; a count that still moves is waited for."""
        problems = list(problems)
        if not files and not problems:
            return  # nobody has looked yet
        is_settled, self._seen_files[run] = self._seen_files.get(run) == files, files
        if not is_settled or self._said_files.get(run) == files:
            return
        self._said_files[run] = files
        if files:
            self._say(f"watching {files:,} file{'' if files == 1 else 's'} as {run} (pattern {_named(patterns)})")
        else:
            self._say(f"{run}: {problems[0]}; looking again every second")

    def unread(self, run: str, sample: str | None) -> None:
        """A line of a run whose log told no step and no loss so far, and the way to have it read."""
        if sample is not None and run not in self._told_unread:
            self._told_unread.add(run)
            self._say(f"{run}: no line tells a step or a loss so far, such as this one: {sample[:MOST_SAMPLE]}")
            self._say(f"{run}: {NAME_THEM}")

    def reads(self, run: str, dialect: str | None, step: int | None, loss: float | None) -> None:
        """The first step and the first loss that a run's log told: who started us sees that it is read rightly."""
        has_loss = loss is not None
        if step is None or run not in self._said_files or self._told_read.get(run) in {has_loss, True}:
            return
        self._told_read[run] = has_loss
        tells = f"loss {loss:.4g}" if loss is not None else "no loss on its lines so far"
        self._say(f"{run}: its lines are read{f' ({dialect})' if dialect else ''}: step {step:,}, {tells}")

    def registry(self, problem: str | None, *, has_spool: bool) -> None:
        """Whether Redis answers; None: it does."""
        if (problem is not None) == self._is_away:
            return
        self._is_away = problem is not None
        if problem is None:
            self._say(f"Redis at {self._place} answers again; what was kept is on its way")
            return
        kept = f"kept in {self._kept_in}" if has_spool else "kept in memory (the state folder takes no writes)"
        self._say(f"Redis at {self._place} does not answer ({problem.rstrip('.')}): findings are {kept} until it does")

    def _say(self, text: str) -> None:
        self._write(escaped(mask(text).text))


def _named(patterns: Sequence[str]) -> str:
    more = f" and {len(patterns) - MOST_PATTERNS} more" if len(patterns) > MOST_PATTERNS else ""
    return ", ".join(patterns[:MOST_PATTERNS]) + more
