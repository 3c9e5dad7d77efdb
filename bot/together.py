"""A watcher that falls silent takes all its runs from sight: one thread tells it and names the others.

Only what is alike is told together: the same silent nodes, the same channel, and nothing that keeps one of them quiet.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.incidents import Tracker
from diagnosis.stall import Outcome

NODES, RUNS = "silent nodes", "silent runs"
"""What a finding's details say: which nodes are silent, and which other runs it speaks for."""
SHOWN = 6
MOST = 100
"""So many runs are told by one."""

Verdict = Finding | Cleared


def as_one(
    said: Sequence[Verdict],
    channels: Mapping[str, str],
    tracker: Tracker,
    now: float,
    *,
    is_silent: Callable[[str], bool],
) -> list[Verdict]:
    """Of runs that lost the same watcher only the first is told, and speaks for the others; the rest stays as it is.

    Args:
        said: What is news of all runs.
        channels: Run → where it is told; one that is gone meanwhile has none, and is told by itself.
        tracker: What was told already.
        now: The registry's time.
        is_silent: Whether it holds of a run that was told of that its watcher is silent.
    """
    alike: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for one in said:
        if _is_silence(one) and one.origin.run in channels and tracker.would_tell(one, now):
            alike[channels[one.origin.run], one.details[NODES]].append(one)
    spoken_for = {name for run in tracker.troubled_runs if is_silent(run) for name in spoken_for_by(run, tracker)}
    instead: dict[int, Finding | None] = {}
    for group in alike.values():
        mine = [one for one in group if one.origin.run not in spoken_for]
        instead |= {id(one): None for one in group}
        for at in range(0, len(mine), MOST):
            first, *others = sorted(mine[at : at + MOST], key=lambda one: one.origin.run)
            instead[id(first)] = _speaking_for(first, [one.origin.run for one in others])
    kept = (instead.get(id(one), one) for one in said)
    return [one for one in kept if one is not None]


def spoken_for_by(run: str, tracker: Tracker) -> frozenset[str]:
    """The other runs that a thread of this one speaks for."""
    told = (incident.head.details.get(RUNS, "") for incident in tracker.open_of(run))
    return frozenset(name for names in told for name in names.split("\n") if name)


def silences(said: Iterable[Verdict]) -> list[str]:
    """The runs whose watcher's silence is over, or is not asked for any more."""
    return [one.origin.run for one in said if isinstance(one, Cleared) and one.kind == Outcome.WATCHER_SILENT]


def _is_silence(one: Verdict) -> TypeGuard[Finding]:
    if not isinstance(one, Finding) or one.kind != Outcome.WATCHER_SILENT:
        return False
    return one.severity is Severity.WARNING and bool(one.details.get(NODES))


def _speaking_for(first: Finding, others: Sequence[str]) -> Finding:
    if not others:
        return first
    shown = ", ".join(others[:SHOWN]) + (", …" if len(others) > SHOWN else "")
    count = "" if len(others) == 1 else f"{len(others)} more runs: "
    more = f"The same goes for {count}{shown}."
    return replace(first, details={**first.details, "more": more, RUNS: "\n".join(others)})
