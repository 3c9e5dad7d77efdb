"""Who else has the logs of a node that does not answer: by the names that watchers give to files on shared disks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from registry import Beat


def named_by(beat: Beat, run: str) -> frozenset[str]:
    """The logs on shared disks that a watcher's last heartbeat named, as `FOLDER-FILE`."""
    return frozenset(beat.heartbeat.fields.get(f"shared_logs/{run}", "").split())


def elsewhere(beat: Beat, run: str, answers: Sequence[tuple[Beat, Mapping[str, Any]]]) -> tuple[str, bool]:
    """The node that saved all of this silent one's logs and true; or one that sees their folder and false; or none."""
    wanted = named_by(beat, run)
    if not wanted:
        return "", False
    seen = {other.heartbeat.node: (other, _names(body.get("shared_logs"))) for other, body in answers}
    for node, (_, saved) in seen.items():
        if wanted <= saved:
            return node, True
    folders = _folders(wanted)
    for node, (other, saved) in seen.items():
        if folders & _folders(saved | named_by(other, run)):
            return node, False
    return "", False


def _folders(names: Iterable[str]) -> set[str]:
    return {name.partition("-")[0] for name in names}


def _names(told: object) -> frozenset[str]:
    return frozenset(map(str, told)) if isinstance(told, list | tuple) else frozenset()
