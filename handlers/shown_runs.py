"""Runs in the state that people are shown: the same one in every answer that names a run."""

from collections.abc import Iterable, Mapping, Sequence

from diagnosis.incidents import Incident
from handlers.command import Desk
from handlers.kept import kept_of_run
from handlers.run_state import is_told_by_lines, with_states
from registry import Run


async def as_shown(desk: Desk, runs: Sequence[Run], incidents: Iterable[Incident]) -> list[Run]:
    """These runs beside these incidents, of which those of other runs do not matter."""
    incidents = list(incidents)
    return with_states(runs, incidents, await heard_of(desk, runs, incidents))


async def few_as_shown(desk: Desk, runs: Sequence[Run]) -> list[Run]:
    """A few runs, each beside its own incidents."""
    incidents: list[Incident] = []
    for run in runs:
        incidents += [kept.incident for kept in await kept_of_run(desk, run.name)]
    return await as_shown(desk, runs, incidents)


async def heard_of(desk: Desk, runs: Iterable[Run], incidents: Iterable[Incident]) -> Mapping[str, float]:
    """Run → when its log last grew (Unix s), of the few runs of which only that tells whether they live again."""
    closed = {incident.run for incident in incidents if incident.resolved_by}
    heard = {}
    for run in runs:
        if run.name in closed and is_told_by_lines(run):
            ranks = await desk.registry.ranks.all(run.name)
            heard[run.name] = max((one.heard_at for one in ranks if one.heard_at is not None), default=0.0)
    return heard
