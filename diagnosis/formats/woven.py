"""A stretch of Trainer dicts with the redraws of the bar between them, as columns.

Each dict has redraws of its own in front of it, and the last of them tells its step. Whoever looks at numbers alone
takes the dicts as any stretch; whoever counts steps or keeps lines takes both, in the order of the log.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import add

from diagnosis.formats import drafts
from diagnosis.formats.numbers import parse_duration
from diagnosis.formats.stretch import Column, Course, Later, Stretch
from diagnosis.observations import Evidence, Origin, StepSample

Place = tuple[int, int, int]
"""Of a piece of a line that is rewritten: its line's place among the lines, its start and its end in it."""


class RewrittenLines:
    """Lines that are rewritten with CR, for evidence."""

    __slots__ = ("file", "first", "offsets", "raws")

    def __init__(self, file: str, first: int, raws: Sequence[bytes], offsets: Sequence[int]) -> None:
        self.file = file
        self.first = first
        """The number of the first line."""
        self.raws = raws
        self.offsets = offsets

    def evidence(self, line: int, start: int, end: int) -> Evidence:
        """A piece behind what it was drawn over."""
        text = self.raws[line][:end].decode("utf-8", "replace")
        return drafts.evidence(self.file, self.first + line, text, self.offsets[line] + start)


class Redraws:
    """The redraws of a bar that tell a new count."""

    __slots__ = ("_lines", "_made", "_matches", "_origin", "_places", "_seen_at", "steps")

    def __init__(
        self,
        origin: Origin,
        steps: list[int],
        matches: Sequence["re.Match[bytes]"],
        lines: RewrittenLines,
        places: Sequence[Place],
        *,
        seen_at: float | None,
    ) -> None:
        self.steps = steps
        self._origin = origin
        self._matches = matches
        self._lines = lines
        self._places = places
        self._seen_at = seen_at
        self._made: dict[int, StepSample] = {}

    def sample(self, place: int) -> StepSample:
        """One of them as an observation; the same object each time it is asked for."""
        made = self._made.get(place)
        if made is None:
            shown = self._lines.evidence(*self._places[place])
            told = (self._origin, self.steps[place], "printed", None, shown, None, None, None, self._seen_at)
            made = self._made[place] = drafts.step_sample(*told, self.fields(place))  # type: ignore[arg-type]
        return made

    def fields(self, place: int) -> Mapping[str, float]:
        """What one of them tells."""
        match = self._matches[place]
        rate, elapsed = float(match["rate"]), parse_duration(match["elapsed"].decode())
        return {
            "total_steps": float(match["total"]),
            "elapsed_seconds": elapsed or 0.0,
            "step_seconds": rate if match["unit"] == b"s/it" else 1 / rate,
        }


class WovenStretch(Stretch):
    """The dicts; `redraws` are those between them."""

    __slots__ = ("_lines", "_order", "_places", "before", "redraws")

    def __init__(
        self,
        lines: RewrittenLines,
        redraws: Redraws,
        before: list[int],
        places: Sequence[Place],
        *,
        origin: Origin,
        steps: list[int],
        columns: dict[str, Column],
        constants: Mapping[str, float],
        seen_at: float | None,
    ) -> None:
        times = [None] * len(steps)
        super().__init__(lines.file, origin, "implied", steps, columns, constants, times, seen_at, lines.first, (), ())
        self.redraws = redraws
        self.before = before
        """How many redraws come before each dict."""
        self._lines = lines
        self._places = places
        self._order: list[int] | None = None

    def bars_of(self, at: int, stop: int) -> tuple[int, int]:
        """The first redraw that belongs to some dicts, and where they end."""
        return self.before[at - 1] if at else 0, self.before[stop - 1] if stop else 0

    def first_step(self, at: int) -> int:
        """The step of the first redraw in front of a dict."""
        return self.redraws.steps[self.bars_of(at, at + 1)[0]]

    def both(self, at: int = 0, stop: int | None = None) -> Iterator[StepSample]:
        """Some dicts and what belongs to them, in the order of the log."""
        first = self.bars_of(at, at + 1)[0]
        for place, ends in enumerate(self.before[at:stop], at):
            for bar in range(first, ends):
                yield self.redraws.sample(bar)
            yield self.sample(place)
            first = ends

    def newest_of_both(self, count: int, at: int, stop: int) -> Iterator[Later]:
        """The last `count` of some dicts and of what belongs to them, none of them made yet."""
        first, last = self._place_of(at - 1) + 1 if at else 0, self._place_of(stop - 1) + 1
        return map(self.later_of_both, range(max(first, last - count), last))

    def ends_of(self, at: int, stop: int) -> Iterator[StepSample]:
        """The first and the last of each kind."""
        first, last = self.bars_of(at, stop)
        bars, dicts = self.redraws.sample, self.sample
        return iter((bars(first), dicts(at), bars(last - 1), dicts(stop - 1)))

    def new_steps(self, newest: int, at: int, stop: int) -> int:
        """How many of some steps are above `newest`."""
        first, last = self.bars_of(at, stop)
        return last - bisect_right(self.redraws.steps, newest, first, last)

    def count_of_both(self, at: int, stop: int) -> int:
        """How many they are, with the redraws."""
        first, last = self.bars_of(at, stop)
        return stop - at + last - first

    def course(self, at: int, stop: int, *, has_points: bool = True) -> tuple[Course, int, int]:
        """Both, or the redraws alone, for somebody who looks at a few; and from where to where."""
        if not has_points:
            return WovenCourse(self, self.redraws), *self.bars_of(at, stop)
        return WovenCourse(self), self._place_of(at - 1) + 1 if at else 0, self._place_of(stop - 1) + 1

    def later_of_both(self, place: int) -> Later:
        """One of both by its place in the order of the log."""
        if self._order is None:
            self._order = list(map(add, self.before, range(len(self.before))))
        dicts = bisect_left(self._order, place)
        if self._order[dicts] == place:
            return Later(self, dicts)
        return Later(self.redraws, place - dicts)

    def _make(self, place: int) -> StepSample:
        fields = {name: column[place] for name, column in self.fields.items()}
        numbers = (None if column is None else column[place] for column in (self.losses, self.grad_norms, self.lrs))
        loss, norm, lr = numbers
        shown = self._lines.evidence(*self._places[place])
        return drafts.step_sample(
            self.origin,
            self.steps[place],
            self.kind,
            loss,
            shown,
            norm,
            lr,
            None,
            self.seen_at,
            {**fields, **self.constants},
        )

    def _place_of(self, dict_place: int) -> int:
        """The place of a dict among both."""
        return self.before[dict_place] + dict_place


class WovenCourse:
    """Dicts and redraws in the order of the log, or the redraws alone."""

    __slots__ = ("_of", "_stretch")
    came_together = True

    def __init__(self, stretch: WovenStretch, of: Redraws | None = None) -> None:
        self._stretch = stretch
        self._of = of

    def step(self, place: int) -> int:
        """The step of one."""
        later = self._later(place)
        return later.stretch.steps[later.place]

    def time(self, place: int) -> float | None:
        """When the lines were seen."""
        del place
        return self._stretch.seen_at

    def value(self, place: int, name: str) -> float | None:
        """A field of one; None: it does not tell it."""
        return self.sample(place).fields.get(name)

    def sample(self, place: int) -> StepSample:
        """One as an observation."""
        return self._later(place).sample()

    def _later(self, place: int) -> Later:
        return self._stretch.later_of_both(place) if self._of is None else Later(self._of, place)
