"""Moves what stays of a log, and the pace of its steps, past many points."""
# ruff: noqa: SLF001 - a twin moves what the facts remember

import numpy as np

from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.run import Run
from diagnosis.log_facts import LogFacts, RankFacts, Told
from diagnosis.observations import Phase
from diagnosis.pace import KEPT, MOST_SIZES, Interval, Pace, work_of


class FactsTwin:
    """Moves `LogFacts` past steps that are new."""

    def __init__(self, facts: LogFacts) -> None:
        self._of = facts

    def calm(self, run: Run) -> int:
        """How many points are new steps of the process that spoke last."""
        of, block = self._of, run.block
        last = of.last_told
        if of._origin is not block.origin or block.step_kind in {"samples", "none"}:
            return 0
        first = run.steps[0] if run.between is None else run.between.steps[0]
        if last is None or last.attempt != of.attempt or int(first) <= last.step:
            return 0
        rank = of.ranks.get(block.origin.rank)
        if rank is None or rank.last is None or (rank.last.attempt == of.attempt and run.steps[0] < rank.last.step):
            return 0
        return 0 if self._is_told_late(run) else len(run)

    def _is_told_late(self, run: Run) -> bool:
        """A step whose number was known late moves what was told of the lines below it."""
        newest = self._of.sightings[-1] if self._of.sightings else None
        if newest is None or newest.attempt != self._of.attempt:
            return False
        below, shown = newest.symptom.evidence, run.sample(0).evidence
        return below.file == shown.file and (below.line or 0) > (shown.line or 0)

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of, rank, between = self._of, self._of.ranks[run.block.origin.rank], run.between
        if between is None:
            of._order += count
            rank.last = self._take_new(run, count)
            return
        bars = Run(between.block, between.first, between.first + between.bars_of(count))
        of._order += between.all_of(count) - 1
        self._take_new(bars, len(bars))
        # The dict behind the last redraw tells the same step again.
        of._order += 1
        self._count(rank, run, count)
        rank.last = self._told(run, count)

    def _take_new(self, run: Run, count: int) -> Told:
        """Steps that nobody has told; the newest one."""
        of, rank, last = self._of, self._of.ranks[run.block.origin.rank], self._of.last_told
        assert last is not None
        if run.times is not None:
            of._note_time(float(run.times[:count].max()))
        self._count(rank, run, count)
        of._phase = rank.phase = Phase.TRAINING
        self._note_pace(run, count, last)
        told = of.last_told = self._told(run, count)
        of._new_steps[of.attempt] += count
        return told

    def _count(self, rank: RankFacts, run: Run, count: int) -> None:
        rank.count(self._told(run, 1))
        rank.told += count - 1
        rank.steps += count

    def _told(self, run: Run, count: int) -> Told:
        newest = run.sample(count - 1)
        return Told(int(run.steps[count - 1]), newest.time, newest.evidence, self._of._order, self._of.attempt)

    def _note_work(self, run: Run, count: int) -> None:
        """Each size that another one followed."""
        sizes = [run.field(name) for name in ("batch_size", "sequence_length")]
        told = [size[:count] for size in sizes if size is not None]
        if not told:
            return
        places = np.flatnonzero(np.any([np.diff(size, prepend=np.nan) != 0 for size in told], axis=0))
        for place in places[: MOST_SIZES + 1].tolist():
            batch, length = (None if size is None else float(size[place]) for size in sizes)
            self._of.pace.note_work(int(run.steps[place]), work_of(batch, length))

    def _note_pace(self, run: Run, count: int, last: Told) -> None:
        self._note_work(run, count)
        seconds = run.field("step_seconds")
        if seconds is not None:
            add(self._of.pace, run, seconds[:count], 0)
        elif run.times is not None:
            first = 0 if last.time is not None else 1
            times = np.concatenate(([last.time if last.time is not None else 0.0], run.times[:count]))
            steps = np.concatenate(([last.step], run.steps[:count]))
            add(self._of.pace, run, (np.diff(times) / np.diff(steps))[first:], first)


def add(pace: Pace, run: Run, seconds: Floats, first: int) -> None:
    """What each step took, as `Pace.add` takes it one by one; `first` is the place of the first in the run."""
    good = np.flatnonzero((seconds > 0.0) & np.isfinite(seconds))
    values = seconds[good]
    place = 0
    while place < len(values):
        waiting, merge = len(pace._waiting), pace._merge
        groups = (len(values) - place) // merge if not waiting else 0
        groups = min(groups, KEPT + 1 - len(pace._intervals))
        if groups > 0:
            _add_whole(pace, run, values[place : place + groups * merge], good[place : place + groups * merge] + first)
            place += groups * merge
            continue
        at = int(good[place]) + first
        pace.add(int(run.steps[at]), float(values[place]), run.evidence(at))
        place += 1


def _add_whole(pace: Pace, run: Run, values: Floats, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    merge = pace._merge
    medians = np.median(values.reshape(-1, merge), axis=1) if merge > 1 else values
    for number, median in enumerate(medians.tolist()):
        at = int(places[number * merge])
        pace._intervals.append(Interval(int(run.steps[at]), median, run.evidence(at)))
    if len(pace._intervals) > KEPT:
        # One more that is dropped again lets the pace itself join its neighbours.
        newest = pace._intervals.pop()
        pace._waiting, pace._merge = [], 1
        pace.add(newest.step, newest.seconds, newest.evidence)
        pace._merge = merge * 2
