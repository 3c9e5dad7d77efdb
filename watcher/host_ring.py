"""The node's last quarter of an hour: memory, load, free room and the states of the job's processes, as a table."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis.observations import HostSample

CAPACITY = 180
_STATES = ("running", "sleeping", "disk-sleep", "stopped", "zombie", "gone")


@dataclass(frozen=True, slots=True)
class _Row:
    time: float
    available: int | None
    total: int | None
    load: float | None
    free: float | None
    memory: int
    cpu: float
    states: tuple[int, ...]


class HostRing:
    """The newest looks at the node."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._rows: deque[_Row] = deque(maxlen=capacity)

    def add(self, sample: HostSample) -> None:
        """Keep one look."""
        states = [process.state for process in sample.processes]
        self._rows.append(
            _Row(
                sample.time,
                sample.memory_available_bytes,
                sample.memory_total_bytes,
                _load(),
                min(sample.disk_free_bytes.values(), default=None),
                sum(process.memory_bytes or 0 for process in sample.processes),
                sum(process.cpu_seconds or 0.0 for process in sample.processes),
                tuple(states.count(state) for state in _STATES),
            )
        )

    def csv(self) -> Iterator[str]:
        """Lines of a table, oldest first; an unknown value is empty."""
        yield (
            "time,host_memory_available_bytes,host_memory_total_bytes,load_1m,least_disk_free_bytes,job_memory_bytes,"
            "job_cpu_seconds," + ",".join(f"processes_{state.replace('-', '_')}" for state in _STATES)
        )
        for row in self._rows:
            values = (row.available, row.total, row.load, row.free, row.memory, round(row.cpu, 2), *row.states)
            yield f"{row.time:.3f}," + ",".join("" if value is None else f"{value:.15g}" for value in values)

    def __len__(self) -> int:
        return len(self._rows)


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None
