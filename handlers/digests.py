"""When a channel that asked for it hears of all its runs: each day or each Monday, at its hour."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from handlers.arguments import WrongWords
from registry import wire

DAY = 86_400.0
_TIME = re.compile(r"([01]?\d|2[0-3])(?::([0-5]\d))?")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+\-]*(?:/[A-Za-z0-9_+\-]+)*")


@dataclass(frozen=True, slots=True)
class Digest:
    """What one channel asked for."""

    channel: str
    every: str
    """daily or weekly."""
    hour: int = 9
    minute: int = 0
    zone: str = "UTC"
    by: str = ""
    last: float = 0.0
    """The moment up to which it has been told (Unix s)."""

    @property
    def span_seconds(self) -> float:
        """How far back it tells."""
        return DAY if self.every == "daily" else 7 * DAY

    def due_at(self, now: float) -> float | None:
        """The newest moment at which it should have been told; None: it was."""
        there = datetime.fromtimestamp(now, _zone(self.zone))
        moment = there.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
        if moment > there:
            moment -= timedelta(days=1)
        if self.every == "weekly":
            moment -= timedelta(days=moment.weekday())
        due = moment.timestamp()
        return due if due > self.last else None


def digest_of(channel: str, record: Mapping[str, Any]) -> Digest | None:
    """The digest in a record; None: another version wrote it."""
    every, hour, minute = record.get("every"), wire.number(record.get("hour")), wire.number(record.get("minute"))
    if every not in ("daily", "weekly") or hour is None or minute is None:
        return None
    last = wire.number(record.get("last")) or 0.0
    zone, by = str(record.get("zone") or "UTC"), str(record.get("by") or "")
    return Digest(channel, str(every), int(hour) % 24, int(minute) % 60, zone, by, last)


def read_time(word: str) -> tuple[int, int]:
    """`9`, `09:30`.

    Raises:
        WrongWords: No time of day.
    """
    found = _TIME.fullmatch(word)
    if found is None:
        raise WrongWords(f"`{word}` is no time of day: `9` or `09:30`.")
    return int(found[1]), int(found[2] or 0)


def read_zone(word: str) -> str:
    """`Europe/Paris`.

    Raises:
        WrongWords: There is no such zone.
    """
    try:
        if _ZONE.fullmatch(word):
            return ZoneInfo(word).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    raise WrongWords(f"I know no time zone `{word}`: `UTC`, `Europe/Paris`, `Asia/Shanghai`.")


def _zone(name: str) -> Any:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
