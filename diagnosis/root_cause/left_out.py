"""Telling lines about something else: of containers beside the training, or of a run that ended days before."""

import re

from diagnosis.case import Case
from diagnosis.root_cause.passed import DATED, STALE_SECONDS
from diagnosis.root_cause.timeline import Timeline

_SPEAKER = re.compile(
    r"^(?:(?P<service>[A-Za-z][\w.-]{0,79})\s{1,40}\| |\[pod/[\w.-]{1,200}/(?P<container>[\w.-]{1,80})\] |"
    r"(?P<ended>[A-Za-z][\w.-]{0,79}) exited with code )"
)
"""Docker Compose and `kubectl logs --prefix` tell which container printed a line, and Compose how one ended."""


def leave_out(case: Case, timeline: Timeline) -> None:
    """Forget what helpers told, and logs that ended more than a day before another one told its first step."""
    begun = timeline.newest_beginning
    for file, log in case.read_by_line():
        if file.kind == "kernel_log":
            continue  # it tells of many days, and each line of its own
        if begun is not None and log.last_time is not None and DATED < log.last_time < begun - STALE_SECONDS:
            log.sightings = []
    _leave_out_helpers(case)


def _leave_out_helpers(case: Case) -> None:
    """Containers that tell no steps, where the container of every rank is known."""
    told = [facts.last for _, log in case.logs() for facts in log.ranks.values() if facts.last is not None]
    trainers = {_speaker(one.evidence.text) for one in told}
    if not trainers or None in trainers:
        return
    for _, log in case.logs():
        log.sightings = [item for item in log.sightings if _speaker(item.symptom.evidence.text) in {None, *trainers}]


def _speaker(text: str) -> str | None:
    """The container's name without its number: replicas of one service do the same."""
    found = _SPEAKER.match(text)
    name = next((name for name in found.groups() if name is not None), None) if found is not None else None
    return name.rstrip("0123456789").rstrip("-_.") if name is not None else None
