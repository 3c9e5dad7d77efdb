"""One picture being drawn, in pixels from its lower left corner: lines, marks, words, and its PNG.

Axes, ticks and layouts of matplotlib cost more than the curves do, so the few lines of a chart are placed directly on
the figure, and its words are written over them. Every artist and word carries a `gid` that says what it is.
"""

import io
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox, IdentityTransform, TransformedBbox
from PIL import Image

from charts.columns import Floats
from charts.figures.boxes import Box, Word
from charts.figures.lettering import width_of, write
from charts.look import Ink, Look, palette_of
from charts.names import shortened
from charts.sketch import Shape

WIDTH = 1000
DPI = 100
COLOURS = 64
"""Of the PNG's palette: a chart has few, and the file is a third of the size."""
CHUNK = 40
"""Points per piece of a curve: the rasteriser's cost grows faster than the number of points in one path."""

# A chart looks the same wherever it is drawn: whatever a matplotlibrc of the folder or the home says is undone.
mpl.rcdefaults()
mpl.rcParams["path.simplify"] = False

Anchor = Literal["left", "center", "right"]
_MARKERS: dict[Shape, tuple[Any, float]] = {
    Shape.CROSS: ("X", 24.0),
    Shape.DIAMOND: ("D", 15.0),
    Shape.TRIANGLE: ("^", 19.0),
    Shape.SQUARE: ("s", 15.0),
    Shape.CIRCLE: ("o", 17.0),
    Shape.ABOVE: (6, 20.0),
    Shape.BELOW: (7, 20.0),
}


def points(pixels: float) -> float:
    """Pixels as the typographic points matplotlib counts in."""
    return pixels * 72 / DPI


