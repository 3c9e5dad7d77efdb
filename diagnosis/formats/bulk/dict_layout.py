"""Flat dicts of numbers, read many at once whatever the widths of their numbers are.

Everything between two numbers must be the same byte by byte, so that one number's end tells where the next one begins.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.layout import Bytes, Group
from diagnosis.formats.bulk.ragged import ALL, BYTES, MOST_WORDS, WORD, Digits, Mask, Words, digits_of, ends_of, insides
from diagnosis.formats.shapes import Shape

Rows = NDArray[np.int64]

MARGIN = bytes(BYTES * (MOST_WORDS + 1))
"""So many bytes must stand behind the last line."""
MANY = 8
"""One in so many numbers is worth that all are read in as many words as it needs."""
_LONGER = range(BYTES, BYTES * MOST_WORDS, BYTES)
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_FIRST = np.uint64(0xFF)
TAIL = 4
"""Bytes of an exponent: `e-05`."""


class Lines(Protocol):
    """The lines of a piece of a log."""

    starts: Rows
    lengths: Rows

    def at(self, starts: Rows, size: int) -> Bytes:
        """So many bytes from each of these places on, one row each."""


class Column:
    """The numbers behind one key."""

    def __init__(self, read: tuple[str, float] | None, before: bytes, end: int) -> None:
        self.name = read[0] if read is not None else None
        """Our name; None for a number that nobody reads."""
        self._factor = read[1] if read is not None else 1.0
        self.before = before
        """What stands in front of each of them."""
        self._end = end
        """The byte behind each of them."""
        size = -(-len(before) // BYTES) * BYTES
        self._expected = np.frombuffer(before.ljust(size, b"\0"), WORD)
        self._compared = np.frombuffer((b"\xff" * len(before)).ljust(size, b"\0"), WORD)
        self._words = 1
        """So many words hold most of them."""
        self._are_odd = False
        """Most have a sign or an exponent."""

    def read(self, lines: Lines, begins: Rows) -> tuple[Floats, Rows, Mask]:
        """The number that begins at each place, where it ends, and which could be read."""
        words, good = self._words_at(lines, begins)
        if self._are_odd:
            values, sizes, are_read, odd = self._read_odd(lines, begins, words)
        else:
            ends = ends_of(words, self._end)
            digits = digits_of(words, ends.inside, ends.sizes)
            values, are_exact = self._values(digits, 0)
            sizes, are_read, odd = ends.sizes, ends.are_found & digits.are_plain & are_exact, 0
            left = np.flatnonzero(good & ~are_read)
            if len(left):
                longest = _words(lines, begins[left])
                values[left], sizes[left], are_read[left], odd = self._read_odd(lines, begins[left], longest)
        self._are_odd = 2 * odd > len(begins)
        longer = sum(MANY * int(np.count_nonzero(sizes >= size)) > len(begins) for size in _LONGER)
        self._words = MOST_WORDS if self._are_odd else 1 + longer
        return values, begins + sizes, good & are_read

    def _words_at(self, lines: Lines, begins: Rows) -> tuple[list[Words], Mask]:
        """The words that begin at those places, and where the right bytes stand in front of them."""
        count, lead, size = len(begins), len(self.before), len(self.before) + BYTES * self._words
        found = lines.at(begins - lead, size)
        words = np.ascontiguousarray(np.ndarray((self._words, count), WORD, found, lead, (BYTES, size)))
        good = np.ones(count, np.bool_)
        for place, (expected, compared) in enumerate(zip(self._expected, self._compared, strict=True)):
            word = np.ndarray(count, WORD, found, BYTES * place, size)
            good &= (word if compared == ALL else word & compared) == expected
        return list(words), good

    def _values(self, digits: Digits, power: Rows | int) -> tuple[Floats, Mask]:
        """The numbers, times ten to a power, and which of them are exact."""
        if self.name is None:
            return np.zeros(len(digits.are_plain)), np.ones(len(digits.are_plain), np.bool_)
        values, are_exact = digits.values(power)
        if self._factor != 1.0:
            values *= self._factor
        return values, are_exact

    def _read_odd(self, lines: Lines, begins: Rows, words: list[Words]) -> tuple[Floats, Rows, Mask, int]:
        """Any numbers: their values and sizes, which could be read, and how many have a sign or an exponent."""
        ends = ends_of(words, self._end)
        first = words[0] & _FIRST
        is_negative = first == ord("-")
        has_sign = is_negative | (first == ord("+"))
        power, has_power = _powers(lines.at(begins + ends.sizes - TAIL, TAIL).view("<u4")[:, 0])
        has_power = has_power & (ends.sizes > TAIL)
        sizes = ends.sizes - TAIL * has_power
        if has_sign.any():
            sizes -= has_sign
            words = _words(lines, begins + has_sign)
        digits = digits_of(words, insides(sizes), sizes)
        values, are_exact = self._values(digits, power if has_power.all() else np.where(has_power, power, 0))
        are_read = ends.are_found & digits.are_plain & are_exact
        np.negative(values, out=values, where=is_negative)
        for place in np.flatnonzero(~are_read & ends.are_found & (ends.sizes > 0)).tolist():
            token = lines.at(begins[place : place + 1], int(ends.sizes[place])).tobytes()
            if _NUMBER.fullmatch(token) is not None:
                values[place] = float(token) * self._factor
                are_read[place] = np.isfinite(values[place])
        return values, ends.sizes, are_read, int(np.count_nonzero(has_sign | has_power))


def _words(lines: Lines, begins: Rows) -> list[Words]:
    return list(np.ascontiguousarray(lines.at(begins, BYTES * MOST_WORDS).view(WORD).T))


def _powers(tails: NDArray[np.uint32]) -> tuple[Rows, Mask]:
    """The powers of ten in `e-05` and its like, and which of these bytes are that; once where all are the same."""
    if len(tails) and (tails == tails[0]).all():
        tails = tails[:1]
    tens, ones = (tails >> 16 & 0xFF).astype(np.int64) - ord("0"), (tails >> 24).astype(np.int64) - ord("0")
    sign = tails >> 8 & 0xFF
    is_down = sign == ord("-")
    are_powers = ((tails & 0xFF | 0x20) == ord("e")) & (is_down | (sign == ord("+")))
    are_powers &= (tens >= 0) & (tens <= 9) & (ones >= 0) & (ones <= 9)
    power = 10 * tens + ones
    return np.where(is_down, -power, power), are_powers


@dataclass(eq=False)
class DictLayout:
    """Lines like one dict: the same keys in the same order, with any numbers."""

    line: bytes
    text: str
    """The line without what was put in front of it, as its shape reads it."""
    shape: Shape
    group: Group
    columns: tuple[Column, ...]
    last: bytes
    """What stands behind the last number."""
    constants: Mapping[str, float]
    stamp: None = None
    no_loss: None = None

    @property
    def shortest(self) -> int:
        """No line of this kind has fewer bytes."""
        return sum(len(column.before) + 1 for column in self.columns) + len(self.last)

    def read(self, lines: Lines, rows: Rows) -> tuple[Rows, dict[str, Floats]]:
        """Which of some lines fit, and what they say."""
        told: dict[str, Floats] = {}
        places = lines.starts[rows]
        ends = places + lines.lengths[rows]
        for column in self.columns:
            begins = places + len(column.before)
            fits = begins < ends
            if not fits.all():
                rows, begins, ends = rows[fits], begins[fits], ends[fits]
                told = {name: known[fits] for name, known in told.items()}
            if not len(rows):
                return rows, {}
            values, places, fits = column.read(lines, begins)
            if column.name is not None:
                told[column.name] = values
            if not fits.all():
                rows, places, ends = rows[fits], places[fits], ends[fits]
                told = {name: known[fits] for name, known in told.items()}
        fits = places + len(self.last) == ends
        fits[fits] = _stands(lines, places[fits], self.last)
        if not fits.all():
            rows, told = rows[fits], {name: known[fits] for name, known in told.items()}
        return rows, told


def is_known(layouts: Iterable[object], raw: bytes, shape: Shape) -> bool:
    """True for a dict whose kind has its layout: a number in it is none that can be read exactly, and that is all."""
    return any(
        isinstance(one, DictLayout) and one.shape is shape and raw.startswith(one.columns[0].before) for one in layouts
    )


def _stands(lines: Lines, places: Rows, literal: bytes) -> NDArray[np.bool_]:
    """At which places these bytes stand."""
    if not literal or not len(places):
        return np.ones(len(places), np.bool_)
    # A literal has no NUL, so that comparing as strings compares each byte.
    found: NDArray[np.bool_] = lines.at(places, len(literal)).view(f"S{len(literal)}").ravel() == literal
    return found
