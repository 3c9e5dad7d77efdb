"""The chart of a run: its loss on top, grad norm and learning rate below, everything that went wrong marked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from charts.axes import axis_of
from charts.columns import Columns, columns_of
from charts.curves import curves_of
from charts.drawing import paint
from charts.holes import flags_of_holes, holes_of
from charts.look import Ink, Look
from charts.marks import flags_of_extremes, flags_of_marks, notes_of
from charts.names import one_line
from charts.scales import Scale, rate_scale, scale_of
from charts.sketch import Axis, Divider, Panel, Sketch
from charts.thinning import condensed, of_all_ranks, within
from charts.words import say_rate, say_step, say_value
from diagnosis.errors import Mistake
from diagnosis.series import AttemptSpan, Mark, RunSeries

Zoom = tuple[float, float]
"""First and last step to show."""


@dataclass(frozen=True, slots=True)
class Metric:
    """How one metric of a run is shown."""

    name: str
    ink: Ink
    decades_for_log: float
    share: float
    is_rate: bool = False


METRICS = {
    "loss": Metric("loss", Ink.LOSS, decades_for_log=3.0, share=1.0),
    "grad_norm": Metric("grad norm", Ink.GRAD_NORM, decades_for_log=1.3, share=1.0),
    "lr": Metric("learning rate", Ink.LR, decades_for_log=math.inf, share=0.6, is_rate=True),
}
"""What a run has to show, top first."""
TOP_SHARE = 2.4
TICKS_ON_TOP, TICKS_BELOW = 4, 2


class UnknownMetric(Mistake):
    """A run has no such metric to draw."""

    def __init__(self, name: str) -> None:
        super().__init__(f"No metric `{one_line(name)[:40]}`; there are {', '.join(METRICS)}.")
        self.name = name


def draw_loss(
    series: RunSeries,
    look: Look,
    *,
    zoom: Zoom | None = None,
    vs: RunSeries | None = None,
    metric: str = "loss",
    title_facts: Sequence[str] = (),
) -> bytes:
    """A PNG of the run.

    Args:
        series: What to draw, exact or thinned.
        look: Light or dark.
        zoom: First and last step to show; None: all.
        vs: Another run to lay beside it, aligned by step.
        metric: Which metric stands on top: `loss`, `grad_norm` or `lr`.
        title_facts: Short facts for the line below the title, after the last values.
    """
    return paint(sketch_loss(series, look, zoom=zoom, vs=vs, metric=metric, title_facts=title_facts))


def sketch_loss(
    series: RunSeries,
    look: Look,
    *,
    zoom: Zoom | None = None,
    vs: RunSeries | None = None,
    metric: str = "loss",
    title_facts: Sequence[str] = (),
) -> Sketch:
    """What `draw_loss` shows, small whatever the length of the run."""
    _check(metric)
    if vs is not None:
        from charts.comparison import sketch_comparison  # noqa: PLC0415 - it builds on this module

        return sketch_comparison(series, vs, look, zoom=zoom, metric=metric, title_facts=title_facts)
    table, spread = rows_of_steps(series)
    axis = axis_of(table.values(), zoom, series.step_kind)
    order = [metric, *(name for name in METRICS if name != metric)]
    shown = [name for name in order if name == metric or len(table[name])]
    dividers = dividers_of(series.attempts, table[metric], axis)
    panels = tuple(
        panel_of(name, table[name], series.marks, axis, dividers=dividers, is_top=name == metric) for name in shown
    )
    return Sketch(
        look=look,
        title=one_line(series.run) or "run",
        facts=facts_of(table),
        remarks=(*spread, *zoom_facts(zoom), *(one_line(fact) for fact in title_facts)),
        axis=axis,
        panels=panels,
        badge="sampled" if series.is_sampled else "",
    )


def rows_of_steps(series: RunSeries) -> tuple[dict[str, Columns], tuple[str, ...]]:
    """The metrics with one row for each step, and what to say where ranks told a step differently."""
    joined = {
        name: of_all_ranks(columns, len(series.attempts)) if len(columns) else (columns, 1)
        for name, columns in columns_by_metric(series).items()
    }
    most = max(count for _, count in joined.values())
    words = (f"band: {most} values a step, lowest to highest",) if most > 1 else ()
    return {name: columns for name, (columns, _) in joined.items()}, words


def _check(metric: str) -> None:
    if metric not in METRICS:
        raise UnknownMetric(metric)


def columns_by_metric(series: RunSeries) -> dict[str, Columns]:
    """The run's metrics as columns, under the names of `METRICS`."""
    return {name: columns_of(getattr(series, name)) for name in METRICS}


