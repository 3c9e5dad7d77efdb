"""The door to matplotlib: it opens when the first picture is drawn, in whichever process draws it."""

from typing import TYPE_CHECKING

from charts.sketch import Sketch

if TYPE_CHECKING:
    from charts.gpus import GpuSketch


def paint(sketch: Sketch) -> bytes:
    """The sketch as a PNG."""
    from charts.figures.sheet import build_figure  # noqa: PLC0415 - matplotlib stays out of the bot's start

    return build_figure(sketch).png()


def paint_gpus(sketch: "GpuSketch") -> bytes:
    """The rows of GPUs as a PNG."""
    from charts.figures.gpu_rows import build_figure  # noqa: PLC0415 - the same

    return build_figure(sketch).png()