class Canvas:
    """A figure with the few things a chart is made of."""

    def __init__(self, look: Look, height: int, width: int = WIDTH) -> None:
        self.palette = palette_of(look)
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=self.palette.paper)
        self._canvas: Any = FigureCanvasAgg(self.figure)  # its methods carry no types
        self.words: list[Word] = []
        self._pixels = IdentityTransform()

    def colour(self, ink: Ink) -> str:
        """The ink's colour in this look."""
        return self.palette.inks[ink]

    def width_of(self, words: str, size: float, *, is_bold: bool = False) -> float:
        """How wide these words will be."""
        return width_of(words, size, is_bold=is_bold)

    def fitted(self, words: str, size: float, most: float, *, is_bold: bool = False) -> str:
        """The words, shortened until they fit into so many pixels."""
        while len(words) > 1 and (width := self.width_of(words, size, is_bold=is_bold)) > most:
            words = shortened(words, min(len(words) - 1, int(len(words) * most / width) + 1))
        return words

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        ink: Ink = Ink.TEXT,
        *,
        anchor: Anchor = "left",
        is_bold: bool = False,
        gid: str = "",
    ) -> None:
        """Words with their baseline at `y`."""
        width = width_of(words, size, is_bold=is_bold)
        left = x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[anchor]
        self.words.append(Word(words, left, y, width, size, ink, is_bold, gid))

    def line(
        self,
        x: Floats,
        y: Floats,
        ink: Ink,
        width: float,
        box: Box,
        *,
        is_dashed: bool = False,
        alpha: float = 1.0,
        gid: str = "",
    ) -> None:
        """A curve within the box; NaN is a gap."""
        if is_dashed or alpha < 1.0:  # pieces would show where they meet
            artist: Line2D | LineCollection = Line2D(
                x,
                y,
                color=self.colour(ink),
                linewidth=points(width),
                alpha=alpha,
                solid_capstyle="butt",
                solid_joinstyle="bevel",
                transform=self._pixels,
            )
            if is_dashed:
                artist.set_linestyle((0, (3.0, 1.6)))
        else:
            spots = np.column_stack((x, y))
            pieces = [spots[start : start + CHUNK + 1] for start in range(0, max(len(spots) - 1, 1), CHUNK)]
            artist = LineCollection(
                pieces,
                colors=self.colour(ink),
                linewidths=points(width),
                capstyle="round",
                joinstyle="round",
                transform=self._pixels,
            )
        self._add(artist, box, gid, zorder=3)

    def band(self, x: Floats, low: Floats, high: Floats, ink: Ink, box: Box, *, gid: str = "") -> None:
        """The area between two curves, at least two pixels high; NaN is a gap."""
        known = np.isfinite(low) & np.isfinite(high)
        thin_ones = (high - low) < 2
        low, high = np.where(thin_ones, low - 1, low), np.where(thin_ones, high + 1, high)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], known.view(np.int8), [0]))))
        pieces = []
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            for first in range(start, max(end - 1, start + 1), CHUNK):
                part = slice(first, min(first + CHUNK + 1, end))
                upper = np.column_stack((x[part], high[part]))
                lower = np.column_stack((x[part], low[part]))[::-1]
                pieces.append(np.concatenate((upper, lower)))
        artist = PolyCollection(
            pieces, facecolors=self.colour(ink), edgecolors="none", linewidths=0, alpha=0.35, transform=self._pixels
        )
        self._add(artist, box, gid, zorder=2)

    def rule(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        colour: str,
        width: float = 1.5,
        *,
        is_dashed: bool = False,
        gid: str = "",
    ) -> None:
        """A straight line."""
        artist = Line2D(
            (start[0], end[0]), (start[1], end[1]), color=colour, linewidth=points(width), transform=self._pixels
        )
        if is_dashed:
            artist.set_linestyle((0, (4.0, 2.5)))
        self._add(artist, None, gid, zorder=1)

    def area(self, box: Box, colour: str, alpha: float = 1.0, *, zorder: float = 0.5, gid: str = "") -> None:
        """A filled rectangle."""
        artist = Rectangle(
            (box.left, box.bottom),
            box.width,
            box.height,
            facecolor=colour,
            edgecolor="none",
            alpha=alpha,
            transform=self._pixels,
        )
        self._add(artist, None, gid, zorder=zorder)

    def mark(self, x: float, y: float, shape: Shape, ink: Ink, *, size: float = 1.0, gid: str = "") -> None:
        """A mark with a rim of paper, so that it stands off its curve."""
        self.marks(np.array([x]), np.array([y]), shape, ink, size=size, gid=gid)

    def marks(self, x: Floats, y: Floats, shape: Shape, ink: Ink, *, size: float = 1.0, gid: str = "") -> None:
        """Several marks of one kind."""
        marker, pixels = _MARKERS[shape]
        artist = Line2D(
            x,
            y,
            linestyle="none",
            marker=marker,
            markersize=points(pixels * size),
            markerfacecolor=self.colour(ink),
            markeredgecolor=self.palette.paper,
            markeredgewidth=points(2.0),
            transform=self._pixels,
        )
        self._add(artist, None, gid, zorder=5)

    def _add(
        self, artist: Line2D | LineCollection | PolyCollection | Rectangle, box: Box | None, gid: str, zorder: float
    ) -> None:
        artist.set_zorder(zorder)
        artist.set_gid(gid)
        self.figure.add_artist(artist)
        if box is not None:
            artist.set_clip_box(
                TransformedBbox(Bbox.from_extents(box.left, box.bottom, box.right, box.top), self._pixels)
            )

    def png(self) -> bytes:
        """The picture as a PNG with a small palette."""
        self._canvas.draw()
        image = Image.fromarray(np.ascontiguousarray(np.asarray(self._canvas.buffer_rgba())[:, :, :3]))
        for word in self.words:
            write(image, word, self.colour(word.ink))
        image = image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
        _set_exactly(image, self.palette.paper)
        out = io.BytesIO()
        image.save(out, "PNG", compress_level=6)
        return out.getvalue()


def _set_exactly(image: Image.Image, paper: str) -> None:
    """The palette rounds colours; the paper must be Slack's own, or the picture shows as a box."""
    colours, index = image.getpalette() or [], 3 * int(np.asarray(image)[0, 0])
    colours[index : index + 3] = bytes.fromhex(paper.removeprefix("#"))
    image.putpalette(colours)
