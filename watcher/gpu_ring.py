"""The last quarter of an hour of every GPU, packed, so that a snapshot can show what led up to the trouble."""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from diagnosis.observations import GpuSample

COLUMNS = (
    "utilization_percent",
    "memory_used_bytes",
    "memory_total_bytes",
    "power_watts",
    "power_limit_watts",
    "temperature_c",
    "sm_clock_mhz",
)
_WHOLE = frozenset({"memory_used_bytes", "memory_total_bytes", "temperature_c", "sm_clock_mhz"})
_UNKNOWN = math.nan
MOST_PROBLEMS = 200
"""Different words of a driver about one GPU."""


class GpuRing:
    """A fixed number of readings of each GPU (about 65 kB for 900)."""

    def __init__(self, capacity: int = 900) -> None:
        self._capacity = capacity
        self._rings: dict[str, _Ring] = {}

    def add(self, samples: Iterable[GpuSample]) -> None:
        """Keep one reading of each GPU; the oldest one goes."""
        for sample in samples:
            name = sample.uuid or f"GPU {sample.gpu_index}"
            ring = self._rings.get(name)
            if ring is None:
                ring = self._rings[name] = _Ring(sample.gpu_index, self._capacity)
            ring.add(sample.time, [getattr(sample, column) for column in COLUMNS], sample.problem or "")

    def csv(self) -> Iterator[str]:
        """Lines of a table, oldest first within each GPU; an unknown value is empty."""
        yield f"time,gpu_index,uuid,{','.join(COLUMNS)},problem"
        for name, ring in self._rings.items():
            for when, values, problem in ring.rows():
                cells = ["" if math.isnan(value) else f"{value:.10g}" for value in values]
                yield ",".join((f"{when:.3f},{ring.gpu_index},{name}", *cells, problem.replace(",", ";")))

    def recent(self, node: str, seconds: float, count: int) -> Iterator[GpuSample]:
        """About `count` readings of each GPU, spread over the last so many seconds."""
        for name, ring in self._rings.items():
            rows = list(ring.rows())
            rows = [row for row in rows if row[0] >= rows[-1][0] - seconds]
            for when, values, problem in rows[:: max(1, len(rows) // count)]:
                yield replace(_sample(node, ring.gpu_index, name, when, values), problem=problem or None)

    def __len__(self) -> int:
        return sum(ring.count for ring in self._rings.values())


def _sample(node: str, gpu_index: int, name: str, when: float, values: Sequence[float]) -> GpuSample:
    known: dict[str, Any] = {}
    for column, value in zip(COLUMNS, values, strict=True):
        if not math.isnan(value):
            known[column] = int(value) if column in _WHOLE else value
    return GpuSample(node, gpu_index, when, None if name.startswith("GPU ") else name, **known)


class _Ring:
    def __init__(self, gpu_index: int, capacity: int) -> None:
        self.gpu_index = gpu_index
        self.count = 0
        self._at = 0
        self._times = array("d", bytes(8 * capacity))
        self._columns = [array("d", bytes(8 * capacity)) for _ in COLUMNS]
        self._problems = array("B", bytes(capacity))
        self._said = [""]
        """What the driver said instead of a reading; a ring holds its place in here."""

    def add(self, when: float, values: Sequence[float | None], problem: str) -> None:
        self._times[self._at] = when
        self._problems[self._at] = self._place_of(problem)
        for column, value in zip(self._columns, values, strict=True):
            column[self._at] = _UNKNOWN if value is None else value
        self._at = (self._at + 1) % len(self._times)
        self.count = min(self.count + 1, len(self._times))

    def rows(self) -> Iterator[tuple[float, list[float], str]]:
        start = (self._at - self.count) % len(self._times)
        for step in range(self.count):
            at = (start + step) % len(self._times)
            yield self._times[at], [column[at] for column in self._columns], self._said[self._problems[at]]

    def _place_of(self, problem: str) -> int:
        if problem not in self._said and len(self._said) < MOST_PROBLEMS:
            self._said.append(problem)
        return self._said.index(problem) if problem in self._said else len(self._said) - 1
