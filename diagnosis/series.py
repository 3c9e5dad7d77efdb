"""One metric over steps, and the few series of a run that a chart draws."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from diagnosis.observations import StepKind

UNKNOWN = float("nan")


def _column() -> "array[float]":
    return array("d")


@dataclass(slots=True)
class Series:
    """One metric as columns, in the order of the log.

    `steps` are numbers of optimizer steps (or samples, or positions: see `RunSeries.step_kind`), `times`
    Unix seconds (NaN: not known), `values` what was logged, or the mean of a bucket where the series was
    thinned. `lows` and `highs` are the bucket's exact extremes, empty when nothing was thinned.
    """

    metric: str
    steps: "array[float]" = field(default_factory=_column)
    times: "array[float]" = field(default_factory=_column)
    values: "array[float]" = field(default_factory=_column)
    lows: "array[float]" = field(default_factory=_column)
    highs: "array[float]" = field(default_factory=_column)

    def add(self, step: float, value: float, time: float | None = None) -> None:
        """Append one exact point."""
        self.steps.append(step)
        self.values.append(value)
        self.times.append(UNKNOWN if time is None else time)

    def extend(self, points: Iterable[tuple[float, float, float | None]]) -> None:
        """Append exact points (step, value, time)."""
        for step, value, time in points:
            self.add(step, value, time)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_thinned(self) -> bool:
        """True when a value stands for several points."""
        return len(self.lows) > 0


@dataclass(frozen=True, slots=True)
class Mark:
    """What must stay visible at any zoom: a non-finite point, a jump, a spike, an early warning."""

    kind: str
    """`nonfinite`, `jump`, `spike`, `warning`, or a finding's kind."""
    step: float | None
    time: float | None = None
    value: float | None = None
    """The value at the mark; NaN or infinite for `nonfinite`."""
    before: float | None = None
    metric: str = "loss"
    text: str = ""
    changes: tuple[str, ...] = ()
    """What changed around it, each line with its file and line."""


@dataclass(frozen=True, slots=True)
class AttemptSpan:
    """One attempt of a run: from start (or resume) to end."""

    number: int
    first_step: float | None = None
    last_step: float | None = None
    started: float | None = None
    ended: float | None = None
    end: str = "unknown"
    """finished, crashed, killed, preempted, stalled, running, unknown."""


@dataclass(slots=True)
class RunSeries:
    """Everything a chart of one run needs, already thinned to what fits a screen or still exact."""

    run: str
    loss: Series = field(default_factory=lambda: Series("loss"))
    grad_norm: Series = field(default_factory=lambda: Series("grad_norm"))
    lr: Series = field(default_factory=lambda: Series("lr"))
    marks: tuple[Mark, ...] = ()
    attempts: tuple[AttemptSpan, ...] = ()
    step_kind: StepKind = "printed"
    is_sampled: bool = False
    """True when only windows of the log were read; the chart must say so."""
