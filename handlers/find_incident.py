"""Which incident a person means: the thread's own, the one named, or the only one open of a run."""

from diagnosis.errors import Mistake
from handlers.command import Asked, Desk
from handlers.find_run import MOST_NAMED, WhichRun, find_run
from handlers.kept import Kept, kept_of, runs_in_trouble


class WhichIncident(Mistake):
    """None is open, or several are and none was named."""


async def get_incident(desk: Desk, name: str | None) -> Kept | None:
    """The incident of that id, or None."""
    return kept_of(await desk.registry.incidents.get(name)) if name else None


async def find_closed(desk: Desk, asked: Asked, run: str | None) -> Kept:
    """The one of the thread, or the run's newest that is over.

    Raises:
        WhichIncident: None is.
    """
    if not run and (found := await get_incident(desk, asked.thread_incident)) is not None:
        return found
    wanted = await find_run(desk, asked, run)
    every = (kept_of(fields) for fields in (await desk.registry.incidents.of_run(wanted.name)).values())
    over = [kept for kept in every if kept is not None and not kept.incident.is_open]
    if not over:
        raise WhichIncident(f"Nothing of `{wanted.name}` was closed.")
    return max(over, key=lambda kept: kept.incident.changed_at)


async def find_incident(desk: Desk, asked: Asked, run: str | None) -> Kept:
    """The incident that is meant.

    Raises:
        WhichIncident: It is not clear, with what to do.
    """
    if not run and (found := await get_incident(desk, asked.thread_incident)) is not None:
        return found
    wanted = await find_run(desk, asked, run or await _troubled(desk, asked))
    opened = [
        kept for fields in (await desk.registry.incidents.open_of(wanted.name)).values() if (kept := kept_of(fields))
    ]
    if len(opened) == 1:
        return opened[0]
    if not opened:
        raise WhichIncident(f"Nothing is open of `{wanted.name}`.")
    raise WhichIncident(
        f"{len(opened)} incidents of `{wanted.name}` are open: mention me in the thread of the one you mean."
    )


async def _troubled(desk: Desk, asked: Asked) -> str | None:
    """The only run of which something is open, where none was named; None: the thread tells which.

    Raises:
        WhichIncident: Nothing is open.
        WhichRun: Of several runs; those whose incident is newest are named.
    """
    if asked.thread_run is not None:
        return None
    runs = tuple(await runs_in_trouble(desk))
    if not runs:
        raise WhichIncident("Nothing is open.")
    if len(runs) > 1:
        raise WhichRun(runs[:MOST_NAMED], max(0, len(runs) - MOST_NAMED))
    return runs[0]
