"""Spike and grad-norm lead: points below a gate that is set anew from the newest points now and then."""
# ruff: noqa: SLF001 - a twin moves what its detector remembers

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from diagnosis.detectors import grad_norm_lead, spike
from diagnosis.detectors.falling import PART, falling
from diagnosis.detectors.grad_norm_lead import GradNormLead
from diagnosis.detectors.robust import MAD_TO_SIGMA
from diagnosis.detectors.spike import Spike
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.run import Run


class Gates:
    """The gates that values would pass one after the other."""

    def __init__(
        self, window: Sequence[float], values: Floats, *, size: int, gate: float, age: int, period: int
    ) -> None:
        self._age = age
        self._period = period
        self._values = values
        self._gate = gate
        self._held = len(window)
        self._size = size
        self._known: Floats = np.concatenate((np.asarray(window, np.float64), values))
        self._turns = np.arange(age, len(values) + 1, period)
        """After how many values each new gate is set."""
        self.is_filling = len(window) + age < size
        if self.is_filling:
            self._turns = self._turns[:0]
            self._values = values[: age - 1]  # the window is not full yet: only up to the next gate
        begins = len(window) + self._turns - size
        self.courses: Floats = sliding_window_view(self._known, size)[begins] if len(begins) else np.empty((0, size))
        """The values of which each gate is made, in the order of time."""
        self.windows: Floats = np.sort(self.courses, axis=1)
        """The same in order of size."""

    def above(self, gates: Floats) -> list[int]:
        """The places of the values that do not stay below."""
        count = len(self._values)
        limits = np.concatenate((np.full(self._age, self._gate), np.repeat(gates, self._period)))[:count]
        return np.flatnonzero(~(self._values <= limits)).tolist()

    def __len__(self) -> int:
        """How many values can be judged."""
        return len(self._values)

    def windows_before(self, places: NDArray[np.int64]) -> Floats:
        """The newest values before each of some."""
        before: Floats = sliding_window_view(self._known, self._size)[self._held + places - self._size]
        return before

    def state(self, count: int) -> tuple[int, int]:
        """Gates that are set within the first values, and the age of the newest then."""
        turns = int(np.searchsorted(self._turns, count, side="right"))
        if not turns:
            return 0, self._age - count
        return turns, self._period - (count - int(self._turns[turns - 1]))


def _middle(ordered: Floats) -> Floats:
    """As `robust.middle` for each row."""
    half = ordered.shape[1] // 2
    middle: Floats = ordered[:, half] if ordered.shape[1] % 2 else (ordered[:, half - 1] + ordered[:, half]) / 2.0
    return middle


