"""Every threshold of every rule on one page: default, unit, one line.

The same names serve as `RUNWATCH_JUMP_DELTA=0.5`, as `jump_delta = 0.5` in `runwatch.toml` and as
`replay --set jump.delta=0.5`. Defaults are for real runs; the demo and the tests shorten them.
"""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from diagnosis.durations import parse_duration
from diagnosis.errors import Mistake

Value = TypeVar("Value", int, float)

OF_A_RUN = frozenset({"jump_delta", "spike_z", "spike_warning_delta", "divergence_delta", "stall_min"})
"""What may be set for one run while it is judged: points are only compared with these, no window is made of them."""
MOST_OF_A_RUN = 1e6
"""No loss, and no time in seconds, is judged by more."""


def sound(limits: Mapping[str, float]) -> dict[str, float]:
    """Those of some values that may be taken as one run's thresholds: they come from where others write too."""
    return {name: value for name, value in limits.items() if name in OF_A_RUN and 0 < value <= MOST_OF_A_RUN}


def option(default: Value, unit: str, doc: str) -> Value:
    """One threshold with its unit and the line that explains it."""
    return field(default=default, metadata={"unit": unit, "doc": doc})


@dataclass(frozen=True)
class Thresholds:
    """When each rule speaks. Points are logged points of one attempt, steps are optimizer steps."""

    # The plain rule: a mark on the chart, never a thread.
    jump_delta: float = option(1.0, "loss", "The loss moved by more than this between neighbouring points: a mark.")

    # What counts as the start of an attempt, where a loss may do anything finite.
    warmup_points: int = option(200, "points", "No sustained alarm before this many points of an attempt.")
    warmup_steps: int = option(200, "steps", "No spike or early warning before this step of the run.")
    short_history: int = option(3, "points", "With fewer points before it, nothing finite is judged.")

    # Non-finite numbers and their disguises.
    nonfinite_streak: int = option(5, "points", "Non-finite grad norms in a row that a scale search may show.")
    nonfinite_start: int = option(20, "points", "Points from the start in which a scale search is expected.")
    vanish_history: int = option(20, "points", "Loss points in a row before a missing loss field means anything.")
    vanish_lines: int = option(2, "points", "Step lines in a row without the loss field: it vanished.")
    zero_lines: int = option(3, "points", "Losses of exactly 0.0 in a row after a non-zero history.")
    zero_history: float = option(0.05, "loss", "A median |loss| below this may lawfully print as 0.0.")
    overflow_streak: int = option(5, "steps", "Skipped optimizer steps in a row once the scale was found.")
    overflow_start: int = option(40, "steps", "Skipped optimizer steps in a row while the scale is searched for.")
    scale_drop: float = option(64.0, "times", "The loss scale fell by this factor and stays down: a warning.")
    scale_minimum: float = option(1.0, "scale", "A skip at or below this loss scale means it cannot fall further.")

    # Fast robust spikes.
    spike_window: int = option(128, "points", "Points before the judged one that make its median and spread.")
    spike_min_points: int = option(64, "points", "Fewer points than this give no median; the short rule judges.")
    spike_z: float = option(6.0, "sigma", "Robust z (1.4826 MAD) above which a point is a spike.")
    spike_floor: float = option(0.05, "loss", "A spike is at least this far above the median.")
    spike_floor_share: float = option(0.01, "share", "… and at least this share of the median.")
    spike_lasting: int = option(3, "points", "Up for this many points, a spike is a finding; before, only a mark.")
    spike_short_range: float = option(4.0, "times", "The short rule: above all points before it by their range.")
    spike_warning_delta: float = option(1.0, "loss", "A spike this far above the median is a warning, below it info.")
    spike_fast_steps: int = option(50, "steps", "Back within this many steps: a fast spike.")
    spike_slow_steps: int = option(500, "steps", "Not back after this many steps: not fully recovered.")
    spike_recovered_share: float = option(0.02, "share", "Back means this close above the level before the spike.")
    restart_steps: int = option(100, "steps", "A spike this soon after an attempt began is related to the restart.")

    resume_steps: int = option(200, "steps", "After a resume, a loss above that of before has so long to come down.")
    resume_sigma: float = option(6.0, "sigma", "… and is higher when it is so far out of how levels usually differ.")

    # Levels.
    sustained_recent: int = option(20, "points", "The newest points whose minimum is compared.")
    sustained_baseline: int = option(200, "points", "The points before them that make mean and spread.")
    sustained_seconds: float = option(300.0, "seconds", "… and at least this long, where the log has times.")
    sustained_sigma: float = option(6.0, "sigma", "The recent minimum stands this far above the mean.")
    sustained_floor: float = option(0.05, "loss", "… and at least this far.")
    divergence_delta: float = option(1.0, "loss", "The recent minimum stands this far above the best level so far.")
    divergence_share: float = option(0.2, "share", "… and at least this share of that level.")
    divergence_points: int = option(20, "points", "How many points the loss must stay up.")
    divergence_jump_points: int = option(4, "points", "… after a jump of that size out of a calm history.")
    plateau_share: float = option(0.1, "share", "The newest part of an attempt whose slope is judged.")
    plateau_min_points: int = option(500, "points", "The shortest such part.")
    divergence_ratio: float = option(2.0, "times", "… or this many times the usual level for five points.")
    plateau_fall: float = option(0.001, "share", "A loss that falls by less than this share over that part …")
    plateau_slope: float = option(1e-5, "1/step", "… and whose logarithm falls more slowly than this: a plateau.")

    # Gradients.
    lead_ratio: float = option(5.0, "times", "Grad norm above its median by this factor while the loss is calm.")
    lead_hits: int = option(3, "points", "This many of the newest `lead_of` points.")
    lead_of: int = option(5, "points", "See `lead_hits`.")
    lead_growth: float = option(2.0, "times", "… or grad norm grew by this factor at each of three points.")
    lead_calm: float = option(0.25, "share", "The loss is calm while it is no more than this above its median.")

    # Speed.
    slow_ratio: float = option(0.8, "share", "A point below this share of the run's own median speed is slow.")
    slow_share: float = option(0.5, "share", "More than this share of the window is slow: a slowdown.")
    slow_window: float = option(900.0, "seconds", "The window that is judged.")
    slow_points: int = option(10, "points", "… with at least this many points.")
    slow_baseline: float = option(7200.0, "seconds", "The past that makes the median.")

    # Stalls (judged by the monitor).
    stall_after: float = option(600.0, "seconds", "No progress for this long, until the run's own pace is known.")
    stall_min: float = option(180.0, "seconds", "The shortest stall threshold a known pace may give.")
    stall_max: float = option(1200.0, "seconds", "The longest.")
    stall_median_factor: float = option(10.0, "times", "The threshold in medians of the last 50 step intervals.")
    stall_p99_factor: float = option(3.0, "times", "The threshold in 99th percentiles of them.")
    stall_first_step: float = option(2700.0, "seconds", "The wait for the first step of an attempt.")
    stall_phase: float = option(1800.0, "seconds", "The shortest wait for an evaluation or a save to end.")
    stall_phase_factor: float = option(3.0, "times", "… in longest earlier such phases of this run.")
    stall_evidence_share: float = option(0.5, "share", "Quiet evidence is saved at this share of the threshold.")
    stall_evidence_min: float = option(60.0, "seconds", "… but not before this.")
    watcher_silent_after: float = option(90.0, "seconds", "No heartbeat for this long: the watcher is silent.")

    @classmethod
    def from_text(cls, settings: Mapping[str, str]) -> "Thresholds":
        """The defaults with some options changed, values as people write them: `10m`, `20%`, `1.5`.

        Raises:
            UnknownThreshold: No option of that name; near names are in the text.
            BadThreshold: The value cannot be read, or makes no sense.
        """
        changed: dict[str, Any] = {}
        for name, text in settings.items():
            spec = _SPECS.get(_plain(name))
            if spec is None:
                raise UnknownThreshold(name)
            changed[spec.name] = _read(spec, text)
        return cls(**changed)


