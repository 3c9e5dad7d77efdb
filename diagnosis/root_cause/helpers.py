"""Containers beside the training that print into the same log: what they say, and how they end, is their own affair."""

import re

from diagnosis.case import Case

_SPEAKER = re.compile(
    r"^(?:(?P<service>[A-Za-z][\w.-]{0,79})\s{1,40}\| |\[pod/[\w.-]{1,200}/(?P<container>[\w.-]{1,80})\] |"
    r"(?P<ended>[A-Za-z][\w.-]{0,79}) exited with code )"
)
"""Docker Compose and `kubectl logs --prefix` tell which container printed a line, and Compose how one ended."""


def leave_out_helpers(case: Case) -> None:
    """Forget the telling lines of containers that tell no steps, where every rank's container is known."""
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
