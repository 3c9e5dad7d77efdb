"""Steps slower than the run's own normal, for a while: most of the recent points, not their mean.

One restart or one save makes a mean fall; more than half of a quarter of an hour does not happen by chance.
Evaluations and saves are left out, and so are pauses, which are the stall rule's business.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.detectors.robust import middle
from diagnosis.findings import Severity, Verdict
from diagnosis.formats.stretch import Course, Stretch
from diagnosis.observations import Phase, PhaseMark, StepSample
from diagnosis.pace import work_of
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, number, since_step

RATES = ("tokens_per_second", "tokens_per_second_per_gpu", "samples_per_second", "tflops", "mfu")
"""What a log may print of speed, best first."""
COUNTED = frozenset(("tflops", "mfu"))
"""Speeds that count all work of a step."""
SECONDS = "step_seconds"
PARTS = 15
"""Buckets of the judged window."""
MOST = 1e15
"""No speed is higher; nan and inf are none either."""
STRIDE = 5
FAST_SECONDS = 20.0
ROUNDING = 1e-3
"""Seconds by which sums of times may differ from their span."""
PAUSE = 5.0
"""An interval this many times the usual is a pause, not a pace."""
QUIET_PHASES = (Phase.EVALUATING, Phase.SAVING, Phase.LOADING)


class _Bucket(NamedTuple):
    first: StepSample
    points: int
    slow: int
    mean: float


class Slowdown:
    """`slowdown`."""

    kind: ClassVar[str] = "slowdown"
    watches: ClassVar[tuple[type, ...]] = (StepSample, PhaseMark)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_buckets",
        "_clock",
        "_count",
        "_end",
        "_first",
        "_is_open",
        "_is_pause",
        "_key",
        "_last",
        "_left",
        "_limit",
        "_pace",
        "_slow",
        "_thresholds",
        "_total",
        "_usual",
        "_width",
        "_work",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._width = thresholds.slow_window / PARTS
        baseline = max(2 * PARTS, int(thresholds.slow_baseline / self._width))
        self._buckets: deque[_Bucket] = deque(maxlen=PARTS + baseline)
        self._key = ""
        self._last: tuple[int | None, float | None] | None = None
        """Step and time of the newest point that was looked at."""
        self._clock = 0.0
        self._end = self._width
        self._limit = 0.0
        self._usual = 0.0
        self._pace = 0.0
        self._left = 1
        self._count = self._slow = 0
        self._total = 0.0
        self._first: StepSample | None = None
        self._is_pause = False
        self._is_open = False
        self._work = 0.0
        """That of the first step whose size was told."""

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Add one step's speed to the running bucket, and judge when it is full."""
        if not isinstance(seen, StepSample):
            if isinstance(seen, PhaseMark) and seen.phase in QUIET_PHASES:
                self._is_pause = True
            return QUIET
        self._left -= 1
        if self._left > 0 and not self._is_pause:
            return QUIET
        time = seen.time if seen.time is not None else seen.seen_at
        return self._look(seen.step, time, seen.fields.get, lambda: seen)

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """Up to where a line is older than the one before it, where no bucket can be full by then."""
        last = self._last
        if last is None or self._is_pause:
            return at
        stop = stretch.in_order_until(at, stop)
        begin, end = last[1], stretch.time(stop - 1)
        first = stretch.time(at)
        if begin is None or end is None or first is None or first < begin:
            return at
        return stop if self._clock + (end - begin) < self._end - ROUNDING else at

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Every fifth point, and what stands between them."""
        self._pass(*stretch.course(at, stop))

    def pass_between(self, stretch: Stretch, at: int, stop: int) -> None:
        """What stands between points that another rank has told."""
        self._pass(*stretch.course(at, stop, has_points=False))

    def _pass(self, course: Course, at: int, stop: int) -> None:
        looks = 0
        while (place := at + max(self._left - 1, 0)) < stop:
            if looks > 1 and course.came_together:
                # No time passes between them: after the second look, all say what the last one says.
                place += (stop - 1 - place) // STRIDE * STRIDE
            self._left = 0
            self._look(
                course.step(place), course.time(place), partial(course.value, place), partial(course.sample, place)
            )
            at, looks = place + 1, looks + 1
        self._left -= stop - at

    def _look(
        self,
        step: int | None,
        now: float | None,
        value: Callable[[str], float | None],
        line: Callable[[], StepSample],
    ) -> Sequence[Verdict]:
        """A point that counts; `line` gives it as it was printed, which few points are asked for."""
        last, self._last = self._last, (step, now)
        if last is None or step is None or last[0] is None:
            return QUIET
        done, before = step - last[0], last[1]
        if done <= 0:
            self._last = last if done == 0 else (step, now)
            return QUIET
        spent = now - before if now is not None and before is not None else (value(SECONDS) or 0.0) * done
        pace = spent / done
        usual, self._pace = self._pace, pace
        # Of fast steps every fifth is enough to look at.
        self._left = STRIDE if spent < FAST_SECONDS else 1
        if self._is_pause or not 0.0 < pace < MOST or pace > PAUSE * usual > 0.0:
            # The next one is compared with this: what is slow twice is a pace, not a pause.
            self._is_pause = False
            return QUIET
        self._clock += spent
        speed = value(self._key or self._choose(value)) or 1.0 / pace
        if self._key == SECONDS:
            speed = 1.0 / pace
        speed *= self._grown(value)
        if not 0.0 < speed < MOST:
            return QUIET
        if not self._count:
            self._first = line()
        self._count += 1
        self._total += speed
        if speed < self._limit:
            self._slow += 1
        return self._close(line()) if self._clock >= self._end else QUIET

    def _grown(self, value: Callable[[str], float | None]) -> float:
        """How many times more work a step is than the first, as far as the printed speed does not count that."""
        work = work_of(
            value("batch_size") if self._key == SECONDS else None,
            value("sequence_length") if self._key not in COUNTED else None,
        )
        if work is None:
            return 1.0
        self._work = self._work or work
        grown = max(1.0, work / self._work)
        return math.sqrt(grown) if self._key.startswith("tokens") else grown

    def _choose(self, value: Callable[[str], float | None]) -> str:
        self._key = next((name for name in RATES if value(name) is not None), SECONDS)
        return self._key

    def _close(self, seen: StepSample) -> Sequence[Verdict]:
        first = self._first
        if first is not None:
            self._buckets.append(_Bucket(first, self._count, self._slow, self._total / self._count))
        self._count, self._slow, self._total = 0, 0, 0.0
        self._end = self._clock + self._width
        return self._judge(seen)

    def _judge(self, seen: StepSample) -> Sequence[Verdict]:
        limits = self._thresholds
        buckets = list(self._buckets)
        recent, before = buckets[-PARTS:], buckets[:-PARTS]
        if len(before) < PARTS:
            return QUIET
        points = sum(bucket.points for bucket in recent)
        share = sum(bucket.slow for bucket in recent) / points
        if self._is_open:
            return self._judge_return(seen, share)
        self._learn(before)
        if points < limits.slow_points or share <= limits.slow_share:
            return QUIET
        self._is_open = True
        now = middle(sorted(bucket.mean for bucket in recent))
        first = next((bucket.first for bucket in recent if bucket.slow * 2 > bucket.points), recent[0].first)
        slower = (1.0 - now / self._usual) * 100.0
        text = f"steps are {slower:.0f} % slower than this run's normal {since_step(first.step)}"
        rule = (
            f"{share:.0%} of {points} points below {limits.slow_ratio:g} of the median, limit {limits.slow_share:.0%}"
        )
        details = {"usual": number(self._usual), "now": number(now), "unit": self._unit()}
        return (found("slowdown", Severity.WARNING, first, text, rule=rule, details=details),)

    def _learn(self, before: list[_Bucket]) -> None:
        """The limit for the next points: a run whose speed varies by itself gets a lower one."""
        means = sorted(bucket.mean for bucket in before)
        self._usual = middle(means)
        self._limit = min(self._thresholds.slow_ratio * self._usual, means[len(means) // 20])

    def _judge_return(self, seen: StepSample, share: float) -> Sequence[Verdict]:
        if share > self._thresholds.slow_share / 2.0:
            return QUIET
        self._is_open = False
        return (over("slowdown", seen, f"steps are as fast as before again {at_step(seen.step)}"),)

    def _unit(self) -> str:
        return self._key.replace("_", " ") if self._key in RATES else "steps per second"
