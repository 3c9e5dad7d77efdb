"""Rows of GPUs drawn: utilisation as an area, power as a line, the stop through all of them."""

import numpy as np

from charts.columns import Floats
from charts.figures.boxes import Box
from charts.figures.canvas import WIDTH, Canvas
from charts.figures.place import Place
from charts.figures.sheet import EDGE, head
from charts.gpus import GpuRow, GpuSketch
from charts.look import Ink
from charts.sketch import Shape

LEGEND_ROW, FOOT = 44.0, 46.0
NAME, READING, TICK, LEGEND = 22.0, 22.0, 22.0, 22.0
SHORTEST, TALLEST = 46, 96
GAP = 6.0
HEAD = 112.0
UTILISATION, POWER = Ink.LOSS, Ink.OTHER


def build_figure(sketch: GpuSketch) -> Canvas:
    """The rows as a figure, not yet rendered."""
    count = max(len(sketch.rows), 1)
    row_height = min(max(640 // count, SHORTEST), TALLEST)
    height = int(HEAD + LEGEND_ROW + count * (row_height + GAP) + FOOT)
    canvas = Canvas(sketch.look, height)
    head(canvas, sketch.title, sketch.facts)
    left, right = _columns(canvas, sketch.rows)
    top = height - HEAD - LEGEND_ROW
    plot = Box(left, top - count * (row_height + GAP), right, top)
    free = _legend(canvas, sketch, top + 14)
    _times(canvas, sketch, plot)
    for number, row in enumerate(sketch.rows):
        upper = top - number * (row_height + GAP)
        _row(canvas, sketch, row, Box(left, upper - row_height, right, upper))
    _stop(canvas, sketch, plot, free)
    if not sketch.rows:
        canvas.text(WIDTH / 2, plot.bottom + plot.height / 2 - 8, "no GPU readings", NAME, anchor="center", gid="words")
    return canvas


def _columns(canvas: Canvas, rows: tuple[GpuRow, ...]) -> tuple[float, float]:
    """Where the curves begin and end: beside the longest name and the longest reading."""
    names = max((canvas.width_of(row.name, NAME, is_bold=row.is_odd) for row in rows), default=0.0)
    readings = max((canvas.width_of(row.reading, READING, is_bold=row.is_odd) for row in rows), default=0.0)
    return EDGE + min(names, 330.0) + 14, WIDTH - EDGE - min(readings, 250.0) - 14


def _legend(canvas: Canvas, sketch: GpuSketch, y: float) -> float:
    """What the colours mean; returns where the row is free again."""
    x = EDGE
    canvas.area(Box(x, y - 2, x + 26, y + 16), canvas.colour(UTILISATION), 0.45, gid="legend")
    x += 36
    words = "utilisation, 0–100 %"
    canvas.text(x, y, words, LEGEND, UTILISATION, gid="legend")
    x += canvas.width_of(words, LEGEND) + 36
    canvas.rule((x, y + 7), (x + 30, y + 7), canvas.colour(POWER), 4.0, gid="legend")
    words = f"power, 0–{sketch.power_watts:,.0f} W"
    canvas.text(x + 40, y, words, LEGEND, POWER, gid="legend")
    return x + 40 + canvas.width_of(words, LEGEND) + 30


def _times(canvas: Canvas, sketch: GpuSketch, plot: Box) -> None:
    place = Place(plot, sketch.first, sketch.last)
    y = plot.bottom - 28
    if sketch.day:
        canvas.text(EDGE, y, sketch.day, TICK, Ink.FAINT, gid="day")
    taken = EDGE + canvas.width_of(sketch.day, TICK) + 12
    for tick in sketch.ticks:
        x = place.column(tick.at)
        canvas.rule((x, plot.bottom), (x, plot.top), canvas.palette.grid, gid="grid")
        width = canvas.width_of(tick.says, TICK)
        if x - width / 2 >= taken:
            canvas.text(x, y, tick.says, TICK, anchor="center", gid="tick:time")
            taken = x + width / 2 + 14


def _row(canvas: Canvas, sketch: GpuSketch, row: GpuRow, box: Box) -> None:
    canvas.area(box, canvas.palette.grid, 0.5, zorder=0.1)
    place = Place(box, sketch.first, sketch.last, 0.0, 100.0)
    power = Place(box, sketch.first, sketch.last, 0.0, 1.0)
    x = place.columns(row.time)
    if row.bands is not None:
        low, high, low_power, high_power = row.bands
        canvas.band(x, place.rows(low), place.rows(high), UTILISATION, box, gid="band:utilisation")
        canvas.band(x, power.rows(low_power), power.rows(high_power), POWER, box, gid="band:power")
    _area(canvas, x, place.rows(row.utilisation), box)
    canvas.line(x, power.rows(row.power), POWER, 3.5, box, gid="power")
    middle = box.bottom + box.height / 2 - 8
    name = canvas.fitted(row.name, NAME, box.left - EDGE - 10, is_bold=row.is_odd)
    canvas.text(EDGE, middle, name, NAME, is_bold=row.is_odd, gid="name")
    ink = Ink.BAD if row.problem_at is not None else Ink.TEXT
    reading = canvas.fitted(row.reading, READING, WIDTH - EDGE - box.right - 10, is_bold=row.is_odd)
    canvas.text(WIDTH - EDGE, middle, reading, READING, ink, anchor="right", is_bold=row.is_odd, gid="reading")
    if row.problem_at is not None:
        canvas.mark(place.column(row.problem_at), box.bottom + box.height / 2, Shape.CROSS, Ink.BAD, gid="problem")


def _area(canvas: Canvas, x: Floats, y: Floats, box: Box) -> None:
    """Utilisation from the row's foot up; 0 % is still a line that can be seen."""
    foot = np.where(np.isfinite(y), box.bottom, np.nan)
    canvas.band(x, foot, y, UTILISATION, box, gid="area:utilisation")
    canvas.line(x, y, UTILISATION, 2.0, box, gid="utilisation")


def _stop(canvas: Canvas, sketch: GpuSketch, plot: Box, free: float) -> None:
    if sketch.stopped_at is None:
        return
    x = Place(plot, sketch.first, sketch.last).column(sketch.stopped_at)
    canvas.rule((x, plot.bottom + GAP), (x, plot.top), canvas.colour(Ink.BAD), 3.5, gid="stop")
    width = canvas.width_of(sketch.stopped_words, TICK, is_bold=True)
    left = min(max(x - width / 2, free), WIDTH - EDGE - width)
    canvas.text(left, plot.top + 14, sketch.stopped_words, TICK, Ink.BAD, is_bold=True, gid="stop")
