"""The chart of one trouble: the steps around the bad one, what led to it, and where in the run that was."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from charts.axes import axis_of
from charts.columns import Columns, Floats
from charts.drawing import paint
from charts.look import Ink, Look
from charts.loss import METRICS, TICKS_ON_TOP, Zoom, columns_by_metric, dividers_of, panel_of
from charts.names import one_line, shortened
from charts.sketch import Axis, Divider, Note, Overview, Panel, Sketch
from charts.thinning import in_order
from charts.words import say_nonfinite, say_step, say_value
from diagnosis.series import Mark, RunSeries

BEFORE, AFTER = 100, 50
"""Logged points shown around the bad step."""
MOST_SQUEEZED = 8.0
"""Here the extreme is the news: the ordinary values may become flat beside it."""


def draw_incident(
    series: RunSeries,
    look: Look,
    *,
    bad_step: float,
    last_good_step: float | None = None,
    kind: str = "",
    metric: str = "loss",
    marks: Sequence[Mark] = (),
    title_facts: Sequence[str] = (),
) -> bytes:
    """A PNG of what happened around a step.

    Args:
        series: The run, exact or thinned.
        look: Light or dark.
        bad_step: The first step that came out wrong.
        last_good_step: The last that did not; None: the last finite point before the bad step.
        kind: The finding's kind, such as `nonfinite_loss` or `loss_spike`.
        metric: Which metric it was found in.
        marks: Further marks, beside the series' own.
        title_facts: Short facts for the line below the title, instead of the last values.
    """
    return paint(
        sketch_incident(
            series,
            look,
            bad_step=bad_step,
            last_good_step=last_good_step,
            kind=kind,
            metric=metric,
            marks=marks,
            title_facts=title_facts,
        )
    )


def sketch_incident(
    series: RunSeries,
    look: Look,
    *,
    bad_step: float,
    last_good_step: float | None = None,
    kind: str = "",
    metric: str = "loss",
    marks: Sequence[Mark] = (),
    title_facts: Sequence[str] = (),
) -> Sketch:
    """What `draw_incident` shows."""
    table = columns_by_metric(series)
    everything = (*series.marks, *marks)
    story = _Story.of(table[metric], bad_step, last_good_step, kind, METRICS[metric].name)
    story = story.with_marks([mark for mark in everything if mark.metric == metric])
    axis = axis_of(table.values(), _around(table, metric, story), series.step_kind)
    lines = (*dividers_of(series.attempts, table[metric], axis), *story.dividers())
    shown = [
        name for name in (metric, *(name for name in METRICS if name != metric)) if name == metric or len(table[name])
    ]
    panels = [
        panel_of(
            name,
            table[name],
            everything,
            axis,
            dividers=lines,
            is_top=name == metric,
            keep=_values_at(table[name], story),
            most_squeezed=MOST_SQUEEZED,
        )
        for name in shown
    ]
    panels[0] = _said_once(panels[0], bad_step)
    panels = [
        _with_lead(panel, table["grad_norm"], story) if panel.metric == "grad_norm" else panel for panel in panels
    ]
    return Sketch(
        look=look,
        title=one_line(series.run) or "run",
        facts=tuple(one_line(fact) for fact in title_facts) or story.facts(table[metric]),
        axis=axis,
        panels=tuple(panels),
        badge="sampled" if series.is_sampled else "",
        overview=_overview(table[metric], metric, everything, axis),
    )


@dataclass(frozen=True, slots=True)
class _Story:
    """The two steps it is about, and what to call the trouble."""

    bad: float
    good: float | None
    bad_value: float | None
    good_value: float | None
    metric: str
    kind: str

    @classmethod
    def of(cls, columns: Columns, bad: float, good: float | None, kind: str, metric: str) -> "_Story":
        if good is None:
            good = _last_finite_before(columns, bad)
        good_value = None if good is None else _value_at(columns, good)
        return cls(bad, good, _value_at(columns, bad), good_value, metric, one_line(kind.replace("_", " ")))

    def with_marks(self, marks: Sequence[Mark]) -> "_Story":
        """The same, with the bad value from a mark where thinned points have lost it."""
        at_bad = [mark.value for mark in marks if mark.step == self.bad and mark.value is not None]
        return replace(self, bad_value=at_bad[0]) if at_bad and _is_fine(self.bad_value) else self

    @property
    def what(self) -> str:
        if not _is_fine(self.bad_value):
            return f"{self.metric} {say_nonfinite(self.bad_value or math.nan)}"
        if not self.kind and self.bad_value is not None:
            return f"{self.metric} {say_value(self.bad_value)}"
        return shortened(self.kind, 26)

    def dividers(self) -> tuple[Divider, ...]:
        """The last good step and the bad one; the cross of a NaN has its own words."""
        words = f"{self.what} at {say_step(self.bad)}".strip() if _is_fine(self.bad_value) else ""
        lines = [Divider(self.bad, Ink.BAD, "bad", words, is_dashed=False)]
        if self.good is not None:
            lines.insert(0, Divider(self.good, Ink.GOOD, "good", f"last good {say_step(self.good)}", is_leftward=True))
        return tuple(lines)

    def facts(self, columns: Columns) -> tuple[str, ...]:
        """What happened, in one line."""
        facts = [f"{self.what} at step {say_step(self.bad)}".strip()]
        if self.good is not None:
            value = "" if self.good_value is None else f": {say_value(self.good_value)}"
            facts.append(f"last good {say_step(self.good)}{value}")
        if len(columns) and columns.step[-1] > self.bad:
            facts.append(f"at {say_step(float(columns.step[-1]))}: {say_value(float(columns.value[-1]))}")
        return tuple(facts)


def _is_fine(value: float | None) -> bool:
    return value is None or math.isfinite(value)


def _value_at(columns: Columns, step: float) -> float | None:
    """The newest value logged for that step."""
    found = np.flatnonzero(columns.step == step)
    return float(columns.value[found[-1]]) if len(found) else None


def _last_finite_before(columns: Columns, step: float) -> float | None:
    found = np.flatnonzero(columns.is_finite & (columns.step < step))
    return float(columns.step[found[-1]]) if len(found) else None


def _around(table: dict[str, Columns], metric: str, story: _Story) -> Zoom:
    """From some logged points before the bad step to some after it."""
    columns = table[metric] if len(table[metric]) else max(table.values(), key=len)
    steps = _pass_with(in_order(columns), story.bad)
    if not len(steps):
        return story.bad - 1, story.bad + 1
    place = int(np.searchsorted(steps, story.bad))
    first = float(steps[max(place - BEFORE, 0)])
    last = float(steps[min(place + AFTER, len(steps) - 1)])
    if story.good is not None:
        first = min(first, story.good)
    first, last = min(first, story.bad), max(last, story.bad)
    # The end of a dead run is the right edge: leave room for the words beside it.
    return first, last + (last - first) * 0.04


def _pass_with(columns: Columns, bad: float) -> Floats:
    """The steps of the newest attempt that passed the bad one, of the newest of all where none did."""
    bounds = np.append(columns.passes, len(columns)).tolist()
    passes = [columns.step[start:end] for start, end in pairwise(bounds)]
    return next((own for own in reversed(passes) if own[0] <= bad <= own[-1]), passes[-1] if passes else columns.step)


def _values_at(columns: Columns, story: _Story) -> tuple[float, ...]:
    """The values the chart must not clip."""
    steps = [step for step in (story.bad, story.good) if step is not None]
    return tuple(value for step in steps if (value := _value_at(columns, step)) is not None)


def _with_lead(panel: Panel, columns: Columns, story: _Story) -> Panel:
    """How the grad norm went in the last steps before the bad one."""
    before = columns.value[np.flatnonzero(columns.step < story.bad)[-3:]]
    if len(before) < 3:
        return panel
    led = " → ".join(say_value(float(value)) for value in before)
    return replace(panel, notes=(Note(f"{led} before it", Ink.TEXT), *panel.notes[:1]))


def _said_once(panel: Panel, bad: float) -> Panel:
    """The bad step's line without words where a mark at that step has its own."""
    if not any(flag.x == bad and flag.says for flag in panel.flags):
        return panel
    lines = tuple(replace(line, says="") if line.kind == "bad" else line for line in panel.dividers)
    return replace(panel, dividers=lines)


def _overview(columns: Columns, metric: str, marks: Sequence[Mark], shown: Axis) -> Overview | None:
    """The whole run in small; nothing when the chart shows all of it."""
    whole = axis_of([columns], None, "printed")
    if not len(columns) or (shown.last - shown.first) > 0.8 * (whole.last - whole.first):
        return None
    nonfinite = [mark for mark in marks if mark.kind == "nonfinite"]
    panel = panel_of(metric, columns, nonfinite, whole, is_top=True)
    flags = tuple(replace(flag, says="") for flag in panel.flags)
    name = f"whole run, {whole.name} {say_step(whole.first)}–{say_step(whole.last)}"
    small = replace(panel, name=name, ticks=panel.ticks[:: max(TICKS_ON_TOP - 1, 1)], flags=flags, notes=())
    return Overview(small, whole, max(shown.first, whole.first), min(shown.last, whole.last))
