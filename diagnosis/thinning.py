"""A metric of any length in bounded memory: buckets of doubling width that keep every extreme exactly.

First, last, lowest and highest of each bucket stay what they were logged as, so that a spike of one point is
still on the chart of a million. Non-finite points are kept apart, also bounded.
"""

from dataclasses import dataclass

from diagnosis.series import Mark, RunSeries, Series

KEPT_NONFINITE = 4_096
DEFAULT_BUCKETS = 2_048


@dataclass(slots=True)
class Bucket:
    """Some neighbouring points."""

    count: int
    first_step: float
    last_step: float
    time: float | None
    total: float
    lowest: float
    lowest_step: float
    highest: float
    highest_step: float

    def join(self, later: "Bucket") -> None:
        """Take in the next bucket."""
        self.count += later.count
        self.last_step = later.last_step
        self.time = later.time if later.time is not None else self.time
        self.total += later.total
        if later.lowest < self.lowest:
            self.lowest, self.lowest_step = later.lowest, later.lowest_step
        if later.highest > self.highest:
            self.highest, self.highest_step = later.highest, later.highest_step

    @property
    def mean(self) -> float:
        """The mean of its points."""
        return self.total / self.count


class Thinner:
    """One metric of one attempt, at most `buckets` buckets wide."""

    def __init__(self, buckets: int = DEFAULT_BUCKETS) -> None:
        if buckets < 2 or buckets % 2:
            raise ValueError(f"an even number of buckets of 2 or more is needed, not {buckets}")
        self.points = 0
        """Finite points taken in."""
        self.nonfinite = 0
        """Non-finite points, of which the first are kept."""
        self.width = 1
        """Points of a full bucket."""
        self._most = buckets
        self._buckets: list[Bucket] = []
        self._first: tuple[float, float, float | None] | None = None
        self._last: tuple[float, float, float | None] | None = None
        self._bad: list[tuple[float, float, float | None]] = []

    def add(self, step: float, value: float, time: float | None = None) -> None:
        """Take in the next point of the log."""
        step = float(step)
        if value - value != 0.0:
            self.nonfinite += 1
            if len(self._bad) < KEPT_NONFINITE:
                self._bad.append((step, value, time))
            return
        self.points += 1
        point = (step, value, time)
        if self._first is None:
            self._first = point
        self._last = point
        bucket = self._buckets[-1] if self._buckets else None
        if bucket is not None and bucket.count < self.width:
            self._extend(bucket, step, value, time)
            return
        if len(self._buckets) == self._most:
            self._double()
            bucket = self._buckets[-1]
            if bucket.count < self.width:
                self._extend(bucket, step, value, time)
                return
        self._buckets.append(Bucket(1, step, step, time, value, value, step, value, step))

    def series(self, metric: str) -> Series:
        """Exact points while there are few; else one point a bucket: its mean, between its exact extremes.

        The first and the last point stand at the ends as they were logged.
        """
        series = Series(metric)
        if self.width == 1:
            for bucket in self._buckets:
                series.add(bucket.last_step, bucket.total, bucket.time)
            return series
        if self._first is not None:
            self._put(series, *self._first)
        for bucket in self._buckets:
            series.add((bucket.first_step + bucket.last_step) / 2.0, bucket.mean, bucket.time)
            series.lows.append(bucket.lowest)
            series.highs.append(bucket.highest)
        if self._last is not None:
            self._put(series, *self._last)
        return series

    @staticmethod
    def _put(series: Series, step: float, value: float, time: float | None) -> None:
        series.add(step, value, time)
        series.lows.append(value)
        series.highs.append(value)

    def buckets(self) -> tuple[Bucket, ...]:
        """The buckets as they stand, oldest first."""
        return tuple(self._buckets)

    def marks(self, metric: str) -> tuple[Mark, ...]:
        """The non-finite points."""
        return tuple(Mark("nonfinite", step, time, value, metric=metric) for step, value, time in self._bad)

    @staticmethod
    def _extend(bucket: Bucket, step: float, value: float, time: float | None) -> None:
        bucket.count += 1
        bucket.last_step = step
        if time is not None:
            bucket.time = time
        bucket.total += value
        if value < bucket.lowest:
            bucket.lowest, bucket.lowest_step = value, step
        if value > bucket.highest:
            bucket.highest, bucket.highest_step = value, step

    def _double(self) -> None:
        """Join neighbours: half as many buckets, each twice as wide."""
        joined = []
        for place in range(0, len(self._buckets), 2):
            bucket = self._buckets[place]
            if place + 1 < len(self._buckets):
                bucket.join(self._buckets[place + 1])
            joined.append(bucket)
        self._buckets = joined
        self.width *= 2


class RunThinner:
    """Loss, grad norm and learning rate of one run, ready for a chart at any time."""

    def __init__(self, run: str, buckets: int = DEFAULT_BUCKETS) -> None:
        self._run = run
        self._metrics = {name: Thinner(buckets) for name in ("loss", "grad_norm", "lr")}

    def add(
        self,
        step: float,
        *,
        loss: float | None = None,
        grad_norm: float | None = None,
        lr: float | None = None,
        time: float | None = None,
    ) -> None:
        """Take in what one step line says."""
        if loss is not None:
            self._metrics["loss"].add(step, loss, time)
        if grad_norm is not None:
            self._metrics["grad_norm"].add(step, grad_norm, time)
        if lr is not None:
            self._metrics["lr"].add(step, lr, time)

    def series(self) -> RunSeries:
        """The three series; non-finite points are marks, holes in the lines."""
        told = {name: thinner.series(name) for name, thinner in self._metrics.items()}
        marks = tuple(mark for name, thinner in self._metrics.items() for mark in thinner.marks(name))
        return RunSeries(self._run, told["loss"], told["grad_norm"], told["lr"], marks)
