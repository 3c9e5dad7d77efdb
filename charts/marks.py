"""Which points are marked, with which shape, and which of them get a word."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from charts.columns import Columns
from charts.holes import NONFINITE, Holes, count_words
from charts.look import Ink
from charts.names import one_line, shortened
from charts.scales import Scale
from charts.sketch import Flag, Note, Shape
from charts.words import say_count, say_difference, say_step, say_value
from diagnosis.series import Mark

MOST_FLAGS = 40
"""Of one kind in one panel; more are counted in the panel's note, the largest are drawn."""
MOST_WORDS = 3
LONGEST_WORD = 24
"""A longer sentence would lose its middle, and with it what it says."""
APART = 0.04
"""Share of the axis between two marks that both have a word."""

_SHAPES = {
    "jump": (Shape.DIAMOND, Ink.JUMP),
    "spike": (Shape.TRIANGLE, Ink.SPIKE),
    "warning": (Shape.SQUARE, Ink.SPIKE),
}
_SHOWN_AS_HOLES = frozenset((NONFINITE, "nonfinite_loss", "nonfinite_grad_norm"))
"""Crosses and shades tell of these already, with their first step and their number."""
_FINDINGS = {
    "loss_spike": "spike",
    "divergence": "climbs and stays",
    "sustained_spike": "stays high",
    "loss_vanished": "loss vanishes",
    "grad_norm_lead": "grad norm leads",
    "plateau": "no longer falls",
    "slowdown": "slower",
    "loss_scale_floor": "scale at its floor",
    "overflow_streak": "steps skipped",
}
"""What a finding is called on the curve; its sentence stands beside the chart."""
_PLURALS = {"jump": ("jump", "jumps"), "spike": ("spike", "spikes"), "warning": ("early warning", "early warnings")}


def flags_of_marks(marks: Iterable[Mark], columns: Columns, first: float, last: float) -> tuple[Flag, ...]:
    """Jumps, spikes, warnings and findings in view, one for each step; the largest few with a word."""
    by_step: dict[float, Flag] = {}
    looked_up = 0
    for mark in marks:
        step = mark.step
        if mark.kind in _SHOWN_AS_HOLES or step is None or not first <= step <= last:
            continue
        if (mark.value is None or not math.isfinite(mark.value)) and looked_up < MOST_FLAGS:
            looked_up += 1
            mark = replace(mark, value=_value_at(columns, step))  # noqa: PLW2901 - the same mark, on the curve
        flag = _flag_of(mark, step)
        # A spike is a jump too: one mark is enough, and the spike tells more.
        if flag.x not in by_step or by_step[flag.x].weight < flag.weight:
            by_step[flag.x] = flag
    kinds: dict[str, list[Flag]] = {}
    for flag in sorted(by_step.values(), key=lambda flag: -flag.weight):
        kinds.setdefault(flag.kind, []).append(flag)
    chosen = [flag for flags in kinds.values() for flag in flags[:MOST_FLAGS]]
    return _with_fewer_words(chosen, (last - first) * APART)


def _flag_of(mark: Mark, step: float) -> Flag:
    shape, ink = _SHAPES.get(mark.kind, (Shape.CIRCLE, Ink.BAD))
    value = math.inf if mark.value is None or math.isnan(mark.value) else mark.value
    return Flag(step, value, shape, ink, mark.kind, _say_mark(mark), _weight_of(mark))


def _value_at(columns: Columns, step: float) -> float:
    """Where the curve is at that step; infinite, so at the upper edge, where it has no point."""
    found = np.flatnonzero((columns.step == step) & columns.is_finite)
    return float(columns.value[found[-1]]) if len(found) else math.inf


def _weight_of(mark: Mark) -> float:
    """A finding before a spike before a jump; of one kind the larger."""
    rank = {"jump": 1, "warning": 2, "spike": 2}.get(mark.kind, 3)
    if mark.value is None or not math.isfinite(mark.value):
        return rank * 1e4
    size = abs(mark.value - mark.before) if mark.before is not None else abs(mark.value)
    return rank * 1e4 + min(size, 9e3)


def _say_mark(mark: Mark) -> str:
    value, place = mark.value, f"at {say_step(mark.step or 0)}"
    is_known = value is not None and math.isfinite(value)
    if mark.kind == "jump" and value is not None and mark.before is not None:
        return f"{say_difference(value - mark.before)} {place}"
    if mark.kind == "spike" and value is not None and is_known:
        return f"{say_value(value)} {place}"
    text = one_line(mark.text)
    if text and len(text) <= LONGEST_WORD:
        return text
    if mark.kind in _FINDINGS:
        return f"{_FINDINGS[mark.kind]} {place}"
    return _PLURALS[mark.kind][0] if mark.kind in _PLURALS else shortened(one_line(mark.kind.replace("_", " ")), 24)


def _with_fewer_words(flags: Sequence[Flag], apart: float) -> tuple[Flag, ...]:
    """Only the weightiest that stand apart keep their word; a phone has room for no more."""
    speakers: list[Flag] = []
    for flag in sorted(flags, key=lambda flag: -flag.weight):
        if len(speakers) < MOST_WORDS and all(abs(flag.x - other.x) > apart for other in speakers):
            speakers.append(flag)
    keep = {id(flag) for flag in speakers}
    return tuple(flag if id(flag) in keep else replace(flag, says="") for flag in flags)


def flags_of_extremes(columns: Columns, scale: Scale) -> tuple[Flag, ...]:
    """An arrow with its value where the highest or lowest point lies outside the panel."""
    finite = columns.is_finite
    if not finite.any():
        return ()
    low, high = columns.low, columns.high
    if not columns.is_all_finite:
        low, high = np.where(finite, low, np.inf), np.where(finite, high, -np.inf)
    flags = []
    top, bottom = int(high.argmax()), int(low.argmin())
    if high[top] > scale.high:
        flags.append(_extreme(float(columns.step[top]), float(high[top]), Shape.ABOVE))
    if low[bottom] < scale.low:
        flags.append(_extreme(float(columns.step[bottom]), float(low[bottom]), Shape.BELOW))
    return tuple(flags)


def _extreme(step: float, value: float, shape: Shape) -> Flag:
    edge = math.inf if shape is Shape.ABOVE else -math.inf
    return Flag(step, edge, shape, Ink.TEXT, "extreme", f"{say_value(value)} at {say_step(step)}", weight=1e5)


def notes_of(holes: Holes, marks: Iterable[Mark], first: float, last: float) -> tuple[Note, ...]:
    """How many of each kind are in view, with the mark that stands for them."""
    notes = []
    seen = holes.within(first, last)
    if len(seen):
        notes.append(Note(count_words(seen), Ink.BAD, Shape.CROSS))
    counts: dict[str, int] = {}
    for mark in marks:
        if mark.kind not in _SHOWN_AS_HOLES and mark.step is not None and first <= mark.step <= last:
            counts[mark.kind] = counts.get(mark.kind, 0) + 1
    for kind, count in counts.items():
        shape, ink = _SHAPES.get(kind, (Shape.CIRCLE, Ink.BAD))
        one, many = _PLURALS.get(kind, (kind.replace("_", " "),) * 2)
        notes.append(Note(shortened(one_line(f"{say_count(count)} {one if count == 1 else many}"), 26), ink, shape))
    return tuple(notes[:3])
