"""How much of a disk may be used: what is kept free belongs to the job."""

import os
from dataclasses import dataclass
from pathlib import Path

RESERVE_BYTES = 1 << 30
RESERVE_SHARE = 0.05
"""So much of the disk stays free for the job, whichever is more."""


@dataclass(frozen=True, slots=True)
class Room:
    """The room above the reserve on the disk of a folder."""

    folder: Path
    reserve_bytes: int = RESERVE_BYTES
    reserve_share: float = RESERVE_SHARE

    def has(self, wanted: int = 0) -> bool:
        """True when so many bytes can be written without touching the reserve."""
        return self.free() >= self.reserve() + wanted

    def free(self) -> int:
        """Bytes that are free now."""
        usage = os.statvfs(self.folder)
        return usage.f_bavail * usage.f_frsize

    def reserve(self) -> int:
        """Bytes that stay free."""
        usage = os.statvfs(self.folder)
        return max(self.reserve_bytes, int(usage.f_blocks * usage.f_frsize * self.reserve_share))

    def sentence(self) -> str:
        """Why there is not enough."""
        return (
            f"not enough room: {self.free() >> 20:,} MiB free where snapshots lie, and {self.reserve() >> 20:,} MiB of "
            "that stay free for the job"
        )
