"""Gives a block to everyone who follows a log: past the calm points at once, the others one by one."""

from collections.abc import Callable, Sequence
from typing import Protocol

from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.judging.between import is_regular
from diagnosis.formats.bulk.judging.run import LONGEST, Run, cut_run
from diagnosis.formats.bulk.weaving import Woven
from diagnosis.observations import StepSample

FIRST_LOOK = 256
MOST_SINGLE = 256


class Twin(Protocol):
    """Moves somebody who follows a log past many points."""

    def calm(self, run: Run) -> int:
        """How many of the first points say nothing to it."""

    def take(self, run: Run, count: int) -> None:
        """Move past so many; `calm` was asked about the same run before."""


class Absorber:
    """Moves everyone who follows one log past its blocks."""

    def __init__(self, twins: Sequence[Twin], take: Callable[[StepSample], None]) -> None:
        self._twins = twins
        self._take = take
        self._look = FIRST_LOOK
        self._single = 1

    def absorb(self, told: StepBlock | Woven) -> None:
        """All points in order; those that may say something are taken one by one."""
        if isinstance(told, Woven) and not is_regular(told):
            for sample in told.samples():
                self._take(sample)
            return
        place, ends = 0, len(told.dicts) if isinstance(told, Woven) else len(told)
        while place < ends:
            run = cut_run(told, place, self._look)
            count = self._pass(run)
            place += count
            if count == len(run):
                self._look, self._single = min(2 * self._look, LONGEST), 1
                continue
            # Where one point says something the next ones often do: look again after more and more of them.
            self._look = max(FIRST_LOOK, self._look // 4)
            self._single = 1 if count else min(2 * self._single, MOST_SINGLE)
            stop = min(ends, place + self._single)
            for sample in told.samples(place, stop):
                self._take(sample)
            place = stop

    def _pass(self, run: Run) -> int:
        """How many points everyone was moved past."""
        count = len(run)
        for twin in self._twins:
            count = min(count, twin.calm(run))
            if not count:
                return 0
        for twin in self._twins:
            twin.take(run, count)
        return count
