"""Gives a step to loss lines that carry none: position times the logging interval, checked with the bar.

The Hugging Face Trainer prints `{'loss': …}` without a step, and a progress bar beside it. When stdout is a
file, dicts are block-buffered while the bar is not, so ten of them may stand after a bar that is far ahead;
when bars are fast, the one in front of a dict may lag behind. So: a single dict takes the bar that is redrawn
right after it, a burst shares out the steps since the last one, and once the interval is known a dict that
fits it waits for nothing. A log without a bar has nothing to wait for: once that has shown, each dict is told at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values
from diagnosis.observations import StepKind

_NICE = (1000, 500, 250, 200, 100, 50, 25, 20, 10, 5, 4, 2, 1)
MOST_WAITING = 256
_MOST_EPOCHS = 50
_EPOCH_ROUNDING = 0.011
"""Epochs are printed with two decimals; a distance of two of them may be off by this much."""
_UNKNOWN = float("nan")
_FAST_BAR_SECONDS = 0.15
"""Below this many seconds a step, tqdm does not redraw for every step."""


@dataclass(slots=True)
class Waiting:
    """A loss line that has no step yet."""

    values: Values
    line: Line
    name: str
    bar: int | None
    """The newest bar when it was read."""


@dataclass(slots=True)
class ImpliedSteps:
    """The steps of one stream's loss lines."""

    interval: int | None = None
    bar: int | None = None
    total: int | None = None
    epochs: int | None = None
    """Passes over the data the run will make."""
    waiting: list[Waiting] = field(default_factory=list)
    waits_since: float | None = None
    """When the first of them came, by the watcher's clock."""
    _told: bool = False
    _is_alone: bool = False
    """Dicts had to be told by their place, as nothing else was there to tell their steps."""
    _start: int | None = None
    _last: int | None = None
    _is_burst: bool = False
    _seconds: float | None = None
    _position: int = 0

    def tell_interval(self, interval: int) -> None:
        """The log (or a person) says how many steps lie between two losses."""
        if interval > 0:
            self.interval, self._told = interval, True

    def begin(self) -> None:
        """The bar was seen at 0, so steps are counted from there."""
        if self._start is None:
            self._start = 0

    def restart(self) -> None:
        """A new attempt: positions count anew."""
        self.bar = self._start = self._last = None
        self._is_burst = self._is_alone = False
        self._position = 0
        if not self._told:
            self.interval = None

    @property
    def tells_at_once(self) -> tuple[int, int, StepKind] | None:
        """The next step, how far the ones behind it are apart, and what they are; None: a dict has to wait."""
        if self.bar is not None or self._is_burst or self.waiting:
            return None
        if self._told and self._last is not None and self.interval is not None:
            return self._last + self.interval, self.interval, "implied"
        return (self._position + 1, 1, "ordinal") if self._is_sure_alone and self.interval is None else None

    @property
    def _is_sure_alone(self) -> bool:
        """No bar comes, and no epochs can tell more once there are some."""
        return self._is_alone and not (self.total and self.epochs)

    def take_told(self, count: int) -> None:
        """So many dicts were told at once."""
        if self._told and self._last is not None and self.interval is not None:
            self._last += self.interval * count
        self._position += count

    def take(self, waiting: Waiting, now: float | None = None) -> Iterator[tuple[Waiting, int, StepKind]]:
        """A new loss line; gives out those whose step is known now. `now`: the watcher's clock."""
        waiting.bar = self.bar
        if not self.waiting:
            self.waits_since = now
        self.waiting.append(waiting)
        expected = None if self._last is None or self.interval is None else self._last + self.interval
        if len(self.waiting) == 1 and expected is not None and self._fits(expected):
            yield from self._give(self.waiting, [expected])
        elif len(self.waiting) >= MOST_WAITING or self._is_sure_alone:
            yield from self.flush()

    def tell(self, place: int, step: int) -> Waiting:
        """Somebody else tells the step of one of those that wait."""
        told = self.waiting.pop(place)
        self._learn_interval(step)
        self._last = step
        self._position += 1
        return told

    def redraw(self, step: int, total: int, seconds: float | None) -> Iterator[tuple[Waiting, int, StepKind]]:
        """A bar of the training loop; gives out the loss lines it explains."""
        if self._start is None:
            self._start = step
        self._is_alone = False
        before, self.bar, self.total = self.bar, step, total
        if seconds is not None:
            self._seconds = seconds
        if self.waiting:
            yield from self._resolve(before, step)

    def flush(self) -> Iterator[tuple[Waiting, int, StepKind]]:
        """Nothing more will come that could explain them."""
        if not self.waiting:
            return
        interval = self.interval
        if interval is not None and (self._told or self._last is not None):
            first = (self._last or 0) + interval
            if len(self.waiting) == 1 and not self._is_burst and self.bar is not None and self.bar > first:
                first += (self.bar - first) // interval * interval  # the rows between them were lost
            steps = [first + interval * place for place in range(len(self.waiting))]
            yield from self._give(self.waiting, steps)
            return
        if self.bar is not None:
            yield from self._resolve(self.bar, self.bar)
            return
        by_epoch = self._steps_by_epoch()
        if by_epoch is not None:
            yield from self._give(self.waiting, by_epoch)
            return
        yield from self._give_ordinal()

    def _fits(self, expected: int) -> bool:
        if self.bar is None or self.interval is None:
            return self._told
        if self._is_burst:
            return expected <= self.bar
        return expected == self.bar

    def _resolve(self, before: int | None, after: int) -> Iterator[tuple[Waiting, int, StepKind]]:
        count = len(self.waiting)
        if count == 1 and not self._is_burst:
            yield from self._give(self.waiting, [self._single(self.waiting[0].bar, after)])
            return
        newest = self.waiting[-1].bar
        limit = after if newest is None else min(after, max(newest, before or 0))
        if limit - (self._last if self._last is not None else self._start or 0) < count:
            limit = after  # the bar is printed now and then only: this one explains what stands in front of it
        steps = self._share_out(count, limit)
        self._is_burst = True
        yield from self._give(self.waiting, steps)

    def _single(self, before: int | None, after: int) -> int:
        """A dict between two bars."""
        if before is None or before == after:
            return after
        expected = None if self._last is None or self.interval is None else self._last + self.interval
        if expected is not None and before <= expected <= after:
            return expected
        if self._last is not None and before <= self._last < after:
            return after  # the step before it has its dict already
        is_slow = self._seconds is not None and self._seconds >= _FAST_BAR_SECONDS
        return before if is_slow else after

    def _share_out(self, count: int, limit: int) -> list[int]:
        """Steps for a burst: at equal distances since the last one, none beyond the bar."""
        anchor = self._last
        if anchor is None:
            anchor = self._start if self._start is not None and 1 < self._start < limit else 0
        interval = self.interval
        if interval is None or (not self._told and anchor + interval * count > limit):
            interval = self._interval_by_epoch(limit - anchor) or _roundest(
                (limit - anchor) / count * 0.8, (limit - anchor) / count
            )
        if not self._told:
            self.interval = interval
        if self._last is None:
            anchor -= anchor % interval
            if anchor == 0 and self._logs_first_step(interval):
                return [1, *(interval * place for place in range(1, count))]
        return [anchor + interval * (place + 1) for place in range(count)]

    def _interval_by_epoch(self, most: float) -> int | None:
        """From the epochs of a burst: their distance, times the steps of one epoch.

        How many epochs the run has is often not printed; the fewest that fit below the bar are right.
        """
        epochs = [waiting.values.get("epoch", _UNKNOWN) for waiting in self.waiting]
        count = len(epochs)
        # The first dict may stand for step 1 alone, so distances are taken from the second.
        apart = (epochs[-1] - epochs[1]) / (count - 2) if count >= 4 else 0.0
        if not self.total or not apart > 0:
            return None
        for passes in (self.epochs,) if self.epochs else range(1, _MOST_EPOCHS):
            per_epoch = self.total / passes
            interval = apart * per_epoch
            if interval * (count - 1) <= most * 1.02 + 1:
                error = _EPOCH_ROUNDING / (count - 2) * per_epoch
                return _roundest(interval - error, interval + error) if error < 0.3 * interval else None
        return None

    def _logs_first_step(self, interval: int) -> bool:
        """`logging_first_step`: the first dict is step 1, the second the interval."""
        count = len(self.waiting)
        epochs = [waiting.values.get("epoch", _UNKNOWN) for waiting in self.waiting]
        apart = (epochs[-1] - epochs[1]) / (count - 2) if count >= 4 and interval > 1 else 0.0
        return apart > 1.3 * _EPOCH_ROUNDING and epochs[-1] / apart < count - 0.5

    def _steps_by_epoch(self) -> list[int] | None:
        """Without any bar: epochs alone, where total and number of epochs are known."""
        first = self.waiting[0].values.get("epoch")
        interval = self.interval or (self._interval_by_epoch(float("inf")) if self.epochs else None)
        if interval is None or first is None or not self.total or not self.epochs:
            return None
        anchor = self._last
        if anchor is None:
            anchor = round(first * self.total / self.epochs / interval) * interval - interval
        self.interval = interval
        return [anchor + interval * (place + 1) for place in range(len(self.waiting))]

    def _give(self, waiting: Sequence[Waiting], steps: Sequence[int]) -> Iterator[tuple[Waiting, int, StepKind]]:
        given = list(zip(waiting, steps, strict=True))
        self.waiting = []
        for one, step in given:
            if not self._is_burst:
                self._learn_interval(step)
            self._last = step
            self._position += 1
            yield one, step, "implied"

    def _learn_interval(self, step: int) -> None:
        """Rows that were lost make a distance longer, never shorter; the one behind the first step is none."""
        last = self._last
        if last is None or self._told or step <= last or (last == 1 and self._position == 1):
            return
        self.interval = min(self.interval or step, step - last)

    def _give_ordinal(self) -> Iterator[tuple[Waiting, int, StepKind]]:
        waiting, self.waiting = self.waiting, []
        self._is_alone = True
        for one in waiting:
            self._position += 1
            yield one, self._position, "ordinal"


def _roundest(low: float, high: float) -> int:
    """The roundest whole number in a range, which people choose for an interval; at least 1."""
    most = max(1, int(high + 1e-9))
    for unit in _NICE:
        candidate = most - most % unit
        if candidate and candidate >= low:
            return candidate
    return most
