"""A judge for logs that print faster than point by point is cheap: stretches pass where nobody has a word.

It says what `Judge` says about the same points, and goes on from there as that would: every detector is asked
first how far it would be quiet, and only so far they all let the points pass. The next one is observed.
"""

from bisect import bisect_right
from collections.abc import Sequence

from diagnosis.detectors import DETECTORS, Detector
from diagnosis.detectors.block import POINTS, block_at, block_of
from diagnosis.detectors.detector import Counter, Passer
from diagnosis.findings import Verdict
from diagnosis.formats.stretch import Stretch, Told
from diagnosis.judge import RECENT_STEPS, Judge, _is_close, _Rank, _Series
from diagnosis.observations import StepSample
from diagnosis.thresholds import Thresholds

LOOKED_AT = 8
"""So many points are observed one by one after one that did not pass: what is not calm is seldom alone."""


class LiveJudge(Judge):
    """A judge that takes stretches too."""

    def __init__(
        self, thresholds: Thresholds | None = None, *, detectors: tuple[type[Detector], ...] = DETECTORS
    ) -> None:
        super().__init__(thresholds, detectors=detectors)
        self._can_pass = all(issubclass(kind, Passer) for kind in detectors if StepSample in kind.watches)

    def judge(self, told: Told) -> list[Verdict]:
        """What an observation or a stretch shows."""
        if not isinstance(told, Stretch):
            return self.observe(told)
        said: list[Verdict] = []
        at, ends = 0, len(told)
        while at < ends:
            stop, levels = self.pass_by(told, at)
            said += levels
            if stop == at:
                stop = min(at + LOOKED_AT, ends)
                for seen in told.both(at, stop):
                    said += self.observe(seen)
            at = stop
        return said

    def pass_by(self, stretch: Stretch, at: int) -> tuple[int, Sequence[Verdict]]:
        """Take points from `at` on as far as nobody has a word about a single one; up to where.

        With it what levels say at the last of them. Where it is `at`, the next points are to be observed.
        """
        rank, stop, is_told = self._calm_until(stretch, at)
        if rank is None or stop <= at:
            return at, ()
        said: list[Verdict] = []
        if not is_told:
            stop, said = self._take_blocks(rank.series, stretch, at, stop)
        self._pass_points(rank, stretch, at, stop, is_told=is_told)
        return stop, self._sign(said, rank.attempt) if said else said

    def _calm_until(self, stretch: Stretch, at: int) -> tuple[_Rank | None, int, bool]:
        """Who speaks, up to where it is calm, and whether another rank has told these points already."""
        attempt = self.attempts.turn_to(stretch, at)
        if attempt is None or stretch.losses is None:
            return None, at, False
        rank = self._rank
        if rank is None or stretch.origin is not self._origin or rank.attempt != attempt:
            rank = self._turn_to(stretch.origin, attempt)
        if not self._can_pass or (rank.last is not None and stretch.first_step(at) <= (rank.last.step or 0)):
            return None, at, False
        if self._outlived.is_waiting:
            return None, at, False
        if self._open and any(finding.attempt < attempt for finding in self._open.values()):
            return None, at, False
        stop, is_told = self._told_until(rank, stretch, at)
        is_heard = not is_told or stretch.count_of_both(at, stop) > stop - at
        for passer in (*_passers(rank), *_passers(rank.series)) if is_heard else _passers(rank):
            if stop <= at:
                break
            stop = passer.calm_until(stretch, at, stop)
        return rank, stop, is_told

    def _told_until(self, rank: _Rank, stretch: Stretch, at: int) -> tuple[int, bool]:
        """Up to where the points are all finite, and either news or told by another rank."""
        series, stop = rank.series, stretch.finite
        steps, losses = stretch.steps, stretch.losses or []
        if self._is_alone or series is not self._shared.get(rank.attempt) or steps[at] > series.newest:
            return stop, False
        stop = min(stop, bisect_right(steps, series.newest, at))
        known = list(map(series.recent.get, steps[at:stop]))
        if known == losses[at:stop]:
            return stop, True
        for place, before in zip(range(at, stop), known, strict=True):
            if before is None or not (before - before != 0.0 or _is_close(losses[place], before)):
                return place, True
        return stop, True

    def _pass_points(self, rank: _Rank, stretch: Stretch, at: int, stop: int, *, is_told: bool) -> None:
        rank.last = stretch.sample(stop - 1)
        self.attempts.go_on(rank.last)
        for passer in _passers(rank):
            passer.pass_by(stretch, at, stop)
        if is_told:
            if stretch.count_of_both(at, stop) > stop - at:
                self._pass_between(rank.series, stretch, at, stop)
            return
        series = rank.series
        if not self._is_alone and series is self._shared.get(rank.attempt):
            _remember(series, stretch, at, stop)
        series.tail.extend(stretch.points(series.tail.maxlen, at, stop))
        for passer in _passers(series):
            passer.pass_by(stretch, at, stop)
        if self._open:
            self._training = 0

    def _pass_between(self, series: _Series, stretch: Stretch, at: int, stop: int) -> None:
        """Lines without numbers are no rank's alone."""
        for passer in _passers(series):
            if isinstance(passer, Counter):
                passer.pass_between(stretch, at, stop)
        if self._open:
            self._training = 0

    @staticmethod
    def _take_blocks(series: _Series, stretch: Stretch, at: int, stop: int) -> tuple[int, list[Verdict]]:
        """Judge the blocks that these points complete, up to the first about which something is said."""
        said: list[Verdict] = []
        waiting = series.block
        ends = at + POINTS - len(waiting)
        while ends <= stop and not said:
            block = block_of([*waiting, *stretch.samples(at, ends)]) if waiting else block_at(stretch, at)
            for watch in series.block_watchers:
                said += watch(block)
            waiting, at, ends = [], ends, ends + POINTS
        stop = at if said else stop
        series.block = [*waiting, *stretch.samples(at, stop)]
        return stop, said


def _passers(who: _Rank | _Series) -> tuple[Passer, ...]:
    """Its detectors that look at every point."""
    if who.passers is None:
        watching = (detector for detector in who.detectors if StepSample in detector.watches)
        who.passers = tuple(detector for detector in watching if isinstance(detector, Passer))
    return who.passers


def _remember(series: _Series, stretch: Stretch, at: int, stop: int) -> None:
    """`remember` of many points whose steps are new."""
    at = max(at, stop - RECENT_STEPS)
    steps = stretch.steps[at:stop]
    series.newest = steps[-1]
    series.recent.update(zip(steps, (stretch.losses or [])[at:stop], strict=True))
    series.order.extend(steps)
    while len(series.order) > RECENT_STEPS:
        series.recent.pop(series.order.popleft(), None)
