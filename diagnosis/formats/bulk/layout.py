"""Lines that differ only in their digits: compared byte by byte with one of them, and read many at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.decimal import Digits, Floats, Number
from diagnosis.formats.bulk.stamps import Stamp
from diagnosis.formats.shapes import Shape
from diagnosis.observations import Origin, StepKind

Bytes = NDArray[np.uint8]

ZERO = ord("0")


@dataclass(frozen=True, slots=True)
class Group:
    """What lines must have in common to stand in one block."""

    dialect: str
    kind: StepKind
    origin: Origin
    stream: Origin
    names: frozenset[str]
    is_timed: bool


@dataclass(eq=False)
class Layout:
    """One line's bytes, with a gap for every digit that may be another one."""

    line: bytes
    text: str
    """The line without what was put in front of it, as its shape reads it."""
    shape: Shape | None
    """What reads a line of this kind; None for bars."""
    group: Group
    gaps: frozenset[int]
    """Places of the digits that may be others."""
    picked: tuple[int, ...]
    """Places of the digits that are read."""
    numbers: Mapping[str, Number]
    constants: Mapping[str, float]
    stamp: Stamp | None
    no_loss: float | None
    """A value that stands where there is no loss."""

    @cached_property
    def template(self) -> Bytes:
        """The line with a zero in every gap."""
        line = np.frombuffer(self.line, np.uint8).copy()
        line[sorted(self.gaps)] = ZERO
        return line

    @cached_property
    def limits(self) -> Bytes:
        """How far a byte may be above the template's: 9 in a gap, else 0."""
        limits = np.zeros(len(self.line), np.uint8)
        limits[sorted(self.gaps)] = 9
        return limits

    @cached_property
    def _picked(self) -> NDArray[np.intp]:
        return np.array(self.picked, np.intp)

    def match(self, lines: Bytes) -> tuple[Digits, NDArray[np.bool_] | None]:
        """Digits of the lines (one row each) that fit, and which do (None: all).

        A byte below the template's wraps round and is as far above it.
        """
        above = lines - self.template
        fits = above <= self.limits
        if fits.all():
            return above.T[self._picked], None
        good: NDArray[np.bool_] = np.all(fits, axis=1)
        return above[good].T[self._picked], good

    def values(self, digits: Digits) -> tuple[dict[str, Floats], NDArray[np.bool_] | None]:
        """A column for every number that is read, and which lines hold one that is not exact (None: none)."""
        columns: dict[str, Floats] = {}
        refused: NDArray[np.bool_] | None = None
        for name, number in self.numbers.items():
            columns[name], bad = number.read(digits)
            if bad is not None:
                refused = bad if refused is None else refused | bad
        return columns, refused
