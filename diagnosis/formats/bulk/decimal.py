"""Numbers of fixed shape, many at once: digits in, floats out, each as exact as `float(token)`.

A mantissa below 2⁵³ and a power of ten up to 10²² are exact in a float, so that one division or
multiplication rounds once, as a correct reader of decimals does. Up to 18 digits, as Python prints a float that
nobody rounded, are divided with the rest of the division: that is right unless the result lies, as far as the rest
can tell, exactly between two floats. What is larger, or lies there, is refused.
"""

import re
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Digits = NDArray[np.uint8]
"""One row for each digit that is read, one column for each line; values 0 to 9."""

EXACT_DIGITS = 15
MOST_DIGITS = 18
MOST_POWER = 22
POWERS = 10.0 ** np.arange(MOST_POWER + 1)
_HALVES = 2.0**27 + 1
"""What parts a float into two of half its length, whose products are exact (Dekker)."""
_INVERSES = 1 / POWERS
_UPPER = POWERS * _HALVES - (POWERS * _HALVES - POWERS)
_LOWER = POWERS - _UPPER
_SLACK = 2.0**-70
"""More than all roundings of a rest make, measured by the number whose rest it is."""
_FEWEST = 2.0**24
"""A smaller number is not long enough for that."""
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
        mantissa = whole(digits, self.mantissa)
        if len(self.mantissa) > EXACT_DIGITS:
            return self._read_long(mantissa, digits)
        values = mantissa.astype(np.float64)
        refused = None
        if self.power:
            down = self.scale - self.power_sign * whole(digits, self.power)
            if len(down) and (int(down.min()) < -MOST_POWER or int(down.max()) > MOST_POWER):
                refused = np.abs(down) > MOST_POWER
                down = np.where(refused, 0, down)
            if not len(down) or int(down.min()) >= 0:
                values /= POWERS[down]
            else:
                values = np.where(
                    down >= 0, values / POWERS[np.maximum(down, 0)], values * POWERS[np.maximum(-down, 0)]
                )
        elif self.scale:
            values /= POWERS[self.scale]
        return self._finished(values), refused

    def _read_long(self, mantissa: NDArray[np.int64], digits: Digits) -> tuple[Floats, NDArray[np.bool_]]:
        down = self.scale - self.power_sign * whole(digits, self.power) if self.power else np.int64(self.scale)
        possible = np.broadcast_to((down >= 0) & (down <= MOST_POWER), mantissa.shape)
        high = mantissa.astype(np.float64)
        low = (mantissa - high.astype(np.int64)).astype(np.float64)
        values, is_right = quotient(high, low, np.clip(down, 0, MOST_POWER))
        return self._finished(values), ~(possible & is_right)

    def _finished(self, values: Floats) -> Floats:
        if self.is_negative:
            values = -values
        if self.suffix != 1.0:
            values *= self.suffix
        if self.factor != 1.0:
            values *= self.factor
        return values


def quotient(high: Floats, low: Floats, down: NDArray[np.int64] | np.int64) -> tuple[Floats, NDArray[np.bool_]]:
    """(high + low) / 10 ** down, and where that is surely the float next to it.

    `low` is at most a few times what a rounding of `high` makes, or less than 1.
    """
    power, upper_power, lower_power = POWERS[down], _UPPER[down], _LOWER[down]
    first = high / power
    parted = first * _HALVES
    upper = parted - (parted - first)
    lower = first - upper
    back = first * power
    lost = upper * upper_power
    lost -= back
    lost += upper * lower_power
    lost += lower * upper_power
    lost += lower * lower_power
    rest = high - back
    rest -= lost
    rest += low
    rest *= _INVERSES[down]
    slack = first * _SLACK
    values = first + (rest + slack)
    rest -= slack
    are_right = values == first + rest
    if len(high) and float(high.min()) < _FEWEST:
        are_right &= (high >= _FEWEST) | (low == 0.0)
    return values, are_right


def whole(digits: Digits, places: tuple[int, ...]) -> NDArray[np.int64]:
    """The whole number that these digits make, at most 18 of them.

    Neighbours are joined to numbers of two digits, of four, of eight: most of the work is done on few bytes.
    """
    rows: NDArray[Any] = digits.take(places, axis=0)
    base = 10
    for kind in (np.uint8, np.uint16, np.uint32, np.int64, np.int64):
        odd = len(rows) % 2
        if len(rows) == 1:
            break
        joined = np.multiply(rows[odd::2], base, dtype=kind)
        joined += rows[odd + 1 :: 2]
        rows, base = np.concatenate((rows[:1].astype(kind), joined)) if odd else joined, base * base
    value: NDArray[np.int64] = rows[0].astype(np.int64)
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
    if len(places) > EXACT_DIGITS:  # its zeros in front are held as they are
        places = list(dropwhile(lambda place: token[place : place + 1] == b"0", places))
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
