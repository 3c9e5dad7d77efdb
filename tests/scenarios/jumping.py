"""The product on a machine whose clock jumps: `python -m tests.scenarios.jumping [WITHOUT] bot …` under libfaketime.

The clock of the test's machine is left alone: each process reads how far its own one is off from a file.
"""

import os
import select
import sys
import time
from pathlib import Path

PLACES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib64/faketime/libfaketime.so.1",
    "/usr/local/lib/faketime/libfaketime.so.1",
)
OFFSETS = ("-10m", "+1d", "-1d", "+0")


def library() -> str:
    """Where libfaketime is; empty: it is not installed."""
    return next((place for place in PLACES if Path(place).exists()), "")


def environment(clock: Path) -> dict[str, str]:
    """What makes a process read its clock's error from this file; durations stay what they are."""
    jump(clock, "+0")
    return {
        "LD_PRELOAD": library(),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Files keep the machine's own time, so a watcher that starts anew may take a log for a day old.
        "NO_FAKE_STAT": "1",
    }


def jump(clock: Path, offset: str) -> None:
    """From now on the clock is so much off."""
    fresh = clock.with_suffix(".new")
    fresh.write_text(f"{offset}\n")
    fresh.replace(clock)


def main(words: list[str]) -> int:
    """Be the product, with a protection taken away if one is named."""
    # libfaketime answers time.sleep with an error on newer kernels.
    time.sleep = lambda seconds: select.select([], [], [], max(0.0, seconds)) and None
    # What it starts itself (a drawing worker, say) has the machine's own clock.
    os.environ.pop("LD_PRELOAD", None)
    from bot import cli  # noqa: PLC0415 - after the clock is set up
    from tests.scenarios import without  # noqa: PLC0415

    return without.main(words) if words[0] in without.TAKEN else cli.main(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
