"""Slowdown: every fifth point of fast steps, looked at by the detector itself, with the line left out."""
# ruff: noqa: SLF001 - a twin moves what its detector remembers

import copy
from collections import deque

from diagnosis.detectors.slowdown import SECONDS, STRIDE, Slowdown
from diagnosis.formats.bulk.block import Whole
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.run import Run, real


class SlowdownTwin:
    """Moves `Slowdown` along; what it would say is left to it."""

    def __init__(self, detector: Slowdown) -> None:
        self._of = detector
        self._tried: tuple[Slowdown, int] | None = None

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        last = self._of._last
        if last is None or last[0] is None:
            return 0
        if self._is_without_pace(run):
            return len(run)
        self._tried = self._try(run, len(run))
        return self._tried[1]

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        if self._is_without_pace(run):
            self._pass_by(run, count)
            return
        tried = self._tried
        trial = tried[0] if tried is not None and tried[1] == count else self._try(run, count)[0]
        for name in Slowdown.__slots__:
            setattr(self._of, name, getattr(trial, name))
        of = self._of
        of._first = None if of._first is None else real(of._first)
        kept = [bucket._replace(first=real(bucket.first)) for bucket in of._buckets]
        of._buckets = deque(kept, of._buckets.maxlen)

    def _is_without_pace(self, run: Run) -> bool:
        """Neither times nor seconds are printed: every pace is 0, which is none."""
        return run.between is None and run.times is None and run.field(SECONDS) is None and not self._of._is_pause

    def _try(self, run: Run, count: int) -> tuple[Slowdown, int]:
        """A copy of the detector after the first points, at most up to one about which it speaks."""
        trial = copy.copy(self._of)
        trial._buckets = self._of._buckets.copy()
        between = run.between
        steps, times = run.told_steps(count), run.times
        seconds = run.field(SECONDS) if between is None else between.of_both(SECONDS, run.field(SECONDS))
        place, stop = 0, len(steps)
        while place < stop:
            if trial._left > 1 and not trial._is_pause:
                unseen = min(trial._left - 1, stop - place)
                trial._left -= unseen
                place += unseen
                continue
            if self._may_close(trial, steps, times, seconds, place):
                kept = copy.copy(trial)
                kept._buckets = trial._buckets.copy()
                if trial.observe(run.glance(place)):
                    if between is None:
                        return kept, place
                    return self._try(run, between.points_before(place))
            else:
                trial.observe(run.glance(place))
            place += 1
        return trial, count

    @staticmethod
    def _may_close(trial: Slowdown, steps: Whole, times: Floats | None, seconds: Floats | None, place: int) -> bool:
        """True when this point may end the bucket; only then can something be said."""
        last = trial._last
        if last is None or last[0] is None:
            return False
        if times is not None and last[1] is not None:
            spent = float(times[place]) - last[1]
        else:
            spent = (float(seconds[place]) if seconds is not None else 0.0) * (int(steps[place]) - last[0])
        return trial._clock + spent >= trial._end

    def _pass_by(self, run: Run, count: int) -> None:
        of = self._of
        looked = range(max(of._left, 1) - 1, count, STRIDE)
        if not looked:
            of._left -= count
            return
        of._left = STRIDE - (count - 1 - looked[-1])
        of._last = (int(run.steps[looked[-1]]), None)
        of._pace = 0.0
