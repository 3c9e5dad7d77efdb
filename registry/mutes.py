"""What people asked to be quiet about, and until when."""

from collections.abc import Mapping
from typing import Any

from registry import keys, wire
from registry.door import Door


class Mutes:
    """The door to mutes. A mute is a few fields (run, kind, node, by, reason) and always an end."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def add(self, mute_id: str, until: float, fields: Mapping[str, Any]) -> None:
        """Write a mute; the same id again replaces it."""
        await self._door.call("HSET", keys.MUTES, mute_id, wire.dump({**fields, "until": until}))

    async def remove(self, mute_id: str) -> bool:
        """End a mute early; False: there was none."""
        return bool(await self._door.call("HDEL", keys.MUTES, mute_id))

    async def active(self, now: float) -> dict[str, dict[str, Any]]:
        """Return the mutes that still hold: id → fields."""
        return (await self._sorted(now))[0]

    async def tidy(self, now: float) -> int:
        """Drop the mutes that ended; how many."""
        ended = (await self._sorted(now))[1]
        return int(await self._door.call("HDEL", keys.MUTES, *ended)) if ended else 0

    async def _sorted(self, now: float) -> tuple[dict[str, dict[str, Any]], list[bytes]]:
        holding, ended = {}, []
        for name, data in (await self._door.call("HGETALL", keys.MUTES)).items():
            mute = _read(data)
            if mute is not None and now < float(mute["until"]):
                holding[name.decode()] = mute
            else:
                ended.append(name)
        return holding, ended


def _read(data: bytes) -> dict[str, Any] | None:
    try:
        mute = wire.load(data)
    except wire.Unreadable:
        return None
    return mute if isinstance(mute, dict) and wire.number(mute.get("until")) is not None else None
