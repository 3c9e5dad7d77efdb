"""The Home of a person: gathered anew whenever it is looked at, and while it is."""

from collections import Counter
from typing import Any

from diagnosis.findings import Severity
from handlers.authorise import authorise
from handlers.command import Desk, NotKnownNow, Right, Who
from handlers.kept import Kept, closed_by_people, kept_of
from handlers.messages.home import Overview, home_view, refused_view
from handlers.messages.phrase import Clause, say
from handlers.mutes import active_mutes
from handlers.shown_runs import as_shown
from registry import Run

MOST_RUNS = 500


async def home_of(desk: Desk, who: Who) -> dict[str, Any]:
    """The view of one person, as things stand now."""
    ruling = await authorise(desk, who, Right.READ)
    if ruling.refusal is not None:
        return refused_view(say("{why}", why=Clause(ruling.refusal)))
    found = (await desk.registry.incidents.all_open()).values()
    incidents = sorted((kept for fields in found if (kept := kept_of(fields))), key=_loudest_first)
    open_of = Counter(kept.incident.run for kept in incidents)
    telling = [*(kept.incident for kept in incidents), *await closed_by_people(desk)]
    runs = await as_shown(desk, await desk.registry.runs.all(MOST_RUNS), telling)
    names = await _names(desk, who)
    taken = {kept.incident.run for kept in incidents if kept.incident.acknowledged_by == who.user}
    mine = [run for run in runs if _is_mine(run, names) or run.name in taken]
    others = [run for run in runs if run not in mine]
    return home_view(
        Overview(
            role=ruling.role,
            now=await desk.registry.clock.estimate(),
            mine=mine,
            others=others,
            known=len(runs),
            incidents=incidents,
            mutes=await active_mutes(desk),
            open_of=open_of,
            workspace_url=desk.workspace_url(),
            prefix=desk.prefix,
        )
    )


def _loudest_first(kept: Kept) -> tuple[bool, bool, float]:
    incident = kept.incident
    return bool(incident.acknowledged_by), incident.severity is not Severity.CRITICAL, -incident.opened_at


async def _names(desk: Desk, who: Who) -> set[str]:
    try:
        return {name.lower() for name in await desk.people.names_of(who.user)}
    except NotKnownNow:
        return {who.user.lower()}


def _is_mine(run: Run, names: set[str]) -> bool:
    return bool(run.owner) and str(run.owner).lower().removeprefix("@") in names
