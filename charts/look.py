"""Light and dark: one palette each, after Okabe and Ito, so that colour-blind people tell the lines apart."""

from dataclasses import dataclass
from enum import StrEnum


class Look(StrEnum):
    """Which Slack the picture will lie in."""

    LIGHT = "light"
    DARK = "dark"


class Ink(StrEnum):
    """What a colour stands for; the palette says which colour that is."""

    TEXT = "text"
    FAINT = "faint"
    LOSS = "loss"
    GRAD_NORM = "grad_norm"
    LR = "lr"
    OTHER = "other"
    BAD = "bad"
    GOOD = "good"
    SPIKE = "spike"
    JUMP = "jump"


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one look."""

    paper: str
    grid: str
    inks: dict[Ink, str]


# Papers are Slack's own backgrounds, so that a picture has no frame in the look it was drawn for.
_LIGHT = Palette(
    paper="#ffffff",
    grid="#e3e3e3",
    inks={
        Ink.TEXT: "#1d1c1d",
        Ink.FAINT: "#6a6a6b",
        Ink.LOSS: "#0072b2",
        Ink.GRAD_NORM: "#007a59",
        Ink.LR: "#8a5a00",
        Ink.OTHER: "#c56a00",
        Ink.BAD: "#d5300a",
        Ink.GOOD: "#007a59",
        Ink.SPIKE: "#d17a00",
        Ink.JUMP: "#a3487c",
    },
)
_DARK = Palette(
    paper="#1a1d21",
    grid="#383b40",
    inks={
        Ink.TEXT: "#e8e8e8",
        Ink.FAINT: "#a5a7aa",
        Ink.LOSS: "#56b4e9",
        Ink.GRAD_NORM: "#2cc49a",
        Ink.LR: "#e8c15a",
        Ink.OTHER: "#f0a030",
        Ink.BAD: "#ff7043",
        Ink.GOOD: "#2cc49a",
        Ink.SPIKE: "#f0a030",
        Ink.JUMP: "#e29ac4",
    },
)


def palette_of(look: Look) -> Palette:
    """The colours to draw with in this look."""
    return _DARK if look is Look.DARK else _LIGHT
