"""How a run stands as people are told: what its log last said, and what is open against it since.

A process that was killed says nothing more, so the registry goes on to call its run "running"; the incident knows,
and goes on to know it when a person has closed it: nobody's word makes a dead process train.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from diagnosis.incidents import Incident
from diagnosis.incidents.troubles import BROKEN
from diagnosis.observations import Category
from diagnosis.stall import Outcome
from registry import Run

LIVING = frozenset({"running", "unknown"})
DOWN, CRASHED, STALLED, UNHEARD = "down", "crashed", "stalled", "unheard"
NAMED: Mapping[str, str] = {
    Outcome.RUN_DOWN: DOWN,
    Outcome.STALLED: STALLED,
    Outcome.INITIALISING_TOO_LONG: STALLED,
    "stall": STALLED,
    Category.COLLECTIVE_HANG: STALLED,
    Category.NETWORK_FAULT: STALLED,
    Category.DATALOADER_STALL: STALLED,
    Category.STORAGE_STALL: STALLED,
    Category.INIT_TIMEOUT: STALLED,
    Category.PREEMPTED: "preempted",
    Outcome.WATCHER_SILENT: UNHEARD,
}
"""Kind of finding or trouble → the state it means; other troubles that break a run mean that it crashed."""
NOT_GOING_ON = frozenset({DOWN, CRASHED, STALLED, "preempted", "killed"})
"""States of a run that should train, and does not."""
GONE = frozenset({DOWN, "killed", "ended", "finished"})
"""States in which no process of the run is left; of one that crashed the other ranks may still wait."""
DEAD = (NOT_GOING_ON - {STALLED}) | {"ended", "finished"}
"""States in which a run will not go on by itself: it needs no stop, but a new start."""
_CRASHES = BROKEN - NAMED.keys() - {Category.SLOWDOWN, Category.CHECKPOINT_FAILURE, Category.DISK_FULL}
"""Troubles that end a run wherever no step came after them."""
_ORDER = (DOWN, CRASHED, "preempted", STALLED, UNHEARD)
SAME_MOMENT_SECONDS = 1.0
"""A step this soon after the trouble was heard of may have been printed before it."""
LIVES_AGAIN_SECONDS = 300.0
"""Lines that still come so long after a person closed the incident are those of a run that lives, where no steps can be
read: of what dies the last word comes sooner (PyTorch's agent waits 300 s for its workers to end)."""


def state_of(run: Run, incidents: Iterable[Incident], heard_at: float | None = None) -> str:
    """The state that is shown; steps since an incident was last heard of mean that it did not end the run.

    `heard_at`: when its log last grew (Unix s), which matters where its log tells no steps.
    """
    if run.state not in LIVING:
        return run.state
    told = {state for incident in incidents if not _went_on(run, incident, heard_at) for state in _states(incident)}
    return next((state for state in _ORDER if state in told), run.state)


def is_told_by_lines(run: Run) -> bool:
    """Whether only the growth of its log tells that a run lives: no step was ever read in it."""
    return run.state in LIVING and run.last_progress is None


def tells_state(incident: Incident) -> bool:
    """Whether it may say how its run stands: what ended by itself is over, what a person closed may be so still."""
    return incident.is_open or bool(incident.resolved_by)


def ended_by(run: Run, incidents: Sequence[Incident], heard_at: float | None = None) -> Incident | None:
    """The incident, an open one first, that tells why a run does not go on though its log does not say so."""
    found = [incident for incident in incidents if not _went_on(run, incident, heard_at)]
    found.sort(key=lambda incident: (not incident.is_open, -incident.changed_at))
    for state in _ORDER[:-1]:
        for incident in found:
            if state in _states(incident):
                return incident
    return None


def with_states(
    runs: Iterable[Run], incidents: Iterable[Incident], heard: Mapping[str, float] = MappingProxyType({})
) -> list[Run]:
    """The runs, each in the state that is shown; `heard`: when the log of a run last grew (Unix s)."""
    by_run: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        by_run[incident.run].append(incident)
    return [
        replace(run, state=state_of(run, by_run[run.name], heard.get(run.name))) if run.name in by_run else run
        for run in runs
    ]


def _states(incident: Incident) -> set[str]:
    """What an incident means: by its trouble, what followed from it and what is still the matter."""
    if not tells_state(incident):
        return set()
    troubles = {incident.trouble} | (incident.firing_troubles & incident.beside.keys())
    told = {*troubles, *incident.consequences, *(subject.kind for subject in incident.firing)}
    if all(subject.node is not None for subject in incident.firing):
        # One node of several that fell silent: the run may train on.
        told.discard(Outcome.WATCHER_SILENT)
    if not incident.is_open:
        # A watcher that is heard again clears nothing that a person closed before.
        told.discard(Outcome.WATCHER_SILENT)
    return {NAMED[one] for one in told if one in NAMED} | ({CRASHED} if told & _CRASHES else set())


def _went_on(run: Run, incident: Incident, heard_at: float | None) -> bool:
    if incident.attempt < run.attempt:
        return True
    if run.last_progress is not None:
        return run.last_progress > incident.last_finding_at + SAME_MOMENT_SECONDS
    closed_at = incident.resolved_at if incident.resolved_by else None
    return heard_at is not None and closed_at is not None and heard_at > closed_at + LIVES_AGAIN_SECONDS
