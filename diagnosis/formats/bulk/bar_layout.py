"""Layouts of a bar without a name or numbers of its own behind its speed, and of the blanks that wipe it away."""

import random
import re

import numpy as np

from diagnosis.formats.bars import read_bar
from diagnosis.formats.bulk.decimal import Number, number_at
from diagnosis.formats.bulk.layout import Group, Layout
from diagnosis.formats.line import Line
from diagnosis.formats.sampling import BAR
from diagnosis.observations import Origin

BLANK = "blank"
BAR_NAMES = ("n", "total", "hours", "minutes", "seconds", "rate", "is_speed")
TRIES = 3
_BAR = re.compile(
    rb" *\d{1,3}%\|[^|\[%]*\| *(?P<n>\d{1,12})/(?P<total>\d{1,12}) "
    rb"\[(?:(?P<hours>\d+):)?(?P<minutes>\d{1,9}):(?P<seconds>\d\d)<[\d:]+, *"
    rb"(?P<rate>\d+\.\d\d) ?(?P<unit>it/s|s/it)\] *"
)


def bar_layout(raw: bytes, origin: Origin) -> Layout | None:
    """The layout of a redraw; None when it says more than count, time and speed."""
    match = _BAR.fullmatch(raw)
    if match is None:
        return None
    picked: dict[int, int] = {}
    numbers: dict[str, Number] = {}
    constants = {"total": float(match["total"]), "is_speed": float(match["unit"] == b"it/s")}
    for name in ("n", "hours", "minutes", "seconds", "rate"):
        if match[name] is None:
            constants[name] = 0.0
            continue
        number = number_at(match[name], match.start(name), 1.0, picked)
        if number is None:
            return None
        numbers[name] = number
    held = range(*match.span("total"))
    gaps = frozenset(place for place in range(len(raw)) if raw[place : place + 1].isdigit() and place not in held)
    group = Group(BAR, "printed", origin, origin, frozenset(BAR_NAMES), is_timed=False)
    layout = Layout(
        raw, raw.decode("utf-8", "replace"), None, group, gaps, tuple(picked), numbers, constants, None, None
    )
    return layout if _is_proven(layout) else None


def blank_layout(raw: bytes, origin: Origin) -> Layout:
    """The layout of so many blanks."""
    group = Group(BLANK, "none", origin, origin, frozenset(), is_timed=False)
    return Layout(raw, raw.decode(), None, group, frozenset(), (), {}, {}, None, None)


def _is_proven(layout: Layout) -> bool:
    """The layout reads the bar, and others with other digits, as the reader of single bars does."""
    dice = random.Random(0)  # noqa: S311 - the same tries each time
    raws = [bytearray(layout.line) for _ in range(TRIES)]
    for raw in raws[1:]:
        for place in layout.gaps:
            raw[place] = ord(dice.choice("123456789"))
    digits, misfit = layout.match(np.frombuffer(b"".join(raws), np.uint8).reshape(TRIES, -1))
    columns, refused = layout.values(digits)
    if misfit is not None or refused is not None:
        return False
    return all(
        _reads_alike(layout, raw, {name: float(columns[name][turn]) for name in columns})
        for turn, raw in enumerate(raws)
    )


def _reads_alike(layout: Layout, raw: bytearray, told: dict[str, float]) -> bool:
    read = read_bar(Line(raw.decode("utf-8", "replace"), 0, 0, b"", layout.group.origin))
    if read is None:
        return False
    bar, name, rest = read
    told |= layout.constants
    expected = {
        "step_in_epoch": told["n"],
        "total_steps": told["total"],
        "elapsed_seconds": told["hours"] * 3600 + told["minutes"] * 60 + told["seconds"],
        "step_seconds": 1 / told["rate"] if told["is_speed"] else told["rate"],
    }
    return not name and not rest.strip() and bar.values == expected
