"""What an incident costs: GPUs that stand still, or compute numbers nobody can use."""

from dataclasses import dataclass

from diagnosis.findings import Severity
from diagnosis.incidents import Incident
from diagnosis.observations import Category

LONGEST_DELAY_SECONDS = 3600.0
_GOES_ON = frozenset({Category.LOSS_SPIKE, Category.SLOWDOWN, Category.CHECKPOINT_FAILURE, "watcher_silent"})
"""Troubles during which a run trains on, and what it computes counts."""


@dataclass(frozen=True, slots=True)
class Costs:
    """GPU time lost by one incident."""

    gpus: int
    gpu_hours: float
    is_growing: bool


def costs_of(incident: Incident, world_size: int | None, now: float) -> Costs | None:
    """What it cost until now; None: nobody knows how many GPUs, or the run trains on."""
    if not world_size or incident.severity is not Severity.CRITICAL or incident.trouble in _GOES_ON:
        return None
    began, seen = incident.opened_at, incident.head.seen_at
    # A node's clock may be anywhere, and an old log may be read late: neither makes hours.
    if seen is not None and 0.0 <= began - seen <= LONGEST_DELAY_SECONDS:
        began = seen
    ended = incident.resolved_at if incident.resolved_at is not None else now
    return Costs(world_size, world_size * max(0.0, ended - began) / 3600.0, is_growing=incident.is_open)
