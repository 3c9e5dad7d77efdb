"""Incidents of runs that ended long ago: nobody is reminded of them for ever."""

from collections.abc import Sequence

from diagnosis import wording
from diagnosis.incidents import Announcement, Noted, Tracker
from handlers.standing import OVER
from registry import Registry

EVERY_SECONDS = 60.0


async def close_what_ended(
    registry: Registry, tracker: Tracker, after_seconds: float, now: float
) -> Sequence[Announcement | Noted]:
    """Close what is open of runs that ended, and were not started again, so many seconds ago."""
    said: list[Announcement | Noted] = []
    for name in tracker.troubled_runs:
        run = await registry.runs.get(name)
        if run is None or run.state not in OVER or run.last_seen is None:
            continue
        silent = now - run.last_seen
        if silent >= after_seconds:
            text = f"the run {_ended(run.state)} {wording.duration(silent)} ago and was not started again"
            said += tracker.ended(name, text, now)
    return said


def _ended(state: str) -> str:
    words = {"killed": "was killed", "preempted": "was preempted"}
    return words.get(state, state)
