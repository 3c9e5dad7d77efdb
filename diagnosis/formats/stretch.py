"""Step lines in a row as columns: what a live reader gives when a process prints many lines that look alike.

A thousand lines a second would be two thousand objects a second for each file, and nearly all of them would be
looked at once and thrown away. So a stretch keeps the numbers as lists and makes an observation of a point only
when somebody wants it: as evidence, or to remember it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, repeat
from operator import le
from typing import NamedTuple, Protocol

from diagnosis.formats import drafts
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.observations import Observation, Origin, StepKind, StepSample

Column = list[float]


class Point(NamedTuple):
    """The numbers of one step line without the line: enough to remember it by, and small."""

    origin: Origin
    step: int | None
    loss: float | None
    grad_norm: float | None
    lr: float | None
    time: float | None
    seen_at: float | None
    step_kind: StepKind


class Maker(Protocol):
    """Makes observations of its points when they are asked for."""

    steps: list[int]

    def sample(self, place: int) -> StepSample:
        """One of its points."""


class Later(NamedTuple):
    """A point of a stretch that is made an observation only when somebody wants to see it."""

    stretch: Maker
    place: int

    def sample(self) -> StepSample:
        """The observation."""
        return self.stretch.sample(self.place)


class Course(Protocol):
    """Points in the order of the log."""

    @property
    def came_together(self) -> bool:
        """True when no line has a time of its own."""

    def step(self, place: int) -> int:
        """The step of one."""

    def time(self, place: int) -> float | None:
        """When one was, by the log or else by the watcher's clock."""

    def value(self, place: int, name: str) -> float | None:
        """A field of one; None: its line does not carry it."""

    def sample(self, place: int) -> StepSample:
        """One as an observation."""


def real(seen: StepSample | Later) -> StepSample:
    """The observation itself."""
    return seen.sample() if isinstance(seen, Later) else seen


