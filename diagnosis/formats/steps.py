"""Where each counter of a source stands: epoch-wise counters made global, steps that go back noticed."""

from collections.abc import Sequence
from itertools import islice
from operator import lt

from diagnosis.formats.line_format import Values
from diagnosis.observations import Origin

_MOST = 1e15
"""A larger number, or NaN, is no step."""


class Laps:
    """How long the epochs of a counter are that begins again with each."""

    __slots__ = ("_first", "length")

    def __init__(self) -> None:
        self._first = 0.0
        self.length = 0

    def learn(self, before: float | None, epoch: float | None, steps: int) -> None:
        """So many steps lie between two epochs."""
        if before is not None and epoch is not None and epoch > before:
            if not self.length:
                self._first = before
            self.length = int(steps / (epoch - before))

    def before(self, epoch: float) -> int:
        """Steps before an epoch, by the length of the newest: a run that is resumed in it counts from there."""
        return max(0, int(self.length * (epoch - self._first)))


class Steps:
    """The step counter of one origin in one dialect."""

    __slots__ = (
        "_epoch",
        "_first_epoch",
        "_headed",
        "_heading",
        "_laps",
        "_offset",
        "_opens",
        "_places",
        "_skipped",
        "_within",
        "attempt",
        "highest",
        "last",
        "losses",
        "origin",
        "stride",
    )

    def __init__(self, origin: Origin, attempt: int) -> None:
        self.origin = origin
        """Kept so that its identity stays its own."""
        self.attempt = attempt
        """The reader's attempt in which this counter was last seen."""
        self.last: int | None = None
        self.highest = 0
        self.losses = 0
        """Training losses told by this counter's lines."""
        self.stride = 0
        self._epoch: float | None = None
        self._first_epoch: float | None = None
        self._offset = 0
        self._headed = 0
        """The same for lines without an epoch, below a heading that tells it."""
        self._heading: int | None = None
        self._opens = False
        self._laps = Laps()
        self._within = 0
        self._places = 0
        self._skipped = 0.0

    def restart(self, attempt: int) -> None:
        """Begin anew with the source's new attempt."""
        self.attempt = attempt
        self.last, self._epoch = None, None
        self._offset = self._headed = self._within = self._places = 0
        self._opens = False
        self._skipped = 0.0

    def go_back(self, attempt: int, step: int) -> None:
        """Go on from an earlier step of the same run, in another attempt; its epochs are as long as before."""
        self.attempt, self.last = attempt, step
        self._places = 0
        self._skipped = 0.0

    def open_epoch(self, epoch: int) -> None:
        """A heading said so: a step that begins again belongs to it, if it is a later one."""
        before, self._heading = self._heading, epoch
        if before is None or epoch > before:
            self._opens = self.last is not None
        elif self._laps.length and (epoch < before or self.last is None):
            self._headed = self._laps.before(epoch)

    def base(self, *, within_epochs: bool) -> int:
        """What is added to a printed step that does not begin again."""
        return self._offset if within_epochs else self._headed

    def whole(self, values: Values) -> int | None:
        """The global step of a line; a counter that begins again with the next epoch goes on from the last one."""
        step = values.pop("step", None)
        rounded = values.pop("step_rounded", 0.0)
        length = values.pop("steps_per_epoch", 0.0)
        first = values.pop("first_epoch", None)
        if first is not None:
            if self._first_epoch is None:
                self._first_epoch = min(first, values["epoch"])
            return self._in_epoch(values.pop("step_in_epoch"), length, values["epoch"] - self._first_epoch)
        if rounded and step is not None and self.stride and self.last is not None:
            exact = float(self.last + self.stride)
            if abs(exact - step) <= rounded / 2:
                step = exact
        if step is not None and "epoch" not in values and "lap" not in values:
            return self._below_heading(step) if -_MOST < step < _MOST else None
        within = values.pop("step_in_epoch", None)
        lap = values.pop("lap", None)
        epoch = values.get("epoch") if lap is None else lap
        counter = within if step is None else step
        if counter is None or not -_MOST < counter < _MOST:
            return None
        is_next = self._epoch is not None and epoch is not None and epoch > self._epoch
        # A lap of one redraw alone, or an epoch of one line, ends where the one before it ended.
        is_at_end = counter == self._within and (lap is not None or counter == length)
        begins_again = epoch is None and step is None and self._begins_again(counter, length)
        if begins_again or (is_next and (counter < self._within or is_at_end)):
            # Where the line tells how long an epoch is, the last steps of it may have gone unprinted.
            grown = max(self._within, int(length)) if lap is None else self._within
            self._offset += grown
            if is_next and lap is None:
                self._laps.learn(self._epoch, epoch, grown)
        elif epoch is not None and lap is None and self._laps.length and (self._epoch is None or epoch < self._epoch):
            self._offset = self._laps.before(epoch)
        self._epoch, self._within = epoch, int(counter)
        return self._offset + int(counter)

    def _below_heading(self, step: float) -> int:
        """MONAI's `epoch 2/5` stands above lines that count `1/10`, `2/10`."""
        if self._opens and self.last is not None and step < self.last - self._headed:
            if self._heading is not None:
                self._laps.learn(self._heading - 1, self._heading, self.last - self._headed)
            self._headed = self.last
        self._opens = False
        return self._headed + int(step)

    def _begins_again(self, counter: float, length: float) -> bool:
        """Whether a batch's number begins again with an epoch of which only other lines tell."""
        is_at_end = not length or self._within + self.stride >= length
        return is_at_end and 2 * counter < self._within

    @staticmethod
    def _in_epoch(within: float, length: float, epochs: float) -> int | None:
        step = epochs * length + within
        return int(step) if -_MOST < step < _MOST else None

    def place(self) -> int:
        """The number of a line that has nothing but its place among its like."""
        self._places += 1
        return self._places

    def is_block(self, samples: int) -> bool:
        """Whether a line without a loss, among others that have one, tells how many samples the block before it had."""
        return bool(self.losses) and self.last is not None and samples < self.last

    def goes_on(self, step: int) -> bool:
        """Take the next step; False when it can only be a new beginning."""
        last = self.last
        if last is None or step >= last:
            if last is not None and step > last:
                self.stride = step - last
            self.last = step
            return True
        if last - step < 2 * max(self.stride, 1):
            return True  # ranks that share a file without tags print out of order by a line or two
        self.highest = last
        return False

    def rise(self, told: Sequence[float], *, within_epochs: bool) -> list[int]:
        """The global steps of lines in a row, as many from the first on as do nothing but rise; takes none of them."""
        last = self.last
        if last is None or not (min(told) > -_MOST and max(told) < _MOST):
            return []
        try:
            steps = list(map(int, told))
        except ValueError:  # a NaN among them
            return []
        if within_epochs and steps[0] < self._within:
            return []
        base = self.base(within_epochs=within_epochs)
        if base:
            steps = [base + step for step in steps]
        if steps[0] < last or self._opens:
            return []
        if all(map(lt, steps, islice(steps, 1, None))):
            return steps
        return steps[: next(place for place in range(1, len(steps)) if steps[place - 1] >= steps[place])]

    def take_rise(self, steps: Sequence[int], epoch: float | None) -> None:
        """Take those steps, at least two; `epoch` is what the last line says of it."""
        if epoch is not None:
            self._epoch, self._within = epoch, steps[-1] - self._offset
        self.stride = steps[-1] - steps[-2]
        self.last = steps[-1]

    def skipped_since(self, total: float) -> float:
        """How far a counter of skipped steps has grown; two engines that share a name do not make it shrink."""
        grown = max(0.0, total - self._skipped)
        self._skipped = max(self._skipped, total)
        return grown
