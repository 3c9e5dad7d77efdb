"""Learns the shape of a step line, so that the next one like it is read with a single match.

A dialect finds the numbers of a line with a dozen searches. The next line of the same kind differs only in its
digits: from the first one, and from where its numbers stood, one pattern is made in which every other number
is a gap. It has nothing to try twice, so it is linear, and a line that does not fit it wholly (a message glued
to its end) goes the long way.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from diagnosis.formats.line_format import Found, Token, Values, values_of
from diagnosis.formats.numbers import parse_number

_MOST_SHAPES = 6
_MOST_LEARNED = 64
_LONGEST = 6000

_KEPT_LITERAL = 4
"""So many shapes of one dialect may hold slow numbers as they are; a log that changes them often gets groups."""
_SLOW = frozenset(
    ("total_steps", "batch_size", "nan_iterations", "skipped_steps", "loss_scale", "num_zeros", "nan_total", "epoch")
)
"""Numbers that stay the same for many lines: the shape holds them as they are printed, and reads nothing."""

_GAP = re.compile(r"\s+|[-+]?\d[\d.,:/eE+-]*|(?<=[\s:=\[(])(?:nan|inf)(?=[\s,|\])]|$)")
_ANY_NUMBER = r"(?:[-+\d.,:/eE]++|nan|inf|None|N/A|n/a)"
_CLOSERS = " \t|,;'\"])}%/"
_UNCLOSED = r"([-+\d.,eE]++|[-+]?(?:nan|NaN|NAN|inf|Inf|INF))"


class Places(NamedTuple):
    """Where a shape finds what it reads in one line."""

    numbers: tuple[tuple[str, int, int, float], ...]
    """Name, start, end, and the factor that brings the number to our unit."""
    time: tuple[int, int] | None
    rank: tuple[int, int] | None
    constants: Mapping[str, float]
    """What the line says without a number being read."""


class Columns(NamedTuple):
    """What lines of one shape say."""

    values: dict[str, list[float]]
    constants: Mapping[str, float]
    times: Sequence[str]
    ranks: Sequence[str]


class Shape:
    """One learned pattern and what its groups mean."""

    __slots__ = (
        "_converters",
        "_factors",
        "_is_plain",
        "_places",
        "_rank",
        "_time",
        "constants",
        "found",
        "match",
        "name",
        "names",
    )

    def __init__(
        self, name: str, found: Found, text: str, time: Token | None, rank: Token | None, *, holds: bool = False
    ) -> None:
        self.name = name
        self.found = found
        read = [token for token in found.tokens if not (holds and token.name in _SLOW)]
        texts = [token for token in (time, rank) if token is not None]
        ordered = sorted([*read, *texts], key=lambda token: token.start)
        place = {token: 1 + position for position, token in enumerate(ordered)}
        self._time = place[time] if time is not None else 0
        self._rank = place[rank] if rank is not None else 0
        self.names = tuple(token.name for token in read)
        self._places = tuple(place[token] for token in read)
        self._converters = tuple(_converter(text[token.start : token.end]) for token in read)
        self._is_plain = all(convert is float for convert in self._converters)
        self._factors = tuple((token.name, token.factor) for token in read if token.factor != 1.0)
        held = tuple(token for token in found.tokens if token not in read)
        self.constants = values_of(text, replace(found, tokens=held))
        self.match = re.compile(_pattern(text, ordered, held)).fullmatch

    @property
    def tells_more(self) -> bool:
        """True when its lines tell their time or their rank."""
        return bool(self._time or self._rank)

    def read(self, text: str) -> tuple[Values, str | None, str | None] | None:
        """Values, time and rank as printed; None when the line has another shape."""
        match = self.match(text)
        if match is None:
            return None
        numbers = match.group(0, *self._places)
        try:
            if self._is_plain:
                # Both are made from the same tokens: no need to compare their lengths for every line.
                values = dict(zip(self.names, map(float, numbers[1:])))  # noqa: B905
            else:
                values = {
                    name: convert(token)
                    for name, convert, token in zip(self.names, self._converters, numbers[1:])  # noqa: B905
                }
        except ValueError:
            unusual = [parse_number(token) for token in numbers[1:]]
            if None in unusual:
                return None
            values = dict(zip(self.names, unusual, strict=True))  # type: ignore[arg-type]
        for name, factor in self._factors:
            values[name] *= factor
        if self.constants:
            values.update(self.constants)
        return values, match[self._time] if self._time else None, match[self._rank] if self._rank else None

    def columns(self, matches: Sequence["re.Match[str]"]) -> "Columns | None":
        """What `read` would say of each of these lines of this shape; None where one holds no number after all."""
        texts = list(zip(*map(re.Match.groups, matches), strict=True))
        numbers = [texts[place - 1] for place in self._places]
        try:
            read = [_column(convert, tokens) for convert, tokens in zip(self._converters, numbers, strict=True)]
        except ValueError:
            unusual = [list(map(parse_number, tokens)) for tokens in numbers]
            if any(None in column for column in unusual):
                return None
            read = unusual  # type: ignore[assignment]
        values = dict(zip(self.names, read, strict=True))
        for name, factor in self._factors:
            values[name] = [factor * value for value in values[name]]
        for name in self.constants:
            values.pop(name, None)
        times = texts[self._time - 1] if self._time else ()
        return Columns(values, self.constants, times, texts[self._rank - 1] if self._rank else ())

    def places(self, text: str) -> Places | None:
        """Where `read` takes its numbers from; None when the line has another shape."""
        match = self.match(text)
        if match is None:
            return None
        factors = dict(self._factors)
        numbers = tuple(
            (name, *match.span(place), factors.get(name, 1.0))
            for name, place in zip(self.names, self._places, strict=True)
        )
        time = match.span(self._time) if self._time else None
        rank = match.span(self._rank) if self._rank else None
        return Places(numbers, time, rank, self.constants)


class Shapes:
    """The few shapes a source has, the newest first."""

    def __init__(self) -> None:
        self.known: list[Shape] = []
        self._learned = 0
        self._by_name: dict[str, int] = {}

    def learn(self, name: str, found: Found, text: str, time: Token | None, rank: Token | None) -> None:
        """Remember how this line was built; a source whose lines are all different is not learned for ever."""
        if self._learned >= _MOST_LEARNED or len(text) > _LONGEST:
            return
        self._learned += 1
        self._by_name[name] = self._by_name.get(name, 0) + 1
        holds = self._by_name[name] <= _KEPT_LITERAL
        self.known.insert(0, Shape(name, found, text, time, rank, holds=holds))
        del self.known[_MOST_SHAPES:]

    def forget_ordinal(self) -> None:
        """Lines without a counter may now be another's."""
        self.known = [shape for shape in self.known if shape.found.kind != "ordinal"]


