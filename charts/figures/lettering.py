"""Words on a picture, written by Pillow: matplotlib takes as long for twenty labels as for everything else.

Formulas do not exist here, so `$x$` is what was typed; a letter that no font of the machine has is a box.
"""

from functools import lru_cache
from itertools import groupby

from matplotlib import font_manager
from matplotlib.font_manager import FontProperties
from PIL import Image, ImageDraw, ImageFont, features

from charts.figures.boxes import Word
from charts.figures.glyphs import drawable, face_of, families


@lru_cache(maxsize=256)
def _font(face: int, size: float, *, is_bold: bool, is_shaped: bool) -> ImageFont.FreeTypeFont:
    weight = "bold" if is_bold else "normal"
    path = font_manager.findfont(FontProperties(family=[families()[face]], weight=weight))
    engine = ImageFont.Layout.RAQM if is_shaped else ImageFont.Layout.BASIC
    return ImageFont.truetype(path, size, layout_engine=engine)


@lru_cache(maxsize=1)
def _can_shape() -> bool:
    """Whether Arabic letters are joined and Hebrew runs from right to left here."""
    return bool(features.check("raqm"))


def _runs(words: str, size: float, *, is_bold: bool) -> list[tuple[str, ImageFont.FreeTypeFont]]:
    """The words in pieces that one font can write."""
    words = drawable(words)
    is_shaped = not words.isascii() and _can_shape()
    return [
        ("".join(letters), _font(face, size, is_bold=is_bold, is_shaped=is_shaped))
        for face, letters in groupby(words, key=face_of)
    ]


@lru_cache(maxsize=4096)
def width_of(words: str, size: float, *, is_bold: bool = False) -> float:
    """How many pixels wide the words will be."""
    return float(sum(font.getlength(part) for part, font in _runs(words, size, is_bold=is_bold)))


def write(image: Image.Image, word: Word, colour: str) -> None:
    """Write the words on the picture."""
    pen = ImageDraw.Draw(image)
    left, baseline = word.left, image.height - word.baseline
    for part, font in _runs(word.words, word.size, is_bold=word.is_bold):
        pen.text((left, baseline), part, fill=colour, font=font, anchor="ls")
        left += font.getlength(part)
