"""Numbers as people say them: 2.31, 41,200, 1.0e-4, NaN, 1 h 10 min."""

import math
import re
from collections.abc import Iterable

from diagnosis.observations import Evidence

_HALF_STOP = re.compile(r"(?<!&lt)(?<!&gt)(?<!&amp)(?<!&quot)(?<!&#39);(?:\s|$)")


def number(value: float | None) -> str:
    """A loss or a grad norm: three digits that matter, and the words NaN and infinite."""
    if value is None:
        return "unknown"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}" if size < 1e9 else f"{value:.2e}"
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.01 or size == 0:
        return f"{value:.2f}"
    return small(value)


def small(value: float) -> str:
    """A learning rate: 1.0e-4 rather than 0.0001."""
    if value == 0 or not math.isfinite(value):
        return number(value) if value else "0"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa.rstrip('0') if not mantissa.endswith('.00') else mantissa[:-1]}e{int(exponent)}"


def precise(value: float) -> str:
    """A value that shall differ visibly from a near one: 2.768."""
    return f"{value:,.4g}" if math.isfinite(value) else number(value)


def whole(step: float | None) -> str:
    """A step: 41,200; `unknown` when the log has none."""
    return "unknown" if step is None else f"{step:,}" if isinstance(step, int) else f"{step:,.0f}"


def at_step(step: float | None) -> str:
    """`at step 41,200`, or the honest `at a step the log does not name`."""
    return "at a step the log does not name" if step is None else f"at step {whole(step)}"


def since_step(step: float | None) -> str:
    """`since step 41,200`; without a step nothing is claimed but that it began."""
    return "now" if step is None else f"since step {whole(step)}"


def first_clause(text: str) -> str:
    """A sentence up to its first half-stop; `&lt;` and `a;b` of a log are no half-stop."""
    return _HALF_STOP.split(text, maxsplit=1)[0].strip().rstrip(".")


def place_of(found: Evidence) -> str:
    """`train_rank3.log:1204`: where a claim can be checked."""
    name = found.file.rsplit("/", 1)[-1] or found.file
    return name if found.line is None else f"{name}:{found.line}"


def trail(values: Iterable[float | None]) -> str:
    """A course of numbers: 0.9 → 4.7 → 96."""
    return " → ".join(short(value) for value in values if value is not None)


def short(value: float) -> str:
    """A grad norm in a row of others: two digits are enough."""
    if not math.isfinite(value):
        return number(value)
    size = abs(value)
    if size >= 10:
        return f"{value:,.0f}"
    return f"{value:.2g}" if size >= 0.001 or size == 0 else small(value)


def duration(seconds: float) -> str:
    """40 s, 12 min, 1 h 10 min, 3 d 4 h."""
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def factor(ratio: float) -> str:
    """How many times: 5, 6.4, 66."""
    if not math.isfinite(ratio):
        return "many"
    return f"{ratio:,.0f}" if ratio >= 10 or ratio == round(ratio) else f"{ratio:.1f}"
