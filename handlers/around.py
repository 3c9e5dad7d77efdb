"""What changed around the newest jump or incident of a run, as the watchers wrote it down."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from diagnosis.series import RunSeries
from handlers.health import WATCH_SHARE, Health, Look

MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class Around:
    """Lines about one step, each with its file and line."""

    step: float
    lines: tuple[str, ...]


def changes_to_tell(
    series: RunSeries, incidents: Iterable[Mapping[str, Any]], look: Look, *, is_part: bool = False
) -> Around | None:
    """The changes around the newest marked point in view; None: nothing there is worth a line.

    A run that looks normal is asked only for what is new in it, unless a person asked for that very part.
    """
    if not len(series.loss):
        return None
    first, last = series.loss.steps[0], series.loss.steps[-1]
    is_calm = look.health is Health.NORMAL and not is_part
    since = last - WATCH_SHARE * (last - first) if is_calm else first
    found = [Around(mark.step, mark.changes) for mark in series.marks if mark.step is not None and mark.changes]
    found += [told for fields in incidents if (told := _of_incident(fields)) is not None]
    near = [told for told in found if since <= told.step <= last]
    newest = max(near, key=lambda told: told.step, default=None)
    return None if newest is None else Around(newest.step, newest.lines[:MOST_LINES])


def _of_incident(fields: Mapping[str, Any]) -> Around | None:
    """What the finding at its head took along; anything else in the record is left alone."""
    incident = fields.get("incident")
    head = incident.get("head") if isinstance(incident, dict) else None
    if not isinstance(head, dict):
        return None
    step, lines = head.get("step"), head.get("changes")
    if not isinstance(step, int | float) or not isinstance(lines, list) or not lines:
        return None
    return Around(float(step), tuple(str(line) for line in lines))
