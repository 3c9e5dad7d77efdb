"""A dialect that says everything of a step on one line, as a table of where its numbers stand."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, Protocol

from diagnosis.formats.numbers import NUMBER, parse_number
from diagnosis.observations import StepKind

Values = dict[str, float]
"""What a line says, by our names (`fields.py`), in our units."""

Settle = Callable[[Values], bool]
"""Puts the values of a line right, in place; False when the line is no step of training after all."""


@dataclass(frozen=True, slots=True)
class Without:
    """Drops a number that stands for "not measured"; anything else stays as it is."""

    name: str
    value: float

    def __call__(self, values: Values) -> bool:
        """As a `Settle`."""
        if values.get(self.name) == self.value:
            del values[self.name]
        return True


class Where(NamedTuple):
    """Where a number stands, as the only group of a pattern, and the factor that brings it to our unit.

    There are hundreds, and a log needs a dozen: a pattern is compiled when it is first asked.
    """

    pattern: str
    factor: float


@dataclass(frozen=True, slots=True)
class Token:
    """One number in a line: whose it is, where it stands, and the factor that brings it to our unit."""

    name: str
    start: int
    end: int
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """A line that a dialect understands as a step."""

    tokens: tuple[Token, ...]
    kind: StepKind = "printed"
    settle: Settle | None = None
    constants: tuple[tuple[str, float], ...] = ()
    """What words of the line say, such as `overflow cond: True`."""
    time: Token | None = None
    """Where the time is printed, where the dialect knows better than a look for a stamp."""
    rank: Token | None = None
    """Where the global rank is printed, likewise."""
    sums_up: bool = False
    """True when the loss may be the mean of an epoch: it is a point only where no other lines tell losses."""


NOTHING_FOUND = Found(())
"""A line that is understood and is no step of training."""


class Finder(Protocol):
    """Anything that can tell where the numbers of a step line stand."""

    @property
    def name(self) -> str:
        """The dialect's name, as `inspect` states it."""

    @property
    def hint(self) -> str:
        """A piece of text that stands in every line of this kind: the cheap question before the dear one."""

    def find(self, text: str) -> Found | None:
        """Where the numbers stand, or None when the line is not of this kind."""


def where(pattern: str, factor: float = 1.0) -> Where:
    """A place: in the pattern `#` stands for the number, `@` for one that may bear K, M, G or T."""
    with_number = pattern.replace("@", f"({NUMBER}[KMGBT]?)").replace("#", f"({NUMBER})")
    return Where(with_number, factor)


_compiled = cache(re.compile)


@dataclass(frozen=True, slots=True)
class LineFormat:
    """One kind of step line."""

    name: str
    hint: str
    head: re.Pattern[str]
    """Makes sure that it is such a line; its named groups are numbers too."""
    fields: Mapping[str, Where | tuple[Where, ...]]
    """Several places for one name: the first that is there."""
    refuse: re.Pattern[str] | None = None
    """Lines that look alike and are no training step."""
    kind: StepKind = "printed"
    settle: Settle | None = None
    flags: Mapping[str, re.Pattern[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Words that stand for the number 1 of a name."""
    needs: tuple[str, ...] = ()
    """Names of which one at least must be found."""

    def find(self, text: str) -> Found | None:
        """Where the numbers stand, or None when the line is not of this kind."""
        head = self.head.search(text)
        if head is None or (self.refuse is not None and self.refuse.search(text) is not None):
            return None
        tokens = [Token(name, *head.span(name)) for name in head.re.groupindex if head.start(name) >= 0]
        known = {token.name for token in tokens}
        for name, places in self.fields.items():
            token = None if name in known else _token(name, places, text)
            if token is not None:
                tokens.append(token)
                known.add(name)
        if self.needs and known.isdisjoint(self.needs):
            return None
        constants = tuple((name, 1.0) for name, words in self.flags.items() if words.search(text) is not None)
        return Found(tuple(tokens), self.kind, self.settle, constants)


def _token(name: str, places: "Where | tuple[Where, ...]", text: str) -> Token | None:
    for pattern, factor in _each(places):
        match = _compiled(pattern).search(text)
        if match is not None:
            return Token(name, *match.span(1), factor)
    return None


def _each(places: "Where | tuple[Where, ...]") -> Iterable[Where]:
    return (places,) if isinstance(places, Where) else places


_REST = (
    ("lr", re.compile(rf"(?<![\w./-])(?:lr|LR|[lL]earning[ _-][rR]ate)(?: ?[:=] ?| )({NUMBER})")),
    ("grad_norm", re.compile(rf"(?<![\w./-])(?:[gG]rad(?:ient)?[ _-]?[nN]orm|gnorm)(?: ?[:=] ?| )({NUMBER})")),
)


def with_rest(found: Found, text: str) -> Found:
    """The same with learning rate and grad norm by their common names, where a fork prints what the dialect lacks."""
    known = {token.name for token in found.tokens}
    if "loss" not in known or known.issuperset(name for name, _ in _REST):
        return found
    tokens = list(found.tokens)
    for name, pattern in _REST:
        match = pattern.search(text) if name not in known else None
        if match is not None and not any(match.start(1) < one.end and one.start < match.end(1) for one in tokens):
            tokens.append(Token(name, *match.span(1)))
    return replace(found, tokens=tuple(tokens))


def values_of(text: str, found: Found) -> Values:
    """The numbers of a line; a token that is no number after all is left out."""
    values: Values = dict(found.constants)
    for token in found.tokens:
        value = parse_number(text[token.start : token.end])
        if value is not None:
            values[token.name] = value * token.factor if token.factor != 1.0 else value
    return values
