"""Series in, PNG bytes out; the only user of matplotlib and pandas, neither of which importing this folder loads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from charts.drawing import paint, paint_gpus
from charts.gpus import draw_gpus, sketch_gpus
from charts.incident import draw_incident, sketch_incident
from charts.look import Look
from charts.loss import draw_loss, sketch_loss

__all__ = ["CHARTS", "Chart", "Look", "draw_gpus", "draw_incident", "draw_loss"]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture in two halves: what it shows, worked out where the data is, and its drawing, anywhere."""

    draw: Callable[..., bytes]
    """Both halves at once."""
    sketch: Callable[..., Any]
    """What is shown; takes what `draw` takes and is small whatever the length of the run."""
    paint: Callable[[Any], bytes]


CHARTS = (
    Chart(draw_loss, sketch_loss, paint),
    Chart(draw_incident, sketch_incident, paint),
    Chart(draw_gpus, sketch_gpus, paint_gpus),
)
"""Every chart; the painter knows their halves from here."""
