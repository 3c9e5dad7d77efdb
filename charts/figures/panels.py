"""One panel drawn: its name, values, curves, holes, marks and the words beside them."""

import numpy as np

from charts.figures.boxes import Box
from charts.figures.canvas import Canvas
from charts.figures.labels import Labels
from charts.figures.place import Place
from charts.sketch import Curve, Divider, Note, Panel, Shade, Shape

NAME, TICK, NOTE = 25.0, 23.0, 22.0
LINE, PALE_LINE = 4.0, 2.0
EDGE = 15.0
"""How far inside the panel a mark at its edge lies."""


def paint_panel(canvas: Canvas, panel: Panel, place: Place) -> None:
    """Draw the panel."""
    box = place.box
    _name(canvas, panel, box)
    _values(canvas, panel, place)
    for shade in panel.shades:
        _shade(canvas, shade, place)
    labels = Labels(canvas, box)
    for curve in panel.curves:
        _curve(canvas, panel, curve, place, labels)
    for divider in panel.dividers:
        _divider(canvas, divider, place)
    _flags(canvas, panel, place, labels)
    for divider in panel.dividers:
        x = place.column(divider.x)
        labels.at_line(x, divider.says, divider.ink, f"label:{divider.kind}", is_leftward=divider.is_leftward)
    if panel.words:
        middle = box.bottom + box.height / 2 - 9
        canvas.text(box.left + box.width / 2, middle, panel.words, NAME, anchor="center", gid="words")


def _name(canvas: Canvas, panel: Panel, box: Box) -> None:
    """Its name at the left, what is marked on it at the right."""
    y = box.top + 9
    canvas.text(box.left, y, panel.name, NAME, panel.ink, is_bold=True, gid=f"name:{panel.metric}")
    free = box.left + canvas.width_of(panel.name, NAME, is_bold=True) + 20
    right = box.right
    for note in reversed(panel.notes):
        right = _note(canvas, note, right, y, free)


def _note(canvas: Canvas, note: Note, right: float, y: float, free: float) -> float:
    width = canvas.width_of(note.says, NOTE)
    if right - width - 24 < free:
        return right
    canvas.text(right, y, note.says, NOTE, note.ink, anchor="right", gid="note")
    if note.shape is not None:
        canvas.mark(right - width - 15, y + 8, note.shape, note.ink, gid="note")
        width += 30
    return right - width - 22


def _values(canvas: Canvas, panel: Panel, place: Place) -> None:
    box = place.box
    above = -100.0
    for tick in panel.ticks:
        y = place.row(tick.at)
        if not box.bottom - 1 <= y <= box.top + 1:
            continue
        canvas.rule((box.left, y), (box.right, y), canvas.palette.grid, gid="grid")
        if y - above >= TICK + 2:
            canvas.text(box.left - 10, y - 8, tick.says, TICK, anchor="right", gid=f"value:{panel.metric}")
            above = y


def _shade(canvas: Canvas, shade: Shade, place: Place) -> None:
    left, right = place.column(shade.first), place.column(shade.last)
    box = Box(left, place.box.bottom, max(right, left + 3), place.box.top)
    canvas.area(box, canvas.colour(shade.ink), 0.2, gid=f"shade:{shade.kind}")


def _curve(canvas: Canvas, panel: Panel, curve: Curve, place: Place, labels: Labels) -> None:
    x, y = place.columns(curve.x), place.rows(curve.y)
    labels.avoid_curve(x, y)
    if curve.low is not None and curve.high is not None:
        canvas.band(x, place.rows(curve.low), place.rows(curve.high), curve.ink, place.box, gid=f"band:{panel.metric}")
    width, alpha = (PALE_LINE, 0.45) if curve.is_pale else (LINE, 1.0)
    gid = f"{'pale' if curve.is_pale else 'curve'}:{panel.metric}"
    canvas.line(x, y, curve.ink, width, place.box, is_dashed=curve.is_dashed, alpha=alpha, gid=gid)
    drawn = np.isfinite(y)
    if curve.has_dots and not curve.is_pale:
        canvas.marks(x[drawn], y[drawn], Shape.CIRCLE, curve.ink, size=0.7, gid=f"dots:{panel.metric}")


def _divider(canvas: Canvas, divider: Divider, place: Place) -> None:
    x = place.column(divider.x)
    canvas.rule(
        (x, place.box.bottom),
        (x, place.box.top),
        canvas.colour(divider.ink),
        2.5,
        is_dashed=divider.is_dashed,
        gid=f"divider:{divider.kind}",
    )


def _flags(canvas: Canvas, panel: Panel, place: Place, labels: Labels) -> None:
    box = place.box
    spots = []
    for flag in sorted(panel.flags, key=lambda flag: flag.weight):
        x = place.column(flag.x)
        y = min(max(place.row(flag.y), box.bottom + EDGE), box.top - EDGE)
        canvas.mark(x, y, flag.shape, flag.ink, gid=f"flag:{flag.kind}")
        labels.avoid(Box(x - 9, y - 9, x + 9, y + 9))
        spots.append((flag, x, y))
    for flag, x, y in reversed(spots):
        if flag.says:
            labels.beside(x, y, flag.says, flag.ink, f"label:{flag.kind}")
