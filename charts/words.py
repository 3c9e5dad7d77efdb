"""Numbers and times as people say them on a chart."""

import math
from datetime import UTC, datetime

MINUTE = 60.0
DAY = 86_400.0


def say_step(step: float) -> str:
    """A step in full: `41,200`."""
    if not math.isfinite(step):
        return "?"
    return f"{step:,.0f}" if step == int(step) else f"{step:,.2f}".rstrip("0").rstrip(".")


def say_value(value: float) -> str:
    """A loss or a grad norm with four telling digits: `2.313`, `96.2`, `1,234`, `1.2e-5`."""
    if not math.isfinite(value):
        return say_nonfinite(value)
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-3 or size >= 1e5:
        return _with_exponent(value, digits=2)
    if size >= 1000:
        return _true_minus(f"{value:,.0f}")
    decimals = 3 if size < 10 else 2 if size < 100 else 1
    if size < 0.1:
        decimals = 4
    return _true_minus(f"{value:.{decimals}f}")


def say_rate(value: float) -> str:
    """A learning rate: `1.0e-4`, `2.95e-5`, `0.01`."""
    if not math.isfinite(value):
        return say_nonfinite(value)
    if value == 0:
        return "0"
    if 0.01 <= abs(value) < 1000:
        return _true_minus(f"{value:.3g}")
    return _with_exponent(value, digits=2)


def say_nonfinite(value: float) -> str:
    """`NaN`, `Inf` or `−Inf`."""
    if math.isnan(value):
        return "NaN"
    return "Inf" if value > 0 else "−Inf"


def say_difference(delta: float) -> str:
    """A change with its sign and three telling digits: `+1.98`, `−0.4`."""
    if not math.isfinite(delta):
        return say_nonfinite(delta)
    if delta == 0:
        return "±0"
    said = f"{delta:+,.3g}" if 1e-3 <= abs(delta) < 1000 else f"+{say_value(delta)}".replace("+−", "−")
    return _true_minus(said)


def say_count(count: int) -> str:
    """How many: `312`, `1,204`."""
    return f"{count:,}"


def say_clock(time: float, span: float) -> str:
    """A time of day, as fine as the span of the axis asks for (UTC, or the log's own clock)."""
    moment = datetime.fromtimestamp(time, UTC)
    return f"{moment:%H:%M:%S}" if span < 12 * MINUTE else f"{moment:%H:%M}"


def say_day(time: float) -> str:
    """A day: `14 May`."""
    moment = datetime.fromtimestamp(time, UTC)
    return f"{moment.day} {moment:%b}"


def is_a_time(time: float | None) -> bool:
    """Whether a calendar can show it: logs hold zeros, NaN and years beyond 9999."""
    return time is not None and math.isfinite(time) and -DAY * 365 * 1000 < time < DAY * 365 * 7000


def _with_exponent(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    shortened = mantissa.rstrip("0")
    if shortened.endswith("."):
        shortened += "0"
    return _true_minus(f"{shortened}e{int(exponent)}")


def _true_minus(said: str) -> str:
    """A minus as wide as a plus at the front; exponents keep the plain one people copy."""
    return "−" + said[1:] if said.startswith("-") else said
