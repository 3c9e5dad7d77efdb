"""Flat dicts of numbers, read many at once whatever the widths of their numbers are.

A number that nobody rounded has another width on nearly each line, and four of them have a thousand combinations. So
a line is cut at its commas, everything between two numbers must be the same byte by byte, and the numbers of one key
are sorted by how they are printed: these are few.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.decimal import Floats, Number, number_at
from diagnosis.formats.bulk.layout import ZERO, Bytes, Group
from diagnosis.formats.shapes import Shape

Rows = NDArray[np.int64]

LONGEST_NUMBER = 32
MOST_FORMS = 64
"""Ways in which the numbers of one key are printed."""
TRIED_AT_ONCE = 12
POOR = 4
"""A way that was found on fewer lines than this was not worth its making."""
COMMA = ord(",")
_NUMBER = re.compile(rb"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")


class Lines(Protocol):
    """The lines of a piece of a log."""

    starts: Rows
    lengths: Rows

    @property
    def commas(self) -> Rows:
        """Where commas stand in the piece, and one behind its end."""

    def at(self, starts: Rows, size: int) -> Bytes:
        """So many bytes from each of these places on, one row each."""


class Form:
    """One way in which a number is printed: its bytes with a gap for each digit."""

    def __init__(self, token: bytes, number: Number, picked: Sequence[int]) -> None:
        template, limits = np.frombuffer(token, np.uint8).copy(), np.zeros(len(token), np.uint8)
        template[list(picked)], limits[list(picked)] = ZERO, 9
        # One row for each byte: comparing along the lines is several times faster than along a token.
        self._template, self._limits = template[:, None], limits[:, None]
        self._picked = np.array(picked, np.intp)
        self._number = number

    def fits(self, tokens: Bytes) -> tuple[NDArray[np.bool_], Bytes]:
        """Which tokens differ from this one by their digits alone, and how far each byte is above a 0 in its place."""
        above = np.subtract(tokens.T, self._template, order="C")
        fits: NDArray[np.bool_] = np.all(above <= self._limits, axis=0)
        return fits, above

    def read(self, above: Bytes) -> tuple[Floats, NDArray[np.bool_] | None]:
        """The values of tokens that fit, and which are not exact (None: all are)."""
        return self._number.read(above[self._picked])


class Column:
    """The numbers behind one key."""

    def __init__(self, name: str | None, factor: float) -> None:
        self.name = name
        """Our name; None for a number that nobody reads."""
        self._factor = factor
        self._forms: dict[int, list[Form]] = {}
        self._count = 0

    def read(self, lines: Lines, starts: Rows, sizes: Rows) -> tuple[Floats, NDArray[np.bool_]]:
        """The number at each place, and which of them could be read."""
        values, good = np.empty(len(starts)), np.zeros(len(starts), np.bool_)
        tries = TRIED_AT_ONCE
        for size, all_of_size in _by_size(sizes):
            places, tokens = all_of_size, lines.at(starts[all_of_size], size)
            forms, number = self._forms.setdefault(size, []), 0
            while len(places):
                is_new = number == len(forms)
                if is_new:
                    made = self._form(tokens[0].tobytes()) if tries else None
                    if made is None:
                        break
                    forms.append(made)
                    tries -= 1
                fits, above = forms[number].fits(tokens)
                found, left = (places, places[:0]) if fits.all() else (places[fits], places[~fits])
                tries += is_new and len(found) >= POOR
                if len(found):
                    values[found], refused = forms[number].read(above[:, fits] if len(left) else above)
                    good[found] = True if refused is None else ~refused
                places, tokens, number = left, tokens[~fits] if len(left) else tokens, number + 1
        return values, good

    def _form(self, token: bytes) -> Form | None:
        picked: dict[int, int] = {}
        number = number_at(token, 0, self._factor, picked) if _NUMBER.fullmatch(token) else None
        if number is None or self._count >= MOST_FORMS:
            return None
        self._count += 1
        return Form(token, number, tuple(picked))


@dataclass(eq=False)
class DictLayout:
    """Lines like one dict: the same keys in the same order, with any numbers."""

    line: bytes
    text: str
    """The line without what was put in front of it, as its shape reads it."""
    shape: Shape
    group: Group
    literals: tuple[bytes, ...]
    """What stands in front of each number, and behind the last one."""
    columns: tuple[Column, ...]
    constants: Mapping[str, float]
    stamp: None = None
    no_loss: None = None

    @property
    def shortest(self) -> int:
        """No line of this kind has fewer bytes."""
        return sum(map(len, self.literals)) + len(self.columns)

    def read(self, lines: Lines, rows: Rows) -> tuple[Rows, dict[str, Floats]]:
        """Which of some lines fit, and what they say."""
        first, last = self.literals[0], self.literals[-1]
        rows = rows[_stands(lines, lines.starts[rows], first)]
        ends = lines.starts[rows] + lines.lengths[rows] - len(last)
        kept = _stands(lines, ends, last)
        rows, ends = rows[kept], ends[kept]
        begins = lines.starts[rows] + len(first)
        commas = np.searchsorted(lines.commas, begins)
        spans = []
        for literal in self.literals[1:-1]:
            stops = np.minimum(lines.commas[np.minimum(commas, len(lines.commas) - 1)], ends) - literal.index(b",")
            spans.append((begins, stops))
            begins, commas = stops + len(literal), commas + literal.count(b",")
        spans.append((begins, ends))
        good = np.minimum.reduce([stops - begins for begins, stops in spans]) > 0
        for (_, stops), literal in zip(spans, self.literals[1:-1], strict=False):
            good[good] = _stands(lines, stops[good], literal)
        told: dict[str, Floats] = {}
        for column, (begins, stops) in zip(self.columns, spans, strict=True):
            values, read = column.read(lines, begins[good], (stops - begins)[good])
            if not read.all():
                good[good] = read
                values, told = values[read], {name: known[read] for name, known in told.items()}
            if column.name is not None:
                told[column.name] = values
        return rows[good], told


def _by_size(sizes: Rows) -> Iterator[tuple[int, Rows]]:
    """The places of numbers with so many bytes, for each size."""
    if not len(sizes):
        return
    counts = np.bincount(np.clip(sizes, 0, LONGEST_NUMBER + 1))
    for size in np.flatnonzero(counts[: LONGEST_NUMBER + 1]).tolist():
        if size:
            yield size, np.arange(len(sizes)) if counts[size] == len(sizes) else np.flatnonzero(sizes == size)


def is_known(layouts: Iterable[object], raw: bytes, shape: Shape) -> bool:
    """True for a dict whose kind has its layout: a number in it is none that can be read exactly, and that is all."""
    return any(
        isinstance(one, DictLayout) and one.shape is shape and raw.startswith(one.literals[0]) for one in layouts
    )


def _stands(lines: Lines, places: Rows, literal: bytes) -> NDArray[np.bool_]:
    """At which places these bytes stand."""
    if not literal or not len(places):
        return np.ones(len(places), np.bool_)
    # A literal has no NUL, so that comparing as strings compares each byte.
    found: NDArray[np.bool_] = lines.at(places, len(literal)).view(f"S{len(literal)}").ravel() == literal
    return found
