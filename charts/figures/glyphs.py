"""Which letters the fonts of this machine can draw."""

from functools import lru_cache

from matplotlib import font_manager
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font

# DejaVu Sans comes with matplotlib and knows Latin, Greek, Cyrillic, Arabic, Hebrew and signs; the others are
# used for Chinese, Japanese, Korean and Indic names where the machine has them.
FIRST = "DejaVu Sans"
FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
)
MISSING = "□"


@lru_cache(maxsize=1)
def families() -> tuple[str, ...]:
    """The font families to draw with, best first."""
    here = {font.name for font in font_manager.fontManager.ttflist}
    return (FIRST, *(name for name in FALLBACKS if name in here))


@lru_cache(maxsize=1)
def _faces() -> tuple[FT2Font, ...]:
    paths = [font_manager.findfont(FontProperties(family=[name])) for name in families()]
    return tuple(font_manager.get_font(path) for path in paths)


@lru_cache(maxsize=4096)
def face_of(letter: str) -> int:
    """The place in `families` of the first font that has this letter; the first one draws what nobody has."""
    code = ord(letter)
    return next((place for place, face in enumerate(_faces()) if face.get_char_index(code)), 0)


@lru_cache(maxsize=4096)
def _has(letter: str) -> bool:
    return letter == " " or any(face.get_char_index(ord(letter)) for face in _faces())


def drawable(text: str) -> str:
    """The same text with a box for every letter that no font here has."""
    return text if text.isascii() else "".join(letter if _has(letter) else MISSING for letter in text)
