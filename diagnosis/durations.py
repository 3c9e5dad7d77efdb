"""Spans of time as people write them: `90s`, `10m`, `1h30m`; `wording.py` says them."""

import re

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|[smhdw])", re.ASCII)
_LONGEST_TEXT = 40


def parse_duration(text: str) -> float | None:
    """Seconds of `90s`, `10m`, `1h30m`, `0.5h`; None where the text is no duration.

    A bare `0` is one too; any other bare number is not, because nobody can see its unit.
    """
    wanted = text.strip().lower()
    if wanted == "0":
        return 0.0
    if not wanted or len(wanted) > _LONGEST_TEXT:
        return None
    total, end = 0.0, 0
    for part in _PART.finditer(wanted):
        if wanted[end : part.start()].strip():
            return None
        total += float(part[1]) * SECONDS[part[2]]
        end = part.end()
    return None if end == 0 or wanted[end:].strip() else total


def write_duration(seconds: float) -> str:
    """The shortest form that `parse_duration` reads back: `10m`, `1h30m`, `0.25s`."""
    if seconds < 1:
        return f"{seconds:g}s"
    left, written = round(seconds, 3), ""
    for unit in ("d", "h", "m"):
        count, left = divmod(left, SECONDS[unit])
        if count:
            written += f"{count:.0f}{unit}"
    return written + (f"{left:g}s" if left else "") or "0"
