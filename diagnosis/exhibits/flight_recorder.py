"""What one rank's flight-recorder dump tells: per process group, how far it got and what is in flight."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from diagnosis.exhibits.opcodes import UnsafePickle, read_plain

KEPT_ENTRIES = 64
"""Newest collectives kept per process group; the ring buffer holds thousands."""
MAX_BYTES = 256 << 20

_RANK = re.compile(r"(\d{1,7})(?:\.(?:json|pickle|pkl|bin))?$")


@dataclass(frozen=True, slots=True)
class Collective:
    """One recorded collective."""

    sequence: int
    name: str
    sizes: str
    state: str
    retired: bool
    where: str
    """The innermost frame outside torch: `main (train.py:134)`."""


@dataclass(frozen=True, slots=True)
class Group:
    """One process group as one rank saw it."""

    name: str
    description: str
    last_enqueued: int
    last_completed: int | None
    newest: tuple[Collective, ...]

    @property
    def in_flight(self) -> tuple[Collective, ...]:
        """Collectives that were started and are not over."""
        return tuple(entry for entry in self.newest if not entry.retired and entry.state != "completed")

    def at(self, sequence: int) -> Collective | None:
        """The collective with this number, while it is still in the buffer."""
        return next((entry for entry in self.newest if entry.sequence == sequence), None)


@dataclass(frozen=True, slots=True)
class Dump:
    """One file."""

    path: str
    rank: int | None
    version: str
    groups: Mapping[str, Group]
    newest_ns: int | None
    """When the newest collective was enqueued, Unix nanoseconds."""
    complete: bool


def read_dump(data: bytes, path: str) -> Dump | None:
    """A dump, pickled or as JSON; None when it cannot be read. Nothing is ever unpickled."""
    if len(data) > MAX_BYTES:
        return None
    try:
        if data[:1] in b"{[":
            value, complete = json.loads(data), True
        else:
            value, complete = read_plain(data)
    except (UnsafePickle, ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    entries = [entry for entry in _list(value.get("entries")) if isinstance(entry, dict)]
    match = _RANK.search(path.rsplit("/", 1)[-1])
    return Dump(
        path=path,
        rank=int(match.group(1)) if match else None,
        version=str(value.get("version", ""))[:20],
        groups={group.name: group for group in _groups(entries, value.get("pg_status"))},
        newest_ns=max(
            (ns for entry in entries if (ns := _whole(entry.get("time_created_ns"))) is not None), default=None
        ),
        complete=complete,
    )


def _groups(entries: list[dict[str, Any]], status: Any) -> Iterator[Group]:
    by_group: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in entries:
        if not entry.get("is_p2p"):
            by_group.setdefault(_group_of(entry), []).append(entry)
    for (name, description), found in by_group.items():
        newest = tuple(_collective(entry) for entry in found[-KEPT_ENTRIES:])
        own = status.get(name) if isinstance(status, dict) else None
        own = own if isinstance(own, dict) else {}
        enqueued = _whole(own.get("last_enqueued_collective"))
        last = newest[-1].sequence
        yield Group(
            name=name,
            description=description,
            last_enqueued=last if enqueued is None else max(enqueued, last),
            last_completed=_whole(own.get("last_completed_collective")),
            newest=newest,
        )


def _group_of(entry: Mapping[str, Any]) -> tuple[str, str]:
    group = entry.get("process_group")
    if isinstance(group, tuple | list) and len(group) == 2:
        return str(group[0])[:80], str(group[1])[:80]
    return str(entry.get("pg_name", entry.get("pg_id", "")))[:80], ""


def _collective(entry: Mapping[str, Any]) -> Collective:
    return Collective(
        sequence=_whole(entry.get("collective_seq_id")) or 0,
        name=str(entry.get("profiling_name", ""))[:80],
        sizes=str(entry.get("input_sizes", ""))[:120],
        state=str(entry.get("state", ""))[:20],
        retired=entry.get("retired") is True,
        where=_where(_list(entry.get("frames"))),
    )


def _where(frames: list[Any]) -> str:
    for frame in frames[:64]:
        if isinstance(frame, dict):
            file = str(frame.get("filename", ""))
            if file and "site-packages" not in file and "/torch/" not in file:
                return f"{str(frame.get('name', ''))[:80]} ({file.rsplit('/', 1)[-1][:80]}:{frame.get('line', '?')})"
    return ""


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
