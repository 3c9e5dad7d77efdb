"""Numbers of fixed shape, many at once: digits in, floats out, each as exact as `float(token)`.

A mantissa below 2⁵³ and a power of ten up to 10²² are exact in a float, so that one division or
multiplication rounds once, as a correct reader of decimals does. What is larger is refused.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Digits = NDArray[np.uint8]
"""One row for each digit that is read, one column for each line; values 0 to 9."""

MOST_DIGITS = 15
MOST_POWER = 22
_POWERS = 10.0 ** np.arange(MOST_POWER + 1)
_SUFFIXES = {b"K": 1e3, b"k": 1e3, b"M": 1e6, b"G": 1e9, b"B": 1e9, b"T": 1e12, b"P": 1e15}
_NUMBER = re.compile(
    rb"(?P<sign>[-+]?)(?P<whole>\d[\d,]*|)(?:\.(?P<part>\d*))?(?:[eE](?P<way>[-+]?)(?P<power>\d{1,3}))?(?P<suffix>[KkMGBTP]?)"
)


@dataclass(frozen=True, slots=True)
class Number:
    """How one number is printed: where its digits stand among those that are read."""

    mantissa: tuple[int, ...]
    power: tuple[int, ...]
    scale: int
    """Digits behind the point."""
    power_sign: int
    is_negative: bool
    suffix: float
    factor: float

    def read(self, digits: Digits) -> tuple[Floats, NDArray[np.bool_] | None]:
        """The values, and which of them are not exact (None: all are)."""
        values = whole(digits, self.mantissa).astype(np.float64)
        refused = None
        if self.power:
            down = self.scale - self.power_sign * whole(digits, self.power)
            if len(down) and (int(down.min()) < -MOST_POWER or int(down.max()) > MOST_POWER):
                refused = np.abs(down) > MOST_POWER
                down = np.where(refused, 0, down)
            if not len(down) or int(down.min()) >= 0:
                values /= _POWERS[down]
            else:
                values = np.where(
                    down >= 0, values / _POWERS[np.maximum(down, 0)], values * _POWERS[np.maximum(-down, 0)]
                )
        elif self.scale:
            values /= _POWERS[self.scale]
        if self.is_negative:
            values = -values
        if self.suffix != 1.0:
            values *= self.suffix
        if self.factor != 1.0:
            values *= self.factor
        return values, refused


def whole(digits: Digits, places: tuple[int, ...]) -> NDArray[np.int64]:
    """The whole number that these digits make."""
    value: NDArray[np.int64] = digits[places[0]].astype(np.int64)
    for place in places[1:]:
        value *= 10
        value += digits[place]
    return value


def number_at(token: bytes, start: int, factor: float, picked: dict[int, int]) -> Number | None:
    """The number that stands at `start` of a line; its digits are added to `picked` (place in line → row).

    None when it has no plain shape, or more digits than a float holds exactly.
    """
    match = _NUMBER.fullmatch(token)
    if match is None:
        return None
    places = [place for name in ("whole", "part") for place in _digits(match, name)]
    power = _digits(match, "power")
    part = match["part"] or b""
    if not places or len(places) > MOST_DIGITS or len(part) > MOST_POWER:
        return None
    rows = [picked.setdefault(start + place, len(picked)) for place in (*places, *power)]
    return Number(
        tuple(rows[: len(places)]),
        tuple(rows[len(places) :]),
        len(part),
        -1 if match["way"] == b"-" else 1,
        match["sign"] == b"-",
        _SUFFIXES.get(match["suffix"], 1.0),
        factor,
    )


def _digits(match: "re.Match[bytes]", name: str) -> list[int]:
    if match[name] is None:
        return []
    return [place for place in range(*match.span(name)) if match.string[place : place + 1].isdigit()]
