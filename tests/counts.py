"""How often a promise is tried: a few times in the suite, as often as RELIABILITY.md asks with RUNWATCH_TEST_FULL=1.

`make figures` runs every test marked `figure` at its full count and prints what came of each.

Generated examples are the same in every run of the suite, so nobody's change fails on an example it did not make;
`make fuzz` looks for new ones, RUNWATCH_TEST_FUZZ times as many.
"""

import os
import sys

IS_FULL = bool(os.environ.get("RUNWATCH_TEST_FULL"))
FUZZ = int(os.environ.get("RUNWATCH_TEST_FUZZ", "0"))
"""How many times as many generated examples, and new ones; 0: the suite's own."""


def count(few: int, full: int) -> int:
    """So many this time."""
    return full if IS_FULL else few


def examples(few: int) -> int:
    """So many generated examples this time."""
    return few * (FUZZ or 1)


def say(figure: str, text: str) -> None:
    """One line about a figure, seen with `pytest -s`."""
    sys.stdout.write(f"\n{figure}: {text}\n")
