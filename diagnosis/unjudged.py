"""What the rules leave out, where a person would wonder: a loss that leapt while a run warms up."""

from collections.abc import Iterable, Mapping
from typing import Any

from diagnosis.thresholds import Thresholds
from diagnosis.wording import number, whole


def early_leap(jumps: Iterable[Mapping[str, Any]], limits: Thresholds) -> str | None:
    """The largest rise before the step from which on spikes are judged, in a sentence; None: there was none.

    `jumps` are those of `LossSummary`; a rise that is small beside the loss itself is nothing to wonder about.
    """
    rises = [
        (jump["to"] - jump["from"], jump)
        for jump in jumps
        if _is_number(jump["from"], jump["to"]) and jump["step"] is not None and jump["step"] < limits.warmup_steps
    ]
    large = [
        (height, jump)
        for height, jump in rises
        if jump["from"] >= 0.0 and height > max(limits.jump_delta, limits.divergence_share * jump["from"])
    ]
    if not large:
        return None
    _, jump = max(large, key=lambda rise: rise[0])
    course = f"from {number(jump['from'])} to {number(jump['to'])} at step {whole(jump['step'])}"
    return f"before step {whole(limits.warmup_steps)} no spike is judged; the loss rose {course}"


def _is_number(*values: Any) -> bool:
    return all(isinstance(value, int | float) and value - value == 0.0 for value in values)
