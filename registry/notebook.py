"""A few things people set and take back, by name: routes, digests, languages."""

from collections.abc import Mapping
from typing import Any

from registry import keys, wire
from registry.door import Door


class Notebook:
    """The door to one hash of small JSON records."""

    def __init__(self, door: Door, key: str) -> None:
        self._door = door
        self._key = key

    async def put(self, name: str, fields: Mapping[str, Any]) -> None:
        """Write a record; the same name again replaces it."""
        if not keys.is_name(name):
            raise ValueError(f"a name has 1 to 200 characters, this one has {len(name)}")
        await self._door.call("HSET", self._key, name, wire.dump(dict(fields)))

    async def remove(self, name: str) -> bool:
        """Take a record out; False: there was none."""
        return bool(await self._door.call("HDEL", self._key, name))

    async def all(self) -> dict[str, dict[str, Any]]:
        """Return every record that can be read, by name."""
        found = {}
        for name, data in (await self._door.call("HGETALL", self._key)).items():
            try:
                record = wire.load(data)
            except wire.Unreadable:
                continue
            if isinstance(record, dict):
                found[name.decode("utf-8", "replace")] = record
        return dict(sorted(found.items()))
