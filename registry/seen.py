"""Which deliveries were taken already: Slack sends an event again when it is not sure that we had it."""

from registry import keys
from registry.door import Door


class Seen:
    """The door to names that were taken once."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def first(self, name: str, seconds: int = keys.DAY) -> bool:
        """Take a name: True the first time within so many seconds, False when somebody took it already."""
        # Sent once: after a repeat nobody could tell whether it was us who took it.
        return bool(await self._door.call("SET", keys.seen(name), "1", "NX", "EX", seconds, again=False))
