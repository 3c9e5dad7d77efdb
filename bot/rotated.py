"""Rotated logs: `train.log.3.gz`, `train.log.2.gz`, `train.log.1`, `train.log` are one log, the oldest first."""

import re
from collections.abc import Iterable
from pathlib import Path

_PACKED = r"(?:\.(?:gz|bz2|xz|zst))?"
_NUMBERED = re.compile(rf"(?P<base>.+)\.(?P<number>\d{{1,4}}){_PACKED}")
_DATED = re.compile(
    rf"(?P<base>.+)[.-](?P<date>\d{{8}}(?:[-_.T]?\d{{2,6}})?|\d{{4}}-\d\d-\d\d(?:[-_T]\d\d(?:-?\d\d){{0,2}})?){_PACKED}"
)
_Order = tuple[int, str]
_LIVE: _Order = (2, "")


def in_order(paths: Iterable[Path]) -> list[list[Path]]:
    """The files one by one, and rotated ones together in the order in which they were written.

    Numbers alone make no set: `workerlog.0` and `workerlog.1` are two ranks. The file that is written
    now, with the name that all share, must be among them.
    """
    known = list(paths)
    there = set(known)
    sets: dict[Path, list[tuple[_Order, Path]]] = {}
    for path in known:
        base, order = _place_of(path)
        if base != path and base not in there:
            base, order = path, _LIVE
        sets.setdefault(base, []).append((order, path))
    return [[path for _, path in sorted(members)] for members in sets.values()]


def siblings(path: Path) -> list[Path]:
    """The rotated files that belong to the log at this path, and the log itself, the oldest first."""
    try:
        around = [other for other in path.parent.iterdir() if other.name.startswith(path.name)]
    except OSError:
        around = []
    whole = next((members for members in in_order({*around, path}) if path in members), [path])
    return whole if whole[-1] == path else [path]


def _place_of(path: Path) -> tuple[Path, _Order]:
    """The log that a file belongs to by its name, and its place among that log's files."""
    match = _NUMBERED.fullmatch(path.name)
    if match is not None:
        return path.with_name(match["base"]), (1, f"{9999 - int(match['number']):04}")
    match = _DATED.fullmatch(path.name)
    if match is not None:
        return path.with_name(match["base"]), (0, re.sub(r"\D", "", match["date"]).ljust(14, "0"))
    return path, _LIVE
