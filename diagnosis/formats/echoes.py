"""LLaMA-Factory logs a dict of its own for every step, and the Trainer prints its dict right behind it: one step.

`[INFO|2025-04-30 22:55:57] llamafactory.train.callbacks:143 >> {'loss': 1.4229, 'learning_rate': 4.9978e-05, …}`
stands in front of `{'loss': 1.4229, 'grad_norm': 0.77, …}`. The first is rounded and has the time, the second has the
grad norm. A log that was written by the logger alone holds only the first.

A callback of somebody's own may print `step 10 loss 1.4229` as well: the dict behind it is the same step, and adds what
the line has not told.
"""

import math
import re
from collections import deque
from typing import NamedTuple

from diagnosis.formats.line_format import Values

_ECHO = re.compile(
    r"(?:\bcallbacks(?:\.py)?(?::\d+)?\]?|\blogging\.py:\d+|\bcallbacks\.py:\d+\] [\d :,.-]+)\s(?:>>|-) \{'"
)
KEPT_CALLBACKS = 16
_LOSS_ROUNDING = 6e-5
_EPOCH_ROUNDING = 6e-3


def is_echo(text: str) -> bool:
    """True for a dict behind the words of LLaMA-Factory's logger."""
    return text[:1] != "{" and ("callbacks" in text or "logging.py" in text) and _ECHO.search(text) is not None


def told_by(values: Values) -> Values:
    """What of a dict an echo of it repeats."""
    return {name: values[name] for name in ("loss", "epoch") if name in values}


def tells_again(echoed: Values, values: Values) -> bool:
    """True when both dicts are of one step, as far as rounding tells."""
    return _is_near(echoed.get("loss"), values.get("loss"), _LOSS_ROUNDING) and _is_near(
        echoed.get("epoch"), values.get("epoch"), _EPOCH_ROUNDING
    )


class Call(NamedTuple):
    """What a callback has told of a step."""

    step: int
    loss: float
    is_point: bool
    """True when its line was taken for a point: a dict of the same step tells no other."""


def called_back(told: deque[Call], values: Values) -> Call | None:
    """What a callback has told of a dict's step, which is then told no more; None when none has."""
    for place, call in enumerate(told):
        if is_same_loss(call.loss, values.get("loss")):
            for _ in range(place + 1):
                told.popleft()
            return call
    return None


def is_same_loss(printed: float, in_dict: float | None) -> bool:
    """True when a dict tells the printed loss: version 5 of the Trainer rounds to four digits, older ones to 1e-4."""
    if in_dict is None or not math.isfinite(in_dict) or in_dict == 0:
        return _is_near(printed, in_dict, _LOSS_ROUNDING)
    last_digit = 10.0 ** (math.floor(math.log10(abs(in_dict))) - 3)
    has_four = abs(in_dict / last_digit - round(in_dict / last_digit)) < 1e-6
    return _is_near(printed, in_dict, max(_LOSS_ROUNDING, 0.51 * last_digit) if has_four else _LOSS_ROUNDING)


def _is_near(one: float | None, other: float | None, by: float) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= by or one == other or (math.isnan(one) and math.isnan(other))
