"""A sketch drawn: title, panels one below the other over one step axis, and what time it was."""

from collections.abc import Sequence

from charts.figures.boxes import Box
from charts.figures.canvas import WIDTH, Canvas
from charts.figures.panels import paint_panel
from charts.figures.place import Place
from charts.look import Ink
from charts.sketch import Axis, Overview, Panel, Sketch

HEIGHT = 800
LEFT, RIGHT = 118.0, 28.0
EDGE = 26.0
TITLE, FACTS, TICK, CLOCK, BADGE = 36.0, 26.0, 24.0, 22.0, 24.0
HEAD = 112.0
"""Height of title and facts."""
OVERVIEW = 62.0
"""Height of the small picture of the whole run."""
LEAST_FACTS = 2
"""Step and loss stay when the line is short of room."""
NAME_ROW = 38.0
"""Height of the row that names a panel."""


def build_figure(sketch: Sketch) -> Canvas:
    """The sketch as a figure, not yet rendered."""
    canvas = Canvas(sketch.look, HEIGHT)
    head(canvas, sketch.title, sketch.facts, sketch.remarks, sketch.badge)
    foot = 48.0 + (30.0 if sketch.axis.has_clock else 0.0)
    if sketch.overview is not None:
        _overview(canvas, sketch.overview)
        foot += OVERVIEW + NAME_ROW + 8
    boxes = _boxes(sketch.panels, HEIGHT - HEAD, foot)
    places = [Place.of(panel, sketch.axis, box) for panel, box in zip(sketch.panels, boxes, strict=True)]
    for panel, place in zip(sketch.panels, places, strict=True):
        _ground(canvas, sketch.axis, place)
        paint_panel(canvas, panel, place)
    _step_axis(canvas, sketch.axis, places[-1])
    return canvas


def head(canvas: Canvas, title: str, facts: Sequence[str], remarks: Sequence[str] = (), badge: str = "") -> None:
    """Title, the facts below it, and a badge at the right where there is one."""
    right, top = canvas.width - EDGE, canvas.height
    if badge:
        width = canvas.width_of(badge, BADGE, is_bold=True)
        canvas.area(Box(right - width - 24, top - 62, right, top - 18), canvas.colour(Ink.SPIKE), 0.25)
        canvas.text(right - 12, top - 48, badge, BADGE, anchor="right", is_bold=True, gid="badge")
        right -= width + 40
    words = canvas.fitted(title, TITLE, right - EDGE, is_bold=True)
    canvas.text(EDGE, top - 52, words, TITLE, is_bold=True, gid="title")
    words = _line_of(canvas, list(facts), list(remarks), canvas.width - 2 * EDGE)
    canvas.text(EDGE, top - 94, words, FACTS, Ink.FAINT, gid="facts")


def _line_of(canvas: Canvas, facts: list[str], remarks: list[str], most: float) -> str:
    """Facts and remarks on one line; whole ones go until the rest fits: lesser facts first, then remarks."""
    while canvas.width_of(" · ".join([*facts, *remarks]), FACTS) > most and len(facts) + len(remarks) > 1:
        (facts if len(facts) > LEAST_FACTS or not remarks else remarks).pop()
    return canvas.fitted(" · ".join([*facts, *remarks]), FACTS, most)


def _boxes(panels: tuple[Panel, ...], top: float, bottom: float) -> list[Box]:
    """Where each panel's curve goes, below the row with its name."""
    shares = sum(panel.share for panel in panels)
    room = top - bottom - NAME_ROW * len(panels)
    boxes = []
    for panel in panels:
        top -= NAME_ROW
        height = room * panel.share / shares
        boxes.append(Box(LEFT, top - height, WIDTH - RIGHT, top))
        top -= height
    return boxes


def _ground(canvas: Canvas, axis: Axis, place: Place) -> None:
    box = place.box
    canvas.area(box, canvas.palette.grid, 0.25, zorder=0.1)
    for tick in axis.ticks:
        x = place.column(tick.at)
        canvas.rule((x, box.bottom), (x, box.top), canvas.palette.grid, gid="grid")


def _step_axis(canvas: Canvas, axis: Axis, place: Place) -> None:
    """Steps below the lowest panel, the clock below the steps."""
    y = place.box.bottom - 34
    _row(canvas, [(place.column(tick.at), tick.step) for tick in axis.ticks], y, axis.name, size=TICK, ink=Ink.TEXT)
    if axis.has_clock:
        labels = [(place.column(tick.at), tick.clock) for tick in axis.ticks]
        _row(canvas, labels, y - 30, "time", size=CLOCK, ink=Ink.FAINT)


def _overview(canvas: Canvas, overview: Overview) -> None:
    """The whole run along the lower edge, with the part shown above it lit."""
    box = Box(LEFT, 14, WIDTH - RIGHT, 14 + OVERVIEW)
    place = Place.of(overview.panel, overview.axis, box)
    canvas.area(box, canvas.palette.grid, 0.25, zorder=0.1)
    left, right = place.column(overview.first), place.column(overview.last)
    if right - left < 8:
        middle = (left + right) / 2
        left, right = middle - 4, middle + 4
    canvas.area(Box(left, box.bottom, right, box.top), canvas.colour(Ink.TEXT), 0.22, gid="window")
    paint_panel(canvas, overview.panel, place)


def _row(canvas: Canvas, labels: list[tuple[float, str]], y: float, name: str, *, size: float, ink: Ink) -> None:
    """One row of tick labels: inside the picture, and none over its neighbour."""
    canvas.text(EDGE, y, name, size, Ink.FAINT, gid=f"axis:{name}")
    taken = EDGE + canvas.width_of(name, size) + 12
    for x, words in labels:
        width = canvas.width_of(words, size)
        left = min(max(x - width / 2, taken), canvas.width - 8 - width)
        if not words or left < taken or abs(left + width / 2 - x) > max(width / 2, 40):
            continue
        canvas.text(left, y, words, size, ink, gid=f"tick:{name}")
        taken = left + width + 14
