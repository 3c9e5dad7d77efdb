"""When a disk of the run will be full at this rate, and whether the next checkpoint still fits; said in time."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.observations import Evidence, Origin
from diagnosis.wording import duration

WARN_SECONDS = 6 * 3600.0
CRITICAL_SECONDS = 3600.0
OVER_FACTOR = 2.0
"""A forecast is over once there is so much more time again."""
LEAST_SECONDS, LEAST_LOOKS = 900.0, 5
"""Nothing is forecast from less."""
LONGEST_SECONDS = 7200.0


@dataclass(frozen=True, slots=True)
class DiskLook:
    """One disk at one moment."""

    folder: str
    """The folder of the run that lies on it."""
    device: int
    free_bytes: int
    total_bytes: int
    at: float
    checkpoint_bytes: int | None = None
    """Size of the run's newest whole checkpoint there; None: it keeps none there."""


class DiskForecast:
    """The disks of one run on one node."""

    def __init__(self, run: str, node: str, *, warn_seconds: float = WARN_SECONDS) -> None:
        self._origin = Origin(run, node)
        self._warn = warn_seconds
        self._looks: dict[int, deque[tuple[float, int]]] = {}
        self._said: dict[tuple[int, str], Severity] = {}

    def look(self, disks: Sequence[DiskLook]) -> list[Finding | Cleared]:
        """What is new since the last look."""
        said: list[Finding | Cleared] = []
        for disk in {disk.device: disk for disk in disks}.values():
            looks = self._looks.setdefault(disk.device, deque())
            looks.append((disk.at, disk.free_bytes))
            while disk.at - looks[0][0] > LONGEST_SECONDS:
                looks.popleft()
            said += self._fills(disk, full_in(looks))
        for disk in disks:
            if disk.checkpoint_bytes:
                said += self._fits(disk, disk.checkpoint_bytes)
        return said

    def _fills(self, disk: DiskLook, seconds: float | None) -> list[Finding | Cleared]:
        key = (disk.device, "fills")
        if seconds is None or seconds > self._warn * (OVER_FACTOR if key in self._said else 1.0):
            if self._said.pop(key, None) is None:
                return []
            text = f"the disk of {disk.folder} on {self._origin.node} no longer fills up at that rate"
            return [Cleared("disk_forecast", self._origin, text, seen_at=disk.at)]
        severity = Severity.CRITICAL if seconds <= CRITICAL_SECONDS else Severity.WARNING
        if seconds > self._warn or self._said.get(key) in (severity, Severity.CRITICAL):
            return []
        self._said[key] = severity
        rate = say_bytes(disk.free_bytes / max(seconds, 1.0) * 3600)
        text = (
            f"the disk of {disk.folder} on {self._origin.node} is full in about {_about(seconds)} at this rate: "
            f"{say_bytes(disk.free_bytes)} free, {rate} more every hour"
        )
        return [self._finding(disk, severity, text, "free room over the last looks, as a straight line")]

    def _fits(self, disk: DiskLook, needed: int) -> list[Finding | Cleared]:
        key = (disk.device, disk.folder)
        if disk.free_bytes >= needed:
            if self._said.pop(key, None) is None:
                return []
            text = f"the next checkpoint fits again into {disk.folder}"
            return [Cleared("disk_forecast", self._origin, text, seen_at=disk.at)]
        if key in self._said:
            return []
        self._said[key] = Severity.CRITICAL
        text = (
            f"the next checkpoint of {say_bytes(needed)} will not fit into {disk.folder} on "
            f"{self._origin.node}: {say_bytes(disk.free_bytes)} free"
        )
        return [self._finding(disk, Severity.CRITICAL, text, "free room against the size of the newest checkpoint")]

    def _finding(self, disk: DiskLook, severity: Severity, text: str, rule: str) -> Finding:
        # The moment makes the place: a disk that fills up again after it was emptied is news again.
        place = Evidence(f"free room of {disk.folder} on {self._origin.node}", None, text, int(disk.at))
        return Finding("disk_forecast", severity, self._origin, text, (place,), seen_at=disk.at, rule=rule)


def full_in(looks: Sequence[tuple[float, int]] | deque[tuple[float, int]]) -> float | None:
    """Seconds until nothing is free, by a straight line through the looks; None: it does not fill, or too few looks."""
    count = len(looks)
    if count < LEAST_LOOKS or looks[-1][0] - looks[0][0] < LEAST_SECONDS:
        return None
    mean_at = sum(at for at, _ in looks) / count
    mean_free = sum(free for _, free in looks) / count
    spread = sum((at - mean_at) ** 2 for at, _ in looks)
    slope = sum((at - mean_at) * (free - mean_free) for at, free in looks) / spread
    return looks[-1][1] / -slope if slope < 0 else None


def _about(seconds: float) -> str:
    """No more exact than a straight line can be."""
    step = 3600.0 if seconds >= 7200.0 else 300.0
    return duration(max(step, round(seconds / step) * step))


def say_bytes(count: float) -> str:
    """`1.3 TB`, `12 GB`: as disks are sold."""
    units: Mapping[str, float] = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}
    for unit, size in units.items():
        if count >= size:
            return f"{count / size:,.1f} {unit}" if count < 10 * size else f"{count / size:,.0f} {unit}"
    return f"{count:,.0f} bytes"
