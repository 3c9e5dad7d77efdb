"""How a run stands where its loss is told: its state as `/runs` says it, and the open incident about its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnosis import wording
from diagnosis.findings import Severity
from diagnosis.incidents import Incident
from diagnosis.incidents.incident import is_worse
from diagnosis.observations import Category
from diagnosis.series import RunSeries
from handlers.command import Desk
from handlers.earlier import DIVERGENCE
from handlers.health import Health, Look, normal_band
from handlers.kept import Kept, kept_of_run
from handlers.messages.incident import what
from handlers.run_state import NOT_GOING_ON, UNHEARD, state_of
from handlers.shown_runs import heard_of
from registry import Run

ABOUT_LOSS = frozenset({Category.NAN_INF, Category.LOSS_SPIKE})
"""Troubles that forbid to call the numbers normal while they are open."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A run in the state that is shown, what its numbers say beside its incidents, and which of those are open."""

    run: Run
    look: Look
    opened: tuple[Kept, ...] = ()

    @property
    def is_trouble(self) -> bool:
        """Whether the numbers are wrong, the run does not go on, or nobody can tell."""
        is_told = self.look.health in (Health.NORMAL, Health.WATCH)
        return not is_told or self.run.state in NOT_GOING_ON or self.run.state == UNHEARD


async def standing_of(desk: Desk, run: Run, look: Look, series: RunSeries) -> Standing:
    """The run, its look and its open incidents as one answer tells them."""
    kept = await kept_of_run(desk, run.name)
    heard = await heard_of(desk, [run], [one.incident for one in kept])
    return judged(run, look, series, kept, heard.get(run.name))


def judged(run: Run, look: Look, series: RunSeries, kept: Sequence[Kept], heard_at: float | None = None) -> Standing:
    """The numbers alone are never called normal against an open incident about them."""
    incidents = [one.incident for one in kept]
    shown = replace(run, state=state_of(run, incidents, heard_at))
    opened = tuple(one for one in kept if one.incident.is_open)
    return Standing(shown, with_trouble(look, series, run, loss_trouble(incidents)), opened)


def loss_trouble(incidents: Sequence[Incident]) -> Incident | None:
    """The gravest open incident about the loss, the newest of equals."""
    worst: Incident | None = None
    for incident in sorted(incidents, key=lambda one: -one.opened_at):
        is_about_it = incident.is_open and incident.trouble in ABOUT_LOSS
        if is_about_it and (worst is None or is_worse(incident.severity, worst.severity)):
            worst = incident
    return worst


def with_trouble(look: Look, series: RunSeries, run: Run, incident: Incident | None) -> Look:
    """The look, no milder than the incident; what the newest numbers show by themselves is said first."""
    if incident is None or look.health in (Health.WRONG, Health.UNKNOWN):
        return look
    # What is open of an attempt before may be over with the restart: a person should look, more is not known.
    is_wrong = incident.severity is Severity.CRITICAL and incident.attempt >= run.attempt
    if look.health is Health.WATCH and not is_wrong:
        return look
    head = incident.head
    why = what(head)
    if head.kind == DIVERGENCE and head.step is not None:
        why = f"the loss climbed at step {wording.whole(head.step)} and stays"
    return replace(
        look,
        health=Health.WRONG if is_wrong else Health.WATCH,
        since_step=float(head.step) if head.step is not None else None,
        why=why,
        has_incident=True,
        band=normal_band(series, head.step) if head.step is not None else None,
    )
