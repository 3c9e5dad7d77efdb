"""What a chart shows, before any of it is drawn: panels with their curves, marks and axes, small enough to send.

A sketch is made where the series is (numpy, any length in) and drawn where matplotlib is.
"""

from dataclasses import dataclass
from enum import StrEnum

from charts.columns import Floats
from charts.look import Ink, Look
from charts.ticks import Tick


class Shape(StrEnum):
    """Marks differ by shape as well as by colour."""

    CROSS = "X"
    DIAMOND = "D"
    TRIANGLE = "^"
    SQUARE = "s"
    CIRCLE = "o"
    ABOVE = "above"
    """The value lies above the panel; an arrow at its upper edge."""
    BELOW = "below"


@dataclass(frozen=True, slots=True)
class Curve:
    """One line; a NaN in `y` is a gap."""

    x: Floats
    y: Floats
    ink: Ink
    is_pale: bool = False
    """An attempt that was overwritten later, or the raw points behind their trend."""
    is_dashed: bool = False
    has_dots: bool = False
    """So few points that each can be seen."""
    low: Floats | None = None
    high: Floats | None = None
    """A band of exact extremes around the line."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One marked point. `y` may be infinite: it then stands at the panel's edge."""

    x: float
    y: float
    shape: Shape
    ink: Ink
    kind: str
    says: str = ""
    weight: float = 0.0
    """Which labels matter most when there is no room for all."""


@dataclass(frozen=True, slots=True)
class Divider:
    """A vertical line through a panel: a new attempt, the last good step, the stop."""

    x: float
    ink: Ink
    kind: str
    says: str = ""
    is_dashed: bool = True
    is_leftward: bool = False
    """Its words stand at its left, if they can."""


@dataclass(frozen=True, slots=True)
class Shade:
    """A stretch of steps in which no value could be drawn."""

    first: float
    last: float
    ink: Ink = Ink.BAD
    kind: str = "nonfinite"


@dataclass(frozen=True, slots=True)
class Note:
    """A word beside the panel's name, with the mark it explains."""

    says: str
    ink: Ink
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric over the shared step axis."""

    metric: str
    name: str
    ink: Ink
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False
    ticks: tuple[Tick, ...] = ()
    curves: tuple[Curve, ...] = ()
    flags: tuple[Flag, ...] = ()
    dividers: tuple[Divider, ...] = ()
    shades: tuple[Shade, ...] = ()
    notes: tuple[Note, ...] = ()
    share: float = 1.0
    """Its part of the height, in relation to the other panels."""
    words: str = ""
    """What stands in the panel instead of a curve."""


@dataclass(frozen=True, slots=True)
class StepTick:
    """One mark of the shared axis: the step, and the clock at that step where the log knows it."""

    at: float
    step: str
    clock: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """The shared step axis."""

    first: float
    last: float
    ticks: tuple[StepTick, ...]
    name: str = "step"

    @property
    def has_clock(self) -> bool:
        """Whether any tick knows its time."""
        return any(tick.clock for tick in self.ticks)


@dataclass(frozen=True, slots=True)
class Overview:
    """A small picture of the whole run, with the part shown above it."""

    panel: Panel
    axis: Axis
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Sketch:
    """A whole chart."""

    look: Look
    title: str
    facts: tuple[str, ...]
    """What stands below the title, the most telling first."""
    axis: Axis
    panels: tuple[Panel, ...]
    badge: str = ""
    overview: Overview | None = None
    remarks: tuple[str, ...] = ()
    """What the caller adds to the facts."""
