"""A loss of which a line tells the parts: what is trained on is their sum."""

from diagnosis.formats.line_format import Values

PART = "part_"
"""How the parts are called until they are added up, each with its number behind it."""
_ROUNDING = 0.005
_DIGITS = 9


def add_up(values: Values) -> bool:
    """Put the sum in place of the parts; where the last of them is the sum of the others, it is the total."""
    parts = [values.pop(name) for name in sorted(name for name in values if name.startswith(PART))]
    if parts:
        *others, last = parts
        total = sum(others)
        is_total = len(others) > 1 and abs(last - total) <= _ROUNDING * abs(total)
        values["loss"] = last if is_total else round(total + last, _DIGITS)
    return True