class Stretch:
    """What a reader would have said in as many `StepSample`s: one process, one attempt, steps that rise.

    All lines carry the same metrics; a column is None where they carry none.
    """

    __slots__ = (
        "_made",
        "_untimed",
        "constants",
        "fields",
        "file",
        "finite",
        "grad_norms",
        "kind",
        "line",
        "losses",
        "lrs",
        "offsets",
        "origin",
        "printed",
        "seen_at",
        "steps",
        "times",
    )

    def __init__(  # noqa: PLR0917 - made once for hundreds of lines, by one caller
        self,
        file: str,
        origin: Origin,
        kind: StepKind,
        steps: list[int],
        columns: dict[str, Column],
        constants: Mapping[str, float],
        times: Sequence[float | None],
        seen_at: float | None,
        line: int,
        offsets: Sequence[int],
        printed: Sequence[str],
    ) -> None:
        self.file = file
        self.origin = origin
        self.kind: StepKind = kind
        self.steps = steps
        self.losses = columns.pop("loss", None)
        self.grad_norms = columns.pop("grad_norm", None)
        self.lrs = columns.pop("lr", None)
        self.fields: Mapping[str, Column] = columns
        """What else the lines carry, by our names."""
        self.constants = constants
        """What all of them say alike."""
        self.times = times
        self.seen_at = seen_at
        self.line = line
        """The number of the first line."""
        self.offsets = offsets
        self.printed = printed
        self.finite = min(_finite(self.losses, len(steps)), _finite(self.grad_norms, len(steps)))
        """How many points from the first on have a finite loss and grad norm, as far as they have any."""
        self._made: dict[int, StepSample] = {}
        self._untimed: bool | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def sample(self, place: int) -> StepSample:
        """One of its points as an observation; the same object each time it is asked for."""
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = self._make(place)
        return made

    def samples(self, start: int = 0, stop: int | None = None) -> Iterator[StepSample]:
        """Its points as observations, in order."""
        for place in range(start, len(self.steps) if stop is None else stop):
            yield self.sample(place)

    # What a stretch with the redraws of a bar between its points (`woven.py`) tells more of

    def both(self, at: int = 0, stop: int | None = None) -> Iterator[StepSample]:
        """Some of its points and what stands between them, in the order of the log."""
        return self.samples(at, stop)

    def count_of_both(self, at: int, stop: int) -> int:
        """How many those are."""
        return stop - at

    def newest_of_both(self, count: int, at: int, stop: int) -> Iterator[Later]:
        """The last `count` of them, none of them made yet."""
        return self.later(count, at, stop)

    def ends_of(self, at: int, stop: int) -> Iterator[StepSample]:
        """The first and the last of each kind."""
        return iter((self.sample(at), self.sample(stop - 1)))

    def first_step(self, at: int) -> int:
        """The step of the first of them."""
        return self.steps[at]

    def new_steps(self, newest: int, at: int, stop: int) -> int:
        """How many of their steps are above `newest`."""
        return stop - bisect_right(self.steps, newest, at, stop)

    def course(self, at: int, stop: int, *, has_points: bool = True) -> "tuple[Course, int, int]":
        """Both, or what stands between the points alone, for somebody who looks at a few; and from where to where."""
        return self, at, stop if has_points else at

    def step(self, place: int) -> int:
        """The step of a point."""
        return self.steps[place]

    def newest(self, count: int | None, at: int, stop: int) -> Iterator[StepSample]:
        """The last `count` of some of its points."""
        return self.samples(at if count is None else max(at, stop - count), stop)

    def later(self, count: int | None, at: int, stop: int) -> Iterator[Later]:
        """The same, none of them made yet."""
        return map(Later, repeat(self), range(at if count is None else max(at, stop - count), stop))

    def points(self, count: int | None, at: int, stop: int) -> Iterator[Point]:
        """The numbers of the last `count` of some of its points."""
        at = at if count is None else max(at, stop - count)
        columns = (self.losses, self.grad_norms, self.lrs)
        numbers = (repeat(None) if column is None else column[at:stop] for column in columns)
        alike = (repeat(self.seen_at), repeat(self.kind))
        return map(Point, repeat(self.origin), self.steps[at:stop], *numbers, self.times[at:stop], *alike)

    def time(self, place: int) -> float | None:
        """When a point was, by the log or else by the watcher's clock."""
        time = self.times[place]
        return time if time is not None else self.seen_at

    @property
    def came_together(self) -> bool:
        """True when no line has a time of its own."""
        if self._untimed is None:
            self._untimed = self.times.count(None) == len(self.times)
        return self._untimed

    def in_order_until(self, at: int, stop: int) -> int:
        """Up to where a line was printed before the one in front of it, or has no time where others have one."""
        times = self.times[at:stop]
        if self.came_together or (None not in times and all(map(le, times, islice(times, 1, None)))):  # type: ignore[arg-type]
            return stop
        pairs = enumerate(pairwise(times), at + 1)
        return next(
            (place for place, (one, next_one) in pairs if one is None or next_one is None or next_one < one), stop
        )

    def value(self, place: int, name: str) -> float | None:
        """A field of a point; None: the lines do not carry it."""
        column = self.fields.get(name)
        return self.constants.get(name) if column is None else column[place]

    def never_tells(self, name: str) -> bool:
        """True when a field is missing or 0 on all lines."""
        column = self.fields.get(name)
        return not self.constants.get(name) if column is None else not any(column)

    def span(self, name: str, at: int, stop: int) -> tuple[float, float] | None:
        """The lowest and the highest value of a field among some points; None: the lines do not carry it."""
        column = self.fields.get(name)
        if column is None:
            value = self.constants.get(name)
            return None if value is None else (value, value)
        values = column[at:stop]
        return min(values), max(values)

    def _make(self, place: int) -> StepSample:
        losses, norms, lrs = self.losses, self.grad_norms, self.lrs
        fields = {name: column[place] for name, column in self.fields.items()}
        if self.constants:
            fields |= self.constants
        return drafts.step_sample(
            self.origin,
            self.steps[place],
            self.kind,
            None if losses is None else losses[place],
            drafts.evidence(self.file, self.line + place, self.printed[place][:MAX_EVIDENCE], self.offsets[place]),
            None if norms is None else norms[place],
            None if lrs is None else lrs[place],
            self.times[place],
            self.seen_at,
            fields,
        )


Told = Observation | Stretch
"""What a reader gives: single observations, and stretches of step lines."""


def each(told: Sequence[Told]) -> list[Observation]:
    """The same with every step line for itself."""
    if not any(isinstance(one, Stretch) for one in told):
        return list(told)  # type: ignore[arg-type]
    return [seen for one in told for seen in (one.both() if isinstance(one, Stretch) else (one,))]


def below(column: Column, limit: float, at: int, stop: int) -> int:
    """Up to where no value is above a limit."""
    values = column[at:stop]
    if not values or max(values) <= limit:
        return stop
    return next(place for place in range(at, stop) if not column[place] <= limit)


def _finite(column: Column | None, length: int) -> int:
    """How many values from the first on are finite."""
    if column is None:
        return length
    total = sum(column)
    if total - total == 0.0:  # one value that is not finite leaves no finite sum
        return length
    return next((place for place, value in enumerate(column) if value - value != 0.0), length)
