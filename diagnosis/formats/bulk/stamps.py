"""Times of many lines at once, exactly as `Clock` would have read them one after the other."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats.bulk.decimal import Digits, Floats, whole
from diagnosis.formats.timestamps import Clock

_PLAIN = re.compile(rb"\d{4}[-/]\d\d[-/]\d\d[ T_-]\d\d:\d\d:\d\d(?:[.,](?P<fraction>\d{1,9})Z?)?")
_MINUTE = len("2024-04-06 02:59:")


@dataclass(frozen=True, slots=True)
class Stamp:
    """How one time is printed: date and time with its year, seconds, and a fraction or none."""

    start: int
    end: int
    minute: tuple[int, ...]
    second: tuple[int, ...]
    fraction: tuple[int, ...]

    def read(self, digits: Digits) -> "Moments":
        """Which minute each line tells, and how far into it."""
        into = whole(digits, self.second).astype(np.float64)
        part = whole(digits, self.fraction) / 10 ** len(self.fraction) if self.fraction else np.zeros(len(into))
        return Moments(whole(digits, self.minute), into, part)


@dataclass(slots=True)
class Moments:
    """Minutes as they are printed (digits of date, hour and minute), seconds in them, and fractions."""

    minutes: NDArray[np.int64]
    seconds: Floats
    fractions: Floats

    def cut(self, start: int, stop: int) -> "Moments":
        """Those of some lines."""
        return Moments(self.minutes[start:stop], self.seconds[start:stop], self.fractions[start:stop])


def stamp_at(token: bytes, start: int, picked: dict[int, int]) -> Stamp | None:
    """The stamp that stands at `start` of a line, or None when it is of another kind."""
    match = _PLAIN.fullmatch(token)
    if match is None:
        return None
    places = [place for place in range(len(token)) if token[place : place + 1].isdigit()]
    rows = {place: picked.setdefault(start + place, len(picked)) for place in places}
    minute = tuple(rows[place] for place in places if place < _MINUTE)
    second = tuple(rows[place] for place in places if _MINUTE <= place < _MINUTE + 2)
    fraction = tuple(rows[place] for place in places if place > _MINUTE + 2)
    return Stamp(start, start + len(token), minute, second, fraction)


def times_of(moments: Moments, stamp: Callable[[int], str], clock: Clock) -> Floats | None:
    """Unix seconds; None when the clock reads one of these stamps in another way than by the minute.

    `stamp` gives the stamp of a line as it was printed.
    """
    changes = np.flatnonzero(moments.minutes[1:] != moments.minutes[:-1]) + 1
    begins = [0, *changes.tolist()]
    bases = np.empty(len(begins))
    for place, begin in enumerate(begins):
        text = stamp(begin)
        clock.read(text)
        base = clock.minute_of(text)
        if base is None:
            return None
        bases[place] = base
    lengths = np.diff([*begins, len(moments.minutes)])
    times: Floats = np.repeat(bases, lengths) + moments.seconds + moments.fractions
    return times