def _converter(token: str) -> Callable[[str], float]:
    """How to read this token on other lines: most are plain, some bear commas, suffixes or quotes."""
    for convert in (float, _with_commas):
        try:
            convert(token)
        except ValueError:
            continue
        return convert
    return _unusual


def _column(convert: Callable[[str], float], tokens: Sequence[str]) -> list[float]:
    if convert is _with_commas:
        return [float(token.replace(",", "")) for token in tokens]
    return list(map(convert, tokens))


def _with_commas(token: str) -> float:
    return float(token.replace(",", ""))


def _unusual(token: str) -> float:
    value = parse_number(token)
    if value is None:
        raise ValueError(token)
    return value


def _pattern(text: str, ordered: Sequence[Token], held: Sequence[Token]) -> str:
    pieces = []
    end = 0
    for token in sorted([*ordered, *held], key=lambda one: one.start):
        pieces.append(_around(text[end : token.start]))
        pieces.append(re.escape(text[token.start : token.end]) if token in held else _inside(token, text))
        end = token.end
    pieces.append(_around(text[end:].rstrip()))
    return "".join(pieces) + r"\s*+"


def _inside(token: Token, text: str) -> str:
    if token.name == "time":
        return "(" + re.sub(r"\\?\d", r"\\d", re.escape(text[token.start : token.end])) + ")"
    if token.name == "rank":
        return r"(\d++)"
    following = text[token.end : token.end + 1]
    if not following:
        return r"(\S++)"
    return rf"([^\s{re.escape(following)}]++)" if following in _CLOSERS else _UNCLOSED


def _around(text: str) -> str:
    pieces = []
    end = 0
    for gap in _GAP.finditer(text):
        pieces.append(re.escape(text[end : gap.start()]))
        pieces.append(r"\s*+" if gap[0].isspace() else _ANY_NUMBER)
        end = gap.end()
    pieces.append(re.escape(text[end:]))
    return "".join(pieces)
