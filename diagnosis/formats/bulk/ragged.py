"""Numbers of any width, many at once: each as exact as `float(token)`.

A number that nobody rounded has another width on nearly each line, so eight of its bytes are taken as one whole
number: where it ends, where its point is and what its digits make is found by a few operations for all numbers at
once, whatever their widths are. The first byte of a word is its lowest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.decimal import MOST_POWER, POWERS, Floats, quotient

Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]

WORD = np.dtype("<u8")
BYTES = 8
MOST_WORDS = 3
"""Python prints no float that is longer."""
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _BYTE, _TO_LAST = np.uint64(1), np.uint64(8), np.uint64(56)
_FIRST = np.uint64(0xFF)
_ONES = np.uint64(0x0101010101010101)
_HIGHEST = np.uint64(0x8080808080808080)
_ABOVE_NINE = np.uint64(0x7676767676767676)
"""Brings a byte above 9 to its highest bit."""
_ZEROS = np.uint64(0x3030303030303030)
_POINT = ord(".") ^ ord("0")
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)
_TWO_BYTES, _HALF = np.uint64(16), np.uint64(32)
_EVERY_SECOND, _EVERY_FOURTH = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_JOIN_ONE, _JOIN_TWO, _JOIN_FOUR = np.uint64((10 << 8) + 1), np.uint64((100 << 16) + 1), np.uint64((10000 << 32) + 1)
_INSIDES = [
    np.array([(1 << 8 * min(max(size - start, 0), BYTES)) - 1 for size in range(BYTES * MOST_WORDS)], np.uint64)
    for start in range(0, BYTES * MOST_WORDS, BYTES)
]


@dataclass(frozen=True, slots=True)
class Ends:
    """Where tokens end that begin with some words."""

    inside: Sequence[Words]
    """All bits of the bytes in front of the end."""
    sizes: Whole
    are_found: Mask


@dataclass(frozen=True, slots=True)
class Digits:
    """Tokens of digits, with a point among them or without."""

    words: Sequence[Words]
    """The digits one after the other, behind a zero that takes the place of the point; zeros follow."""
    points: Whole | int
    """How many digits stand in front of the point; one number where they are as many in each token."""
    are_plain: Mask
    """Which tokens are nothing but that."""

    def values(self, power: Whole | int = 0) -> tuple[Floats, Mask]:
        """The numbers, times ten to a power, and which of them are exact."""
        down = BYTES * min(len(self.words), MOST_WORDS - 1) - 1 - power - self.points
        exact = np.asarray((down >= 0) & (down <= MOST_POWER))
        down = np.asarray(down if exact.all() else np.where(exact, down, 0))
        values = _number(self.words[0])
        if len(self.words) > 1:
            values *= 1e8
            values += _number(self.words[1])
        if len(self.words) < MOST_WORDS:
            values /= POWERS[down]
            return values, np.broadcast_to(exact, values.shape)
        low = _number(self.words[2])
        low *= 1e-8
        values, are_right = quotient(values, low, down)
        return values, exact & are_right


def ends_of(words: Sequence[Words], end: int) -> Ends:
    """The bytes in front of the first one that is `end`."""
    ends = np.uint64(end * int(_ONES))
    inside: list[Words] = []
    for word in words:
        before = _below_zero(word ^ ends)
        if inside:
            before &= _all_where_full(inside[-1])
        inside.append(before)
    return Ends(inside, _bytes(inside), inside[-1] != ALL)


def insides(sizes: Whole) -> list[Words]:
    """All bits of the first so many bytes."""
    return [inside.take(sizes, mode="clip") for inside in _INSIDES]


def digits_of(words: Sequence[Words], inside: Sequence[Words], sizes: Whole) -> Digits:
    """Those tokens as digits."""
    words = [(word ^ _ZEROS) & mask for word, mask in zip(words, inside, strict=True)]
    before, points = _in_front_of_point(words, inside)
    made, bad = [], np.zeros_like(words[0])
    for place, word in enumerate(words):
        digits = word
        if place < len(before):
            # What stands in front of the point moves up by a byte, and so over the point.
            covered = (before[place] << _BYTE) | (before[place - 1] >> _TO_LAST if place else _FIRST)
            digits = (word & before[place]) << _BYTE
            digits |= word & ~covered
            if place:
                digits |= (words[place - 1] & before[place - 1]) >> _TO_LAST
        above = digits + _ABOVE_NINE
        above |= digits
        bad |= above
        made.append(digits)
    bad &= _HIGHEST
    are_plain = bad == 0
    are_plain &= points > 0
    are_plain &= sizes != points + 1
    return Digits(made, points, are_plain)


def _in_front_of_point(
    words: Sequence[Words], inside: Sequence[Words]
) -> tuple[Sequence[Words | np.uint64], Whole | int]:
    """All bits of the bytes in front of the first point, for as many words as have such bytes; how many bytes."""
    place = int(words[0][0]).to_bytes(BYTES, "little").find(_POINT)
    if place > 0 and ((words[0] & (_FIRST << np.uint64(8 * place))) == np.uint64(_POINT << 8 * place)).all():
        return [np.uint64((1 << 8 * place) - 1)], place
    before = [_below_zero(words[0] ^ _POINTS)]
    for word in words[1:]:
        goes_on = _all_where_full(before[-1])
        if not goes_on.any():
            break
        before.append(_below_zero(word ^ _POINTS) & goes_on)
    return before, _bytes([front & mask for front, mask in zip(before, inside, strict=False)])


def _below_zero(words: Words) -> Words:
    """All bits of the bytes below the lowest byte that is zero; of all bytes where none is."""
    flags = (words - _ONES) & ~words & _HIGHEST
    flags &= -flags
    flags >>= np.uint64(7)
    flags -= _ONE
    return flags


def _all_where_full(masks: Words) -> Words:
    """All bits where a mask reaches its word's end, else none."""
    return -(masks >> np.uint64(63))


def _bytes(masks: Sequence[Words]) -> Whole:
    """How many bytes are marked."""
    marks = [mask & _ONES for mask in masks]
    for mark in marks[1:]:
        marks[0] += mark
    marks[0] *= _ONES
    marks[0] >>= _TO_LAST
    return marks[0].view(np.int64)


def _number(digits: Words) -> Floats:
    """What eight digits make: neighbours are joined, and their pairs, and their fours."""
    value = digits * _JOIN_ONE
    value >>= _BYTE
    value &= _EVERY_SECOND
    value *= _JOIN_TWO
    value >>= _TWO_BYTES
    value &= _EVERY_FOURTH
    value *= _JOIN_FOUR
    value >>= _HALF
    return value.astype(np.float64)
