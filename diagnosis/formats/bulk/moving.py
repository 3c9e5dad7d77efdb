"""Leaves a counter as many lines in a row would leave it one after the other."""

import numpy as np

from diagnosis.formats.bulk.block import Whole
from diagnosis.formats.steps import Steps


def move(counter: Steps, steps: Whole) -> None:
    """Take these steps, which never go back."""
    assert counter.last is not None
    apart = np.diff(steps, prepend=counter.last)
    grown = np.flatnonzero(apart)
    if len(grown):
        counter.stride = int(apart[grown[-1]])
    counter.last = int(steps[-1])
