"""Fast robust spikes of the loss: far above the median of the points before, with peak and recovery.

A single point is only marked; a spike that lasts a few points is a finding, by its height information or a
warning, and one that does not come back is said so. In a log that begins late in a run there are too few
points for a median, so a short rule asks for more distance.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import ClassVar

from diagnosis.detectors.detector import QUIET, Scope, Seen
from diagnosis.detectors.falling import FEWEST, SHORT_PART, bend_noise, falling, highest_leap, level_of_fall
from diagnosis.detectors.robust import robust
from diagnosis.detectors.spike_episode import Episode, Height
from diagnosis.detectors.spike_suspect import Suspect
from diagnosis.findings import Jump, Verdict
from diagnosis.formats.fields import ADVERSARIAL
from diagnosis.formats.stretch import Stretch, below
from diagnosis.observations import AttemptMark, StepSample
from diagnosis.thresholds import Thresholds
from diagnosis.wording import factor, number

REFRESH = 64
"""Points between two looks at the whole window; in between one comparison decides."""
ALWAYS = -math.inf
UNCOUNTED = frozenset({"samples", "ordinal"})
"""Kinds of counters that do not tell how many optimizer steps there were: the points are counted."""
FALL_Z = 10.0
"""Out of few points the spread of a fall is a guess, so a spike has to stand this many of it above."""
OWN_LEAPS = 3.0
"""… and so many times as far as the loss has risen from one point to the next."""
HABIT = 4
"""So many spikes within so many points are how this loss is."""
HABIT_POINTS = 512
HABIT_FACTOR = 2.0


class Spike:
    """`loss_spike`: a mark at once, a finding when it lasts, its recovery class when it is known."""

    kind: ClassVar[str] = "loss_spike"
    watches: ClassVar[tuple[type, ...]] = (StepSample, AttemptMark)
    scope: ClassVar[Scope] = "series"
    __slots__ = (
        "_age",
        "_cycle",
        "_episode",
        "_first_step",
        "_gate",
        "_is_resumed",
        "_is_signed",
        "_leaps",
        "_passed",
        "_thresholds",
        "_window",
    )

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._window: deque[float] = deque(maxlen=thresholds.spike_window)
        self._gate = ALWAYS
        self._age = REFRESH
        self._cycle = REFRESH
        self._passed = 0
        self._leaps: deque[tuple[int, float]] = deque(maxlen=HABIT)
        self._first_step: int | None = None
        self._is_resumed = False
        self._is_signed = False
        self._episode: Episode | Suspect | None = None

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Take a point; most are below the gate and only join the window."""
        if not isinstance(seen, StepSample):
            self._is_resumed = True
            return QUIET
        loss = seen.loss
        if loss is None or loss - loss != 0.0:
            return QUIET
        if loss > self._gate or self._episode is not None:
            return self._look(seen, loss)
        self._window.append(loss)
        self._age -= 1
        if not self._age:
            self._refresh()
        return QUIET

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """Points below the gate, where it is set anew on the way too."""
        losses = stretch.losses
        if self._episode is not None or losses is None:
            return at
        gate, place, until = self._gate, at, at + self._age
        while until < stop:
            place = below(losses, gate, place, until)
            if place < until:
                return place
            window = [*self._window, *losses[at:until]][-(self._window.maxlen or 0) :]
            made = self._gate_over(window)
            if made is None:
                return until
            gate, until = made, until + REFRESH
        return below(losses, gate, place, stop)

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Points that join the window."""
        losses = stretch.losses or []
        while at < stop:
            until = min(stop, at + self._age)
            self._window.extend(losses[at:until])
            self._age -= until - at
            at = until
            if not self._age:
                self._refresh()

    def _look(self, seen: StepSample, loss: float) -> Sequence[Verdict]:
        """The slow way: during a spike, above the gate, and while there are few points."""
        if self._first_step is None:
            self._first_step = seen.step
        if loss < 0.0 or ADVERSARIAL in seen.fields:
            self._is_signed = True
        episode = self._episode
        if episode is not None:
            said = episode.follow(seen, loss, self._thresholds)
            if episode.is_over:
                self._episode = None
                self._gate = ALWAYS
                self._passed += self._cycle - self._age
                self._age = self._cycle = 1
                for held in episode.held:
                    self._add(held)
            if not episode.is_group(loss):
                self._add(loss)
            return said
        base, sigma, rule, is_sure = self._judge(seen, loss)
        if not rule:
            self._add(loss)
            return QUIET
        is_short = len(self._window) < self._thresholds.spike_min_points
        level = Height(
            base,
            sigma,
            highest=max(self._window),
            is_signed=self._is_signed,
            is_restart=self._is_near_start(seen),
            is_short=is_short,
        )
        if self._is_habit(loss - base):
            self._add(loss)
            return QUIET
        episode = Episode(seen, loss, level, rule)
        mark = Jump(seen.step, base, loss, "spike", seen.evidence)
        if not is_sure:
            self._episode = Suspect(episode, mark, loss)
            return QUIET
        self._episode = episode
        return (mark,)

    def _is_habit(self, height: float) -> bool:
        """A loss that leaps again and again has batches of two kinds; only a much higher leap is news."""
        place = self._passed + self._cycle - self._age
        heights = [known for at, known in self._leaps if place - at < HABIT_POINTS]
        self._leaps.append((place, height))
        return len(heights) >= HABIT and height < HABIT_FACTOR * max(heights)

    def _judge(self, seen: StepSample, loss: float) -> tuple[float, float, str, bool]:
        """Level and spread before the point, the rule by which it is a spike, if any, and whether that is sure."""
        limits, window = self._thresholds, self._window
        if len(window) < limits.short_history or self._is_warmup(seen):
            return 0.0, 0.0, "", False
        if len(window) < limits.spike_min_points:
            return *self._judge_short(loss), True
        median, sigma = robust(window)
        trend = falling(list(window)) if loss > self._gate or loss > median + limits.spike_floor else None
        of_fall = "" if trend is None else self._height_rule(loss, *trend, "above the falling loss just before")
        if trend is not None and of_fall and loss - trend[0] > limits.spike_warning_delta:
            return *trend, of_fall, True
        rule = self._height_rule(loss, median, sigma, "above the median of the points before")
        if trend is not None and of_fall and not rule:
            # A harder epoch makes many a smooth loss go a part of the way back; only a spike comes down at once.
            return *trend, of_fall, False
        return median, sigma, rule, True

    def _height_rule(self, loss: float, level: float, sigma: float, above: str) -> str:
        """The rule by which a point is out of the noise around a level, if it is."""
        limits = self._thresholds
        height = loss - level
        if height <= max(limits.spike_floor, limits.spike_floor_share * abs(level)) or height <= limits.spike_z * sigma:
            return ""
        if not sigma:
            return f"{number(height)} {above}, which did not vary at all"
        return f"{factor(height / sigma)} times the usual spread {above}, limit {limits.spike_z:g}"

    def _judge_short(self, loss: float) -> tuple[float, float, str]:
        limits = self._thresholds
        low, high = min(self._window), max(self._window)
        level, sigma = robust(self._window)
        height = loss - high
        needed = max(limits.spike_warning_delta, limits.spike_short_range * (high - low))
        if height <= needed:
            return self._judge_short_fall(loss)
        rule = f"{number(height)} above all {len(self._window)} points before it, limit {number(needed)}"
        return level, sigma, rule

    def _judge_short_fall(self, loss: float) -> tuple[float, float, str]:
        """While the loss comes down from its beginning, all points before it are no measure: the newest are."""
        window, least = self._window, self._thresholds.spike_warning_delta
        if len(window) < FEWEST or loss - window[-1] <= least:
            return 0.0, 0.0, ""
        course = list(window)
        level = level_of_fall(course)
        if level is None:
            return 0.0, 0.0, ""
        sigma, height = bend_noise(course), loss - level
        needed = max(least, FALL_Z * sigma, OWN_LEAPS * highest_leap(course))
        # A spike leaps; what climbs from point to point is a wave or a harder stretch of data.
        if height <= needed or loss - max(course[-SHORT_PART:]) <= max(least, height / 2.0):
            return 0.0, 0.0, ""
        return level, sigma, f"{number(height)} above the falling loss just before, limit {number(needed)}"

    def _is_warmup(self, seen: StepSample) -> bool:
        limits = self._thresholds
        if seen.step is None or seen.step_kind in UNCOUNTED:
            return len(self._window) < limits.spike_min_points
        return seen.step < limits.warmup_steps

    def _is_near_start(self, seen: StepSample) -> bool:
        """A resume shortly before."""
        first, step = self._first_step, seen.step
        if not self._is_resumed or first is None or step is None:
            return False
        return step - first < self._thresholds.restart_steps

    def _add(self, loss: float) -> None:
        self._window.append(loss)
        self._age -= 1
        if self._age <= 0:
            self._refresh()

    def _refresh(self) -> None:
        """A gate that nearly all healthy points pass below, and no spike."""
        self._passed += self._cycle - max(self._age, 0)
        self._age = self._cycle = REFRESH
        gate = self._gate_over(list(self._window))
        if gate is None:
            self._age = self._cycle = 1
            return
        self._is_signed = self._is_signed or min(self._window) < 0.0
        self._gate = gate

    def _gate_over(self, course: Sequence[float]) -> float | None:
        """The gate of points in the order of time; None when they are too few."""
        limits = self._thresholds
        if len(course) < limits.spike_min_points:
            return None
        window = sorted(course)
        median = window[len(window) // 2]
        floor = max(limits.spike_floor, limits.spike_floor_share * abs(median))
        # Six sigma are more than two distances between the quartiles, and points of a spike stay out of the
        # window, so its second highest is none.
        quarter = len(window) // 4
        gate = max(median + floor, median + 2.0 * (window[-quarter] - window[quarter]), window[-2])
        trend = falling(course)
        return gate if trend is None else falling_gate(gate, trend)


def falling_gate(gate: float, trend: tuple[float, float]) -> float:
    """The gate of a window through which the loss falls: it is halfway through the window when a new one is set."""
    level, sigma = trend
    return min(gate, level + 3.0 * sigma)
