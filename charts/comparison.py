"""Two runs on one chart, aligned by step: both curves, and by how much they differ."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from charts.axes import axis_of
from charts.columns import Columns, Floats
from charts.curves import curves_of
from charts.look import Ink, Look
from charts.loss import (
    METRICS,
    TICKS_BELOW,
    TICKS_ON_TOP,
    TOP_SHARE,
    Zoom,
    facts_of,
    panel_of,
    rows_of_steps,
    zoom_facts,
)
from charts.marks import flags_of_extremes
from charts.names import one_line, shortened
from charts.scales import Scale, rate_scale, scale_of
from charts.sketch import Axis, Curve, Note, Panel, Shape, Sketch
from charts.thinning import condensed, within
from charts.words import say_difference, say_step
from diagnosis.series import RunSeries

LONGEST_NAME = 20


def sketch_comparison(
    series: RunSeries,
    other: RunSeries,
    look: Look,
    *,
    zoom: Zoom | None = None,
    metric: str = "loss",
    title_facts: Sequence[str] = (),
) -> Sketch:
    """What `draw_loss(series, vs=other)` shows."""
    (table, _), (others, _) = rows_of_steps(series), rows_of_steps(other)
    axis = axis_of([*table.values(), *others.values()], zoom, series.step_kind)
    # Two runs ran at two times: a clock under their common steps would be one run's only.
    axis = replace(axis, ticks=tuple(replace(tick, clock="") for tick in axis.ticks))
    names = [one_line(run.run) or "run" for run in (series, other)]
    apart = _difference(table[metric], others[metric], axis)
    top = _both(metric, table[metric], others[metric], axis, names)
    rest = [
        _both(name, table[name], others[name], axis, [])
        for name in METRICS
        if name != metric and (len(table[name]) or len(others[name]))
    ]
    return Sketch(
        look=look,
        title=f"{shortened(names[0], 40)} against {shortened(names[1], 40)}",
        facts=_facts(table, apart),
        remarks=(*zoom_facts(zoom), *(one_line(fact) for fact in title_facts)),
        axis=axis,
        panels=(top, _apart(metric, apart), *rest),
        badge="sampled" if series.is_sampled or other.is_sampled else "",
    )


def _both(name: str, mine: Columns, others: Columns, axis: Axis, names: Sequence[str]) -> Panel:
    """The metric of both runs in one panel; the other run's lines are dashed and of another colour."""
    metric = METRICS[name]
    panel = panel_of(name, mine, (), axis, is_top=bool(names))
    seen, seen_of_other = (condensed(within(columns, axis.first, axis.last)) for columns in (mine, others))
    if not len(seen_of_other):
        return replace(panel, notes=_legend(metric.ink, names))
    rows = _joined(seen, seen_of_other)
    scale = rate_scale(rows) if metric.is_rate else scale_of(rows, decades_for_log=metric.decades_for_log)
    holes = [flag for flag in panel.flags if flag.shape is Shape.CROSS]
    return replace(
        panel,
        name=f"{metric.name} (log)" if scale.is_log else metric.name,
        low=scale.low,
        high=scale.high,
        is_log=scale.is_log,
        ticks=scale.ticks(TICKS_ON_TOP if names else TICKS_BELOW),
        flags=(*holes, *flags_of_extremes(rows, scale)),
        curves=(*curves_of(seen_of_other, Ink.OTHER, is_dashed=True), *curves_of(seen, metric.ink)),
        notes=_legend(metric.ink, names),
        words="",
    )


def _joined(one: Columns, two: Columns) -> Columns:
    """The rows of both, to find a scale for."""
    parts = ((one.step, two.step), (one.time, two.time), (one.value, two.value), (one.low, two.low))
    step, time, value, low = (np.concatenate(part) for part in parts)
    return Columns(step, time, value, low, np.concatenate((one.high, two.high)), is_band=True)


def _legend(ink: Ink, names: Sequence[str]) -> tuple[Note, ...]:
    signs = ((ink, "━━"), (Ink.OTHER, "╺ ╺"))
    return tuple(
        Note(f"{sign} {shortened(name, LONGEST_NAME)}", ink) for (ink, sign), name in zip(signs, names, strict=False)
    )


def _difference(mine: Columns, others: Columns, axis: Axis) -> tuple[Floats, Floats]:
    """Steps both runs have passed, and mine minus the other's there."""
    mine, others = (_ascending(condensed(within(columns, axis.first, axis.last))) for columns in (mine, others))
    if not len(mine) or not len(others):
        return np.empty(0), np.empty(0)
    common = mine.pick((mine.step >= others.step[0]) & (mine.step <= others.step[-1]))
    return common.step, common.value - np.interp(common.step, others.step, others.value)


def _ascending(columns: Columns) -> Columns:
    """Finite rows by step, the newest attempt's where several passed it."""
    rows = columns.pick(columns.is_finite)
    newest_first = rows.pick(np.arange(len(rows))[::-1])
    _, first = np.unique(newest_first.step, return_index=True)
    return newest_first.pick(first)


def _apart(metric: str, apart: tuple[Floats, Floats]) -> Panel:
    step, value = apart
    name = f"difference in {METRICS[metric].name}"
    if not len(step):
        return Panel("difference", name, Ink.TEXT, words="no step in common")
    rows = Columns(step, np.full(len(step), np.nan), value, value, value)
    scale = scale_of(rows, keep=(0.0,))
    scale = Scale(min(scale.low, 0.0), max(scale.high, 0.0))
    zero = Curve(np.array([step[0], step[-1]]), np.zeros(2), Ink.FAINT, is_pale=True)
    return Panel(
        metric="difference",
        name=name,
        ink=Ink.TEXT,
        low=scale.low,
        high=scale.high,
        ticks=scale.ticks(3),
        curves=(zero, *curves_of(rows, Ink.TEXT)),
        share=TOP_SHARE / 2,
    )


def _facts(table: dict[str, Columns], apart: tuple[Floats, Floats]) -> tuple[str, ...]:
    step, value = apart
    if not len(step):
        return facts_of(table)
    return (f"{say_difference(float(value[-1]))} at step {say_step(float(step[-1]))}, the last they share",)