@dataclass(frozen=True)
class Spec:
    """What a person must know to set one option."""

    name: str
    default: float
    unit: str
    doc: str
    is_whole: bool


_SPECS: Mapping[str, Spec] = {
    item.name: Spec(item.name, item.default, item.metadata["unit"], item.metadata["doc"], item.type is int)
    for item in fields(Thresholds)
    if isinstance(item.default, int | float)
}
SPECS: tuple[Spec, ...] = tuple(_SPECS.values())
"""Every option, in the order of the page; the settings page of the documents is made from it."""


class UnknownThreshold(Mistake):
    """No threshold has that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.near = tuple(difflib.get_close_matches(_plain(name), _SPECS, n=3))
        hint = f" Did you mean {' or '.join(self.near)}?" if self.near else ""
        super().__init__(f"There is no threshold `{name}`.{hint}")


class BadThreshold(Mistake):
    """The value given for a threshold cannot be used."""

    def __init__(self, spec: Spec, text: str, wanted: str) -> None:
        self.name = spec.name
        super().__init__(f"`{spec.name}` wants {wanted}, not {text!r}. Default: {spec.default:g} {spec.unit}.")


def _plain(name: str) -> str:
    return name.strip().lower().removeprefix("runwatch_").replace(".", "_").replace("-", "_")


def _read(spec: Spec, text: str) -> float:
    words = str(text).strip().lower()
    value = parse_duration(words) if spec.unit == "seconds" else _number(words, is_share=spec.unit == "share")
    if value is None or not math.isfinite(value):
        raise BadThreshold(spec, text, "a time such as 90s, 10m or 1h30m" if spec.unit == "seconds" else "a number")
    if value <= 0:
        raise BadThreshold(spec, text, "something above 0")
    if not spec.is_whole:
        return value
    if value != int(value):
        raise BadThreshold(spec, text, "a whole number")
    return int(value)


def _number(words: str, *, is_share: bool) -> float | None:
    share = 100.0 if is_share and words.endswith("%") else 1.0
    try:
        return float(words.removesuffix("%") if share > 1 else words) / share
    except ValueError:
        return None
