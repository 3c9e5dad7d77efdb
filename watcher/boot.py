"""Which boot of this machine it is: clocks that nobody sets begin anew with each."""

from pathlib import Path

_UNKNOWN = "unknown"


def boot_name() -> str:
    """What tells this boot from others."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return _UNKNOWN


def is_this_boot(name: object) -> bool:
    """True when that name is this boot's."""
    return name == boot_name() != _UNKNOWN
