"""Which run a person means: the one named, the thread's own, or the only one there is."""

from collections.abc import Sequence
from contextlib import suppress

from diagnosis.errors import Mistake
from handlers.arguments import TooManyNames
from handlers.command import Asked, Desk
from handlers.kept import runs_in_trouble
from handlers.shown_runs import few_as_shown
from registry import Run, UnknownRun
from registry.errors import RegistryError, near_names

MOST_NAMED = 5
MOST_COUNTED = 1000
"""Runs that are counted where only a few are named."""
BETWEEN = ("", "-", "_", ".", " ")
"""What people leave out, or put in, between the words of a run's name."""


class NoSuchRun(Mistake):
    """Nobody registered that run; the near ones are given with what they do."""

    def __init__(self, name: str, near: tuple[Run, ...], known: tuple[str, ...]) -> None:
        self.name = name
        self.near = near
        self.known = known
        super().__init__(f"No run {name}.")


class WhichRun(Mistake):
    """No run was named and there are several, or none."""

    def __init__(self, known: tuple[str, ...], more: int = 0) -> None:
        self.known = known
        self.more = more
        """How many there are beside those."""
        super().__init__("Which run?")


async def find_run(desk: Desk, asked: Asked, name: str | None) -> Run:
    """The run that is meant.

    Raises:
        NoSuchRun: There is none of that name.
        WhichRun: None was named, and it is not clear which: those in trouble first, then the most active.
    """
    wanted = name or asked.thread_run
    if wanted is None:
        names = await desk.registry.runs.names(MOST_COUNTED)
        if len(names) != 1:
            # A run that stands is not among the most active ones, and it is the one that is asked about.
            asked_about = [name for name in await runs_in_trouble(desk) if name in names]
            known = list(dict.fromkeys([*asked_about, *names]))
            raise WhichRun(tuple(known[:MOST_NAMED]), max(0, len(known) - MOST_NAMED))
        wanted = names[0]
    return await named_run(desk, wanted)


async def named_run(desk: Desk, name: str) -> Run:
    """The run of that name, or a kind refusal."""
    try:
        return await desk.registry.runs.find(name)
    except UnknownRun as unknown:
        near = await _near(desk, unknown.near)
        known = await desk.registry.runs.names(MOST_NAMED)
        raise NoSuchRun(name, near, tuple(known)) from unknown
    except ValueError as wrong:
        # A name that cannot be a key: empty or far too long.
        known = await desk.registry.runs.names(200)
        near = await _near(desk, near_names(name[:100], known))
        raise NoSuchRun(name[:60], near, tuple(known[:MOST_NAMED])) from wrong


async def what_is_meant(desk: Desk, mistake: Mistake) -> Mistake:
    """Several names may be the words of one run's name: `run 42`."""
    if not isinstance(mistake, TooManyNames):
        return mistake
    whole = dict.fromkeys(between.join(mistake.names) for between in BETWEEN)
    with suppress(RegistryError):  # what was wrong is said all the same
        found = {run.name for run in await desk.registry.runs.many([*whole, *mistake.names])}
        joined = [name for name in whole if name in found]
        if joined and not found.issuperset(mistake.names):
            return NoSuchRun(" ".join(mistake.names), await _near(desk, joined), ())
    return mistake


async def _near(desk: Desk, names: Sequence[str]) -> tuple[Run, ...]:
    """Those that may be meant, each in the state that is shown."""
    return tuple(await few_as_shown(desk, await desk.registry.runs.many(names)))
