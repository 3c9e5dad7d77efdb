"""Moves a `Judge` past the points about which nobody has a word."""
# ruff: noqa: SLF001 - a twin moves what its detector remembers

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from diagnosis.detectors.block import POINTS, Block
from diagnosis.detectors.detector import Detector
from diagnosis.detectors.divergence import Divergence
from diagnosis.detectors.grad_norm_lead import GradNormLead
from diagnosis.detectors.hidden_nan import HiddenNan
from diagnosis.detectors.jump import PlainJump
from diagnosis.detectors.loss_scale import LossScale
from diagnosis.detectors.nonfinite import NonFinite
from diagnosis.detectors.plateau import Plateau
from diagnosis.detectors.slowdown import Slowdown
from diagnosis.detectors.spike import Spike
from diagnosis.detectors.sustained import Sustained
from diagnosis.formats.bulk.judging.fives import Fives, fives_of
from diagnosis.formats.bulk.judging.gates import LeadTwin, SpikeTwin
from diagnosis.formats.bulk.judging.levels import DivergenceTwin, PlateauTwin
from diagnosis.formats.bulk.judging.pace import SlowdownTwin
from diagnosis.formats.bulk.judging.points import HiddenNanTwin, JumpTwin, LossScaleTwin, NonFiniteTwin
from diagnosis.formats.bulk.judging.run import Run
from diagnosis.formats.bulk.judging.sustained import SustainedTwin
from diagnosis.judge import RECENT_STEPS, Judge, _Rank
from diagnosis.observations import StepSample


class PointTwin(Protocol):
    """Moves one detector along a run."""

    def calm(self, run: Run) -> int:
        """How many points say nothing."""

    def take(self, run: Run, count: int) -> None:
        """Move past so many; `calm` was asked about the same run before."""


class BlockTwin(Protocol):
    """Moves one detector along blocks of five."""

    def calm(self, fives: Fives) -> int:
        """How many blocks say nothing."""

    def take(self, fives: Fives, count: int) -> None:
        """Move past so many."""


OF_POINTS: dict[type[Detector], Callable[[Any], PointTwin]] = {
    NonFinite: NonFiniteTwin,
    HiddenNan: HiddenNanTwin,
    LossScale: LossScaleTwin,
    Spike: SpikeTwin,
    GradNormLead: LeadTwin,
    Slowdown: SlowdownTwin,
    PlainJump: JumpTwin,
}
OF_BLOCKS: dict[type[Detector], Callable[[Any], BlockTwin]] = {
    Divergence: DivergenceTwin,
    Sustained: SustainedTwin,
    Plateau: PlateauTwin,
}


class JudgeTwin:
    """Moves a judge past calm points. A detector without a twin makes every point its own business."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._points: list[PointTwin] = []
        self._blocks: list[BlockTwin] = []
        self._fives: Fives | None = None

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        judge, rank = self._judge, self._judge._rank
        if rank is None or not self._is_at(run, rank) or not self._is_news(run, rank):
            return 0
        if any(finding.attempt < rank.attempt for finding in judge._open.values()):
            return 0
        detectors = (*rank.detectors, *rank.series.detectors)
        if not self._find(detectors):
            return 0
        count = len(run)
        for twin in self._points:
            count = min(count, twin.calm(run))
            if not count:
                return 0
        fives = self._fives = fives_of(run, rank.series.block)
        for block_twin in self._blocks:
            calm = block_twin.calm(fives)
            if calm < len(fives):
                count = min(count, fives.points_before(calm))
        return count

    def take(self, run: Run, count: int) -> None:
        """Move past so many points."""
        judge, rank = self._judge, self._judge._rank
        assert rank is not None
        for twin in self._points:
            twin.take(run, count)
        series = rank.series
        newest = run.sample(count - 1)
        judge.attempts._log.last = newest  # type: ignore[union-attr]
        rank.last = newest
        if judge._open:
            judge._training = 0
        if run.loss is None:
            return
        if not judge._is_alone and series is judge._shared.get(rank.attempt):
            for place in range(max(0, count - RECENT_STEPS), count):
                series.remember(int(run.steps[place]), float(run.loss[place]))
        series.tail.extend(run.newest(count, series.tail.maxlen))
        if run.is_finite:
            self._take_blocks(run, count, rank)

    def _take_blocks(self, run: Run, count: int, rank: _Rank) -> None:
        waiting = rank.series.block
        done = (len(waiting) + count) // POINTS
        if done and self._fives is not None:
            for twin in self._blocks:
                twin.take(self._fives, done)
        kept = len(waiting) + count - POINTS * done
        rank.series.block = (
            [*waiting, *run.newest(count, None)] if not done else run.newest(count, kept) if kept else []
        )

    def _is_at(self, run: Run, rank: _Rank) -> bool:
        """The judge has turned to this process, and its attempt trains."""
        judge, block = self._judge, run.block
        attempts = judge.attempts
        log = attempts._log
        return (
            judge._origin is block.origin
            and attempts._origin is block.origin
            and attempts._file is block.file
            and log is not None
            and log.attempt == rank.attempt
            and log.has_steps
            and not log.has_ended
        )

    def _is_news(self, run: Run, rank: _Rank) -> bool:
        """The points are new: steps rise, but for a redraw that tells that of its dict, and no other rank told them."""
        last = rank.last.step if rank.last is not None else None
        if run.between is None and last is not None and int(run.steps[0]) <= last:
            return False
        series = rank.series
        is_shared = not self._judge._is_alone and series is self._judge._shared.get(rank.attempt)
        return not is_shared or int(run.steps[0]) > series.newest

    def _find(self, detectors: Iterable[Detector]) -> bool:
        """Make twins; False when a detector that wants points or blocks has none."""
        self._points, self._blocks = [], []
        for detector in detectors:
            kind = type(detector)
            if StepSample in detector.watches:
                if kind not in OF_POINTS:
                    return False
                self._points.append(OF_POINTS[kind](detector))
            if Block in detector.watches:
                if kind not in OF_BLOCKS:
                    return False
                self._blocks.append(OF_BLOCKS[kind](detector))
        return True
