"""Parts of a picture, in pixels from its lower left corner."""

from dataclasses import dataclass

from charts.look import Ink


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the picture, in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """Pixels across."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Pixels up."""
        return self.top - self.bottom

    def overlaps(self, other: "Box") -> bool:
        """Whether the two share a pixel."""
        return (
            self.left < other.right and other.left < self.right and self.bottom < other.top and other.bottom < self.top
        )


@dataclass(frozen=True, slots=True)
class Word:
    """Words that were placed, with the box they fill."""

    words: str
    left: float
    baseline: float
    width: float
    size: float
    ink: Ink
    is_bold: bool
    gid: str

    @property
    def box(self) -> Box:
        """What they cover, from the feet of `g` to the top of `l`."""
        return Box(
            self.left, self.baseline - 0.24 * self.size, self.left + self.width, self.baseline + 0.76 * self.size
        )
