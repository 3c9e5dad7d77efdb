"""A run: points of a block that follow each other, all with a finite loss or all without."""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.block import StepBlock, Whole
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.between import Between
from diagnosis.formats.bulk.weaving import Woven
from diagnosis.observations import Evidence, Origin, StepKind, StepSample

LONGEST = 1 << 14


class Run:
    """Some points of a block; `run.loss[0]` is the loss of the first."""

    def __init__(self, block: StepBlock, start: int, stop: int, between: Between | None = None) -> None:
        self.block = block
        self.start = start
        self.between = between
        """The redraws of a bar in front of its points."""
        self.steps: Whole = block.steps[start:stop]
        self.loss = _cut(block.loss, start, stop)
        self.norm = _cut(block.grad_norm, start, stop)
        self.lr = _cut(block.lr, start, stop)
        self.times = _cut(block.times, start, stop)

    def __len__(self) -> int:
        return len(self.steps)

    def field(self, name: str) -> Floats | None:
        """What else the lines carry."""
        return _cut(self.block.fields.get(name), self.start, self.start + len(self))

    @cached_property
    def is_finite(self) -> bool:
        """True when all points have a finite loss (False: none has)."""
        return self.loss is not None and bool(np.isfinite(self.loss[0]))

    @cached_property
    def has_finite_norm(self) -> bool:
        """True when all points have a finite grad norm."""
        return self.norm is not None and bool(np.isfinite(self.norm[0]))

    def told_steps(self, count: int) -> Whole:
        """The steps of the first points, and of the redraws between them."""
        between = self.between
        return self.steps[:count] if between is None else between.steps[: between.all_of(count)]

    def glance(self, place: int) -> "Glance":
        """One of its points and the redraws between them, in the order of the log."""
        between = self.between
        if between is None:
            return Glance(self, place)
        point = between.points_before(place)
        if between.is_bar[place]:
            return Glance(self._bars, place - point)
        return Glance(self, point)

    @cached_property
    def _bars(self) -> "Run":
        assert self.between is not None
        first = self.between.first
        return Run(self.between.block, first, first + len(self.between.bar_steps))

    def sample(self, place: int) -> StepSample:
        """One point as an observation."""
        return self.block.sample(self.start + place)

    def evidence(self, place: int) -> Evidence:
        """The line of one point."""
        return self.block.evidence(self.start + place)

    def newest(self, count: int, most: int | None) -> list[StepSample]:
        """The last ones of the first `count` points, at most so many; what is kept for long must be made real."""
        first = 0 if most is None else max(0, count - most)
        return [Glance(self, place) for place in range(first, count)]


class Glance(StepSample):
    """A point whose values are looked up when they are asked for: nearly all of them never are."""

    __slots__ = ("_place", "_run")
    _run: Run
    _place: int

    def __init__(self, run: Run, place: int) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_place", place)

    @property
    def origin(self) -> Origin:
        """Where it was seen."""
        return self._run.block.origin

    @property
    def step(self) -> int:
        """The optimizer step."""
        return int(self._run.steps[self._place])

    @property
    def step_kind(self) -> StepKind:
        """Where the step comes from."""
        return self._run.block.step_kind

    @property
    def loss(self) -> float | None:
        """The training loss."""
        return None if self._run.loss is None else float(self._run.loss[self._place])

    @property
    def evidence(self) -> Evidence:
        """The line that shows it."""
        return self._run.evidence(self._place)

    @property
    def grad_norm(self) -> float | None:
        """The grad norm."""
        return None if self._run.norm is None else float(self._run.norm[self._place])

    @property
    def lr(self) -> float | None:
        """The learning rate."""
        return None if self._run.lr is None else float(self._run.lr[self._place])

    @property
    def time(self) -> float | None:
        """Unix seconds as the log prints them."""
        return None if self._run.times is None else float(self._run.times[self._place])

    @property
    def seen_at(self) -> None:
        """Offline nobody saw the line arrive."""

    @property
    def fields(self) -> "Fields":
        """Whatever else the line carries."""
        return Fields(self._run.block.fields, self._run.start + self._place)

    def real(self) -> StepSample:
        """The observation itself."""
        return self._run.sample(self._place)


def real(seen: StepSample) -> StepSample:
    """The observation behind a glance."""
    return seen.real() if isinstance(seen, Glance) else seen


class Fields(Mapping[str, float]):
    """What else a line carries, looked up when it is asked for."""

    __slots__ = ("_columns", "_place")

    def __init__(self, columns: Mapping[str, Floats], place: int) -> None:
        self._columns = columns
        self._place = place

    def __getitem__(self, name: str) -> float:
        return float(self._columns[name][self._place])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def cut_run(told: StepBlock | Woven, start: int, most: int = LONGEST) -> Run:
    """The longest run that begins at a point of a block: steps rise, numbers are all finite or all not."""
    block = told if isinstance(told, StepBlock) else told.dicts
    stop = min(len(block), start + most)
    stop = start + 1 + first_of(np.diff(block.steps[start:stop]) <= 0)
    for column in (block.loss, block.grad_norm):
        if column is not None:
            finite = np.isfinite(column[start:stop])
            others = np.flatnonzero(finite != finite[0])
            if len(others):
                stop = start + int(others[0])
    return Run(block, start, stop, None if told is block else Between(told, start, stop))  # type: ignore[arg-type]


def first_of(bad: NDArray[np.bool_]) -> int:
    """The place of the first one, or how many there are."""
    place = int(bad.argmax()) if len(bad) else 0
    return place if len(bad) and bad[place] else len(bad)


def _cut(column: Floats | None, start: int, stop: int) -> Floats | None:
    return None if column is None else column[start:stop]