def _may_fall(courses: Floats) -> NDArray[np.bool_]:
    """Windows in which each part lies below the one before, as `falling` asks."""
    count, size = courses.shape
    parts = np.sort(courses[:, size % PART :].reshape(count, size // PART, PART), axis=2)
    middles = (parts[:, :, PART // 2 - 1] + parts[:, :, PART // 2]) / 2.0
    fall: NDArray[np.bool_] = np.all(np.diff(middles, axis=1) < 0.0, axis=1)
    return fall


class SpikeTwin:
    """Moves `Spike` past points below its gate."""

    def __init__(self, detector: Spike) -> None:
        self._spike = detector
        self._gates: Gates | None = None
        self._looked: list[int] = []
        """Points above the gate that are no spike."""
        self._set: Floats = np.empty(0)

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        of, loss = self._spike, run.loss
        if loss is None or not run.is_finite:
            return len(run)
        size = of._window.maxlen or 0
        if of._episode is not None or of._gate == spike.ALWAYS or size < of._thresholds.spike_min_points:
            return 0
        self._gates = Gates(of._window, loss, size=size, gate=of._gate, age=of._age, period=spike.REFRESH)
        self._set = self._made(self._gates.courses, self._gates.windows)
        self._looked = self._gates.above(self._set)
        if not self._looked:
            return len(self._gates)
        if self._gates.is_filling or len(of._window) + self._looked[0] < size:
            return self._looked[0]  # the detector looks at a window that is not full
        odd = self._odd(run, loss, np.array(self._looked))
        if not odd.any():
            return len(self._gates)
        self._looked = self._looked[: int(odd.argmax()) + 1]
        return self._looked[-1]

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of, loss, gates = self._spike, run.loss, self._gates
        if loss is None or not run.is_finite or gates is None:
            return
        looked = [place for place in self._looked if place < count]
        if looked and of._first_step is None:
            of._first_step = int(run.steps[looked[0]])
        of._is_signed = of._is_signed or any(loss[place] < 0.0 for place in looked)
        of._window.extend(loss[:count][-(of._window.maxlen or 0) :].tolist())
        turns, of._age = gates.state(count)
        if turns:
            of._passed += of._cycle + (turns - 1) * spike.REFRESH
            of._cycle = spike.REFRESH
            of._gate = float(self._set[turns - 1])
            of._is_signed = of._is_signed or bool((gates.windows[:turns, 0] < 0.0).any())

    def _odd(self, run: Run, loss: Floats, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which points above the gate the detector itself would take for a spike, by the same sums."""
        of, gates = self._spike, self._gates
        assert gates is not None
        limits = of._thresholds
        windows = gates.windows_before(places)
        median = _middle(np.sort(windows, axis=1))
        sigma = MAD_TO_SIGMA * _middle(np.sort(np.abs(windows - median[:, None]), axis=1))
        height = loss[places] - median
        floor = np.maximum(limits.spike_floor, limits.spike_floor_share * np.abs(median))
        odd: NDArray[np.bool_] = ~((height <= floor) | (height <= limits.spike_z * sigma))
        odd |= _may_fall(windows)  # the detector itself judges these
        if run.block.step_kind not in spike.UNCOUNTED:
            odd &= run.steps[places] >= limits.warmup_steps
        return odd

    def _made(self, courses: Floats, windows: Floats) -> Floats:
        """As `Spike._gate_over` makes a gate of a window."""
        limits = self._spike._thresholds
        size = windows.shape[1]
        median, quarter = windows[:, size // 2], size // 4
        floor = np.maximum(limits.spike_floor, limits.spike_floor_share * np.abs(median))
        spread = median + 2.0 * (windows[:, size - quarter] - windows[:, quarter])
        made: Floats = np.maximum(np.maximum(median + floor, spread), windows[:, -2])
        for row in np.flatnonzero(_may_fall(courses)).tolist():
            trend = falling(courses[row].tolist())
            if trend is not None:
                made[row] = spike.falling_gate(float(made[row]), trend)
        return made


class LeadTwin:
    """Moves `GradNormLead` past grad norms below its gate."""

    def __init__(self, detector: GradNormLead) -> None:
        self._lead = detector
        self._gates: Gates | None = None
        self._set: Floats = np.empty(0)
        self._medians: Floats = np.empty(0)

    def calm(self, run: Run) -> int:
        """How many points say nothing."""
        of, norm = self._lead, run.norm
        if norm is None or not run.has_finite_norm:
            return len(run)
        size = of._window.maxlen or 0
        if of._is_open or of._gate < 0.0 or size < of._thresholds.spike_min_points:
            return 0
        window = [seen.grad_norm or 0.0 for seen in of._window]
        self._gates = Gates(window, norm, size=size, gate=of._gate, age=of._age, period=grad_norm_lead.REFRESH)
        windows = self._gates.windows
        self._medians = _middle(windows)
        self._set = np.where(self._medians > 0.0, of._thresholds.lead_ratio * self._medians, np.inf)
        return min(self._gates.above(self._set), default=len(self._gates))

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of, gates = self._lead, self._gates
        if run.norm is None or not run.has_finite_norm or gates is None:
            return
        of._window.extend(run.newest(count, of._window.maxlen))
        turns, of._age = gates.state(count)
        if turns:
            of._median, of._gate = float(self._medians[turns - 1]), float(self._set[turns - 1])
