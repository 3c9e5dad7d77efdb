"""The newest looks at every process of the job: one look misleads, several show where a process stands."""

from collections import deque
from collections.abc import Iterable

from diagnosis.minority import MIN_LOOKS
from diagnosis.observations import ProcessSample

KEPT = 12
"""Looks kept of each process."""
KEPT_SECONDS = 900.0
"""A process that was not seen for so long is forgotten."""

Key = tuple[int, float | None]


class Looks:
    """A few looks at each process, bounded."""

    def __init__(self) -> None:
        self._rings: dict[Key, deque[ProcessSample]] = {}

    def add(self, samples: Iterable[ProcessSample]) -> None:
        """One look at all processes; one that is told again as gone is no new look."""
        newest = 0.0
        for sample in samples:
            newest = max(newest, sample.time)
            ring = self._rings.setdefault((sample.pid, sample.started_at), deque(maxlen=KEPT))
            if not ring or ring[-1].time < sample.time:
                ring.append(sample)
        for key in [key for key, ring in self._rings.items() if newest - ring[-1].time > KEPT_SECONDS]:
            del self._rings[key]

    def since(self, time: float, run: str | None = None) -> tuple[ProcessSample, ...]:
        """The looks after a moment (Unix seconds on this node's clock), where there are several; else all there are.

        In a run that stands, only looks since the last step count; in one that goes on, no step is worth more than
        another. `run`: only its processes, where the node has several runs.
        """
        rings = [ring for ring in self._rings.values() if run is None or ring[-1].run == run]
        late = [[sample for sample in ring if sample.time > time] for ring in rings]
        is_enough = any(len(looks) >= MIN_LOOKS for looks in late)
        chosen = [later or [ring[-1]] for later, ring in zip(late, rings, strict=True)] if is_enough else rings
        return tuple(sample for looks in chosen for sample in looks)
