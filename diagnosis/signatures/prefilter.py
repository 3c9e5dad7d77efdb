"""One cheap look that lets nearly every healthy line pass, and tells which rows a line could match.

Each needle is represented by the piece of it that begins with its rarest letter, rare in the metric lines of
real logs. One regular expression holds all pieces by first letter, so that the search skips to candidates with a
character set and looks closer at one character in twenty.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

Row = TypeVar("Row")

RARE = "!KJVXHWZjq`TCU<wRxDGBPAEy+S'zMLhNOFvIfbuk\""
"""Letters that are rare in metric lines (30 public logs), the rarest first."""

_PIECE = 7
"""Characters of a needle that are compared: enough to be rare, short enough to be quick."""
_AT_LEAST = 3


def piece_of(needle: str) -> str:
    """The part of a needle that stands for it.

    Raises:
        ValueError: The needle has no rare letter with enough text behind it, so it would slow every line down.
    """
    starts = [start for start in range(len(needle) - _AT_LEAST + 1) if needle[start] in RARE]
    if not starts:
        raise ValueError(f"the needle {needle!r} has no rare letter: choose another part of the line")
    start = min(starts, key=lambda place: (RARE.index(needle[place]), -len(needle[place : place + _PIECE])))
    return needle[start : start + _PIECE]


class Prefilter(Generic[Row]):
    """Which rows a line could match, by the pieces of their needles that occur in it."""

    def __init__(self, rows: Sequence[tuple[Iterable[str], Row]]) -> None:
        self._at_start: dict[str, list[Row]] = defaultdict(list)
        by_piece: dict[str, list[Row]] = defaultdict(list)
        for needles, found in rows:
            for needle in needles:
                if needle.startswith("^"):
                    self._at_start[needle[1:]].append(found)
                else:
                    by_piece[piece_of(needle)].append(found)
        self._starts = tuple(self._at_start)
        self._by_piece = _with_prefixes(by_piece)
        self._search = _expression(by_piece).search

    def may_match(self, text: str) -> bool:
        """False for nearly every healthy line; never false for a line that a row matches."""
        return self._search(text) is not None or text.startswith(self._starts)

    def candidates(self, text: str) -> list[Row]:
        """Every row whose needle may stand in the text, each once, in order of first appearance."""
        wanted: dict[int, Row] = {}
        position = 0
        while (found := self._search(text, position)) is not None:
            for candidate in self._by_piece[found.group()]:
                wanted[id(candidate)] = candidate
            position = found.start() + 1
        for start, rows in self._at_start.items():
            if text.startswith(start):
                wanted |= {id(candidate): candidate for candidate in rows}
        return list(wanted.values())


def _expression(pieces: Iterable[str]) -> re.Pattern[str]:
    rests: dict[str, list[str]] = defaultdict(list)
    for piece in sorted(pieces, key=len, reverse=True):
        rests[piece[0]].append(re.escape(piece[1:]))
    return re.compile("|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in sorted(rests.items())))


def _with_prefixes(by_piece: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """At one place only the longest piece is found; it also stands for every shorter one that begins it."""
    return {
        piece: [found for other, rows in by_piece.items() if piece.startswith(other) for found in rows]
        for piece in by_piece
    }
