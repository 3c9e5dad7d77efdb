"""How far this node's clock is ahead of the registry's, also after somebody set it, and how old a log is.

The difference is measured now and then. In between, a wall clock that jumps moves against the clock that never does,
and by just so much the difference has changed.
"""

import asyncio
import contextlib
import math
import time
from typing import Any

from watcher.boot import boot_name, is_this_boot
from watcher.pieces import Chunk, Piece

OLD_SECONDS = 60.0
"""Bytes that lay there for this long are dated by when they were written, not by when we read them."""
WAITS_SECONDS = 2.0
"""So long a first start waits for the registry's clock."""
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, as the registry's clock does."""


class NodeClock:
    """This node's clock against the registry's."""

    def __init__(self) -> None:
        self._measured = 0.0
        self._measured_at = _wall_minus_steady()
        self._is_known = asyncio.Event()

    @property
    def is_known(self) -> bool:
        """True once it was measured, by this watcher or by the one before it in the same boot."""
        return self._is_known.is_set()

    async def wait(self) -> None:
        """Until it is known, or a while: the registry may be away."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._is_known.wait(), WAITS_SECONDS)

    @property
    def ahead_seconds(self) -> float:
        """So much is it ahead at this moment, as far as known."""
        return self._measured + _wall_minus_steady() - self._measured_at

    def measured(self, ahead_seconds: float) -> float:
        """It was measured just now; so much later was what was noted while this clock was taken for right."""
        late = 0.0 if self.is_known else self.ahead_seconds - ahead_seconds
        self._measured, self._measured_at = ahead_seconds, _wall_minus_steady()
        self._is_known.set()
        return late

    def written(self, piece: Piece, now: float) -> float:
        """When bytes that are read now were written, on this node's clock as it stands now.

        The last change of their file was dated by a clock that may have been set since, or be another machine's. Of
        what all clocks allow, the youngest counts: a run that trains is not called stalled because of a clock.
        """
        if not isinstance(piece, Chunk):
            return now
        changed_at, most = piece.written_at, math.inf if piece.unread_seconds is None else piece.unread_seconds
        if most <= OLD_SECONDS or not self.is_known:
            return now
        here = now - changed_at
        ages = [age for age in (here, here - self.ahead_seconds) if -OLD_SECONDS <= age <= most + OLD_SECONDS]
        if not ages:
            return now
        age = ages[0] if ages[-1] > ages[0] - OLD_SECONDS else ages[-1]
        return now - age if age > OLD_SECONDS else now

    def kept(self) -> dict[str, Any] | None:
        """What the next watcher of this boot may go on from; None: nothing is known."""
        if not self.is_known:
            return None
        return {"boot": boot_name(), "ahead": self._measured, "wall_minus_steady": self._measured_at}

    def resume(self, kept: Any) -> None:
        """Go on from what the watcher before had kept, if that was in this boot."""
        if isinstance(kept, dict) and is_this_boot(kept.get("boot")):
            self._measured, self._measured_at = float(kept["ahead"]), float(kept["wall_minus_steady"])
            self._is_known.set()


def _wall_minus_steady() -> float:
    return time.time() - time.clock_gettime(_STEADY)
