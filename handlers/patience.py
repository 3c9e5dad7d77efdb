"""How long a run may stand before somebody is called: the run's own limits over those of everybody."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from diagnosis.durations import parse_duration
from diagnosis.thresholds import Thresholds
from handlers.limits import limits_of, refuse, there_are
from registry import Run, wire

FACT = "patience"
"""The fact of a run that holds it."""
STALL, FIRST, PHASE = "stall", "first", "phase"
LIMITS: Mapping[str, tuple[str, ...]] = {
    STALL: ("stall_after", "stall_min", "stall_max"),
    FIRST: ("stall_first_step",),
    PHASE: ("stall_phase",),
}
"""What a person sets → the thresholds it stands for."""
SHORTEST_SECONDS, LONGEST_SECONDS = 30.0, 7 * 86_400.0


def patience_of(run: Run) -> dict[str, float]:
    """What was set for this run, in seconds."""
    told = run.facts.get(FACT)
    found = {name: wire.number(value) for name, value in told.items()} if isinstance(told, Mapping) else {}
    return {name: value for name, value in found.items() if name in LIMITS and value is not None and _is_sound(value)}


def limits_for(run: Run, thresholds: Thresholds) -> Thresholds:
    """The thresholds that hold for this run."""
    changed: dict[str, Any] = dict(limits_of(run))
    for name, seconds in patience_of(run).items():
        changed |= dict.fromkeys(LIMITS[name], seconds)
    return replace(thresholds, **changed) if changed else thresholds


def read_patience(told: Mapping[str, str]) -> dict[str, float]:
    """What was typed or filled in; an empty value takes a limit back.

    Raises:
        WrongWords: No such limit, or no time that makes sense.
    """
    refuse(wrong_in(told))
    return {name: seconds for name, text in told.items() if (seconds := parse_duration(text))}


def wrong_in(told: Mapping[str, str]) -> dict[str, str]:
    """Limit → what is wrong with it."""
    wrong = {}
    for name, text in told.items():
        if name not in LIMITS:
            wrong[name] = there_are(LIMITS)
        elif text.strip() and not _is_sound(parse_duration(text) or 0.0):
            wrong[name] = "a time between 30s and 7d, such as 20m or 2h."
    return wrong


def _is_sound(seconds: float) -> bool:
    return SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS
