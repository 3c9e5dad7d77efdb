"""How far each rank of a run got."""

import dataclasses
from collections.abc import Sequence

from diagnosis.observations import RankProgress
from registry import keys, wire
from registry.door import Door

_LONGEST_LINE = 300


class Ranks:
    """The door to the progress of ranks."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def update(self, run: str, progress: Sequence[RankProgress]) -> None:
        """Write the newest progress of some ranks of one run."""
        if not progress:
            return
        key = keys.run(run, "ranks")
        pairs: list[str | bytes] = []
        for one in progress:
            pairs += [_field(one), wire.encode(_short(one))]
        await self._door.together([("HSET", key, *pairs), ("EXPIRE", key, keys.WEEK)])

    async def all(self, run: str) -> list[RankProgress]:
        """Return the progress of every rank heard of, in order of rank."""
        found = await self._door.call("HVALS", keys.run(run, "ranks"))
        progress = []
        for data in found:
            try:
                progress.append(wire.decode_as(RankProgress, data))
            except wire.Unreadable:
                continue
        unnumbered = 1 << 31
        return sorted(
            progress,
            key=lambda one: (
                one.origin.rank if one.origin.rank is not None else unnumbered,
                one.origin.node or "",
                one.origin.local_rank or 0,
            ),
        )


def _field(progress: RankProgress) -> str:
    origin = progress.origin
    return str(origin.rank) if origin.rank is not None else f"{origin.node}/{origin.local_rank}"


def _short(progress: RankProgress) -> RankProgress:
    evidence = progress.evidence
    if evidence is None or len(evidence.text) <= _LONGEST_LINE:
        return progress
    return dataclasses.replace(progress, evidence=dataclasses.replace(evidence, text=evidence.text[:_LONGEST_LINE]))
