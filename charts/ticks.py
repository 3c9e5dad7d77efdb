"""Where an axis has its few marks, and what they say."""

import math
from dataclasses import dataclass

from charts.words import DAY, say_clock, say_day, say_rate

ROUND_TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark of an axis."""

    at: float
    says: str


def nice_step(span: float, most: int) -> float:
    """The smallest round distance that gives at most so many marks over the span."""
    if not (math.isfinite(span) and span > 1e-300):
        return 1.0
    raw = span / max(most, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next((factor * power for factor in NICE if factor * power >= raw * (1 - 1e-9)), 10 * power)


def step_ticks(first: float, last: float, most: int = 5) -> tuple[Tick, ...]:
    """Marks of a step axis: `0 20k 40k`, or in full (`41,180`) where thousands would all read the same."""
    if first == last:
        return (Tick(first, _say_step(first, 1.0)),)
    distance = max(nice_step(last - first, most), 1.0)
    if distance == 2.5:
        distance = 5.0  # between steps there is nothing
    almost = last + (last - first) * 0.005  # a run of 0 … 99,999 ends at 100k
    marks = _multiples(first, almost, distance) or [first]
    return tuple(Tick(at, _say_step(at, distance)) for at in marks)


def value_ticks(low: float, high: float, most: int = 3) -> tuple[Tick, ...]:
    """Marks of a linear axis, with just the decimals that tell them apart."""
    for wanted in (most, most + 1, most + 2):  # one mark alone tells no distance
        distance = nice_step(high - low, wanted)
        marks = _multiples(low, high, distance)
        if len(marks) > 1:
            break
    return tuple(Tick(at, _say_level(at, distance, max(abs(low), abs(high)))) for at in marks)


def log_ticks(low: float, high: float, most: int = 3) -> tuple[Tick, ...]:
    """Marks of a logarithmic axis: whole decades, every n-th where there are many; 1-3 within one decade."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    decades = range(first, last + 1)
    if len(decades) >= 2:
        every = math.ceil(len(decades) / most)
        return tuple(Tick(10.0**power, _say_decade(power)) for power in decades if (power - first) % every == 0)
    return tuple(Tick(at, say_rate(at)) for at in _thirds(low, high))


def time_ticks(first: float, last: float, most: int = 4) -> tuple[Tick, ...]:
    """Marks of a time axis at round moments: seconds, minutes, hours or days."""
    span = last - first
    distance = next((seconds for seconds in ROUND_TIMES if span / seconds <= most), math.ceil(span / most / DAY) * DAY)
    return tuple(Tick(at, _say_moment(at, distance)) for at in _multiples(first, last, distance))


def _say_moment(at: float, distance: float) -> str:
    return say_day(at) if distance >= DAY else say_clock(at, distance * 12)


def _thirds(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [factor * 10.0**power for power in powers for factor in (1, 3) if low <= factor * 10.0**power <= high]


def _multiples(first: float, last: float, distance: float) -> list[float]:
    start = math.ceil(first / distance - 1e-9)
    end = math.floor(last / distance + 1e-9)
    return [index * distance for index in range(start, min(end, start + 50) + 1)]


def _say_step(at: float, distance: float) -> str:
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        # A tenth of the unit must be enough to tell two marks apart.
        if abs(at) >= unit and distance >= unit / 10:
            return f"{at / unit:,.2f}".rstrip("0").rstrip(".") + sign
    return f"{at:,.0f}"


def _say_level(at: float, distance: float, largest: float) -> str:
    if at == 0:
        return "0"
    if largest >= 1e5 or largest < 1e-2:
        return say_rate(at)
    power = math.floor(math.log10(distance) + 1e-9)
    is_quarter = abs(distance / 10.0**power - 2.5) < 1e-6
    decimals = max(0, -power + is_quarter)
    return f"{at:,.{decimals}f}".replace("-", "−")


def _say_decade(power: int) -> str:
    if 0 <= power <= 3:
        return f"{10**power:,}"
    if -2 <= power < 0:
        return f"{10.0**power:g}"
    return f"1e{power}"