def panel_of(
    name: str,
    columns: Columns,
    marks: Sequence[Mark],
    axis: Axis,
    *,
    dividers: Sequence[Divider] = (),
    is_top: bool = False,
    keep: tuple[float, ...] = (),
    most_squeezed: float = 3.0,
) -> Panel:
    """One metric with everything that is marked on it."""
    metric = METRICS[name]
    share = TOP_SHARE if is_top else metric.share
    own = [mark for mark in marks if mark.metric == name]
    holes = holes_of(columns, own)
    inside = within(columns, axis.first, axis.last)
    rows = condensed(inside)
    if not len(rows) and not len(holes):
        where = "" if not len(columns) else f" between {axis.name} {say_step(axis.first)} and {say_step(axis.last)}"
        words = f"no {metric.name} in this log{where}"
        return Panel(name, metric.name, metric.ink, words=words, share=share, dividers=tuple(dividers))
    if metric.is_rate:
        scale = rate_scale(rows)
    else:
        scale = scale_of(rows, decades_for_log=metric.decades_for_log, most_squeezed=most_squeezed, keep=keep)
    crosses, shades = flags_of_holes(holes, axis.first, axis.last)
    extremes = flags_of_extremes(inside if _is_clipped(rows, scale) else rows, scale)
    said = {flag.x for flag in extremes}
    marked = [
        replace(flag, says="") if flag.x in said else flag
        for flag in flags_of_marks(own, inside, axis.first, axis.last)
    ]
    return Panel(
        metric=name,
        name=f"{metric.name} (log)" if scale.is_log else metric.name,
        ink=metric.ink,
        low=scale.low,
        high=scale.high,
        is_log=scale.is_log,
        ticks=scale.ticks(TICKS_ON_TOP if is_top else TICKS_BELOW) if rows.is_finite.any() else (),
        curves=curves_of(rows, metric.ink),
        flags=(*crosses, *extremes, *marked),
        dividers=tuple(dividers if is_top else _without_words(dividers)),
        shades=shades,
        notes=notes_of(holes, own, axis.first, axis.last),
        share=share,
        words="" if rows.is_finite.any() else f"every {metric.name} here is NaN or Inf",
    )


def _is_clipped(rows: Columns, scale: Scale) -> bool:
    """Whether the exact step of an extreme is wanted: only then are all rows looked at again."""
    finite = rows.is_finite
    return bool((rows.high[finite] > scale.high).any() or (rows.low[finite] < scale.low).any())


def _without_words(dividers: Sequence[Divider]) -> tuple[Divider, ...]:
    return tuple(Divider(line.x, line.ink, line.kind, is_dashed=line.is_dashed) for line in dividers)


def dividers_of(attempts: Sequence[AttemptSpan], columns: Columns, axis: Axis) -> tuple[Divider, ...]:
    """A line where each attempt after the first begins; where the steps go back when no one counted attempts."""
    if attempts:
        starts = [(span.first_step, span.number) for span in attempts[1:] if span.first_step is not None]
    else:
        steps = columns.step[columns.passes[1:]]
        starts = [(float(step), number) for number, step in enumerate(steps[:64], start=2)]
    by_step: dict[float, list[int]] = {}
    for step, number in starts:
        if axis.first <= step <= axis.last:
            by_step.setdefault(step, []).append(number)
    return tuple(Divider(step, Ink.FAINT, "attempt", _say_attempts(numbers)) for step, numbers in by_step.items())


def _say_attempts(numbers: list[int]) -> str:
    return f"attempt {numbers[0]}" if len(numbers) == 1 else f"attempts {numbers[0]}–{numbers[-1]}"


def facts_of(table: dict[str, Columns]) -> tuple[str, ...]:
    """The last values, as a person says them."""
    facts: list[str] = []
    for name, columns in table.items():
        if not len(columns):
            continue
        if not facts:
            facts.append(f"step {say_step(float(columns.step[-1]))}")
        value = float(columns.value[-1])
        metric = METRICS[name]
        facts.append(f"lr {say_rate(value)}" if metric.is_rate else f"{metric.name} {say_value(value)}")
    return tuple(facts)


def zoom_facts(zoom: Zoom | None) -> tuple[str, ...]:
    """Which part is shown, where it is a part."""
    return () if zoom is None else (f"shown: {say_step(min(zoom))}–{say_step(max(zoom))}",)
