"""How often a promise is tried: a few times in the suite, as often as RELIABILITY.md asks with RUNWATCH_TEST_FULL=1.

`make figures` runs every test marked `figure` at its full count and prints what came of each.
"""

import os
import sys

IS_FULL = bool(os.environ.get("RUNWATCH_TEST_FULL"))


def count(few: int, full: int) -> int:
    """So many this time."""
    return full if IS_FULL else few


def say(figure: str, text: str) -> None:
    """One line about a figure, seen with `pytest -s`."""
    sys.stdout.write(f"\n{figure}: {text}\n")
