"""How far this node's clock is ahead of the registry's, also after somebody set it.

The difference is measured now and then. In between, a wall clock that jumps moves against the clock that never does,
and by just so much the difference has changed.
"""

import time

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, as the registry's clock does."""


class NodeClock:
    """This node's clock against the registry's."""

    def __init__(self) -> None:
        self._measured = 0.0
        self._measured_at = _wall_minus_steady()

    @property
    def ahead_seconds(self) -> float:
        """So much is it ahead at this moment, as far as known."""
        return self._measured + _wall_minus_steady() - self._measured_at

    def measured(self, ahead_seconds: float) -> None:
        """It was measured just now."""
        self._measured, self._measured_at = ahead_seconds, _wall_minus_steady()


def _wall_minus_steady() -> float:
    return time.time() - time.clock_gettime(_STEADY)
