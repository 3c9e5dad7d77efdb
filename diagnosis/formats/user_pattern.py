"""A person's own pattern for step lines, checked before it is let near a live log.

A pattern with nested repeats can take minutes on one unlucky line, and the watcher would stand still for it.
So a pattern is refused, with the reason, unless its shape proves that it cannot.
"""

import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable
from typing import Any

from diagnosis.formats.line_format import Found, Token
from diagnosis.formats.numbers import parse_number
from diagnosis.formats.pattern_cost import is_too_much
from diagnosis.observations import StepKind

NUMBERS = frozenset({"step", "loss", "lr", "grad_norm"})
TEXTS = frozenset({"time", "rank"})
MOST_CHARACTERS = 1000
LONGEST = 1000
"""Characters at the head of a line that a pattern sees: what grows with the square of them is still quick."""
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_MOST_OPEN_REPEATS = 24


class RefusedPattern(ValueError):
    """A person's pattern that cannot be used; the message says why."""


class UserPattern:
    """A checked pattern. Raises `RefusedPattern` with the reason when it cannot be used."""

    name = "own pattern"
    hint = ""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_CHARACTERS:
            raise RefusedPattern(f"The pattern has {len(pattern):,} characters; {MOST_CHARACTERS:,} are allowed.")
        try:
            self._pattern = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise RefusedPattern(f"The pattern is not a regular expression: {error}.") from error
        names = set(self._pattern.groupindex)
        unknown = sorted(names - NUMBERS - TEXTS)
        if unknown:
            allowed = ", ".join(sorted(NUMBERS | TEXTS))
            raise RefusedPattern(f"The pattern names {unknown[0]!r}; the groups it may name are {allowed}.")
        if names.isdisjoint({"loss", "step"}):
            raise RefusedPattern("The pattern must name a group `loss` or `step`, such as (?P<loss>[0-9.]+).")
        reason = why_slow(parser.parse(pattern))
        if reason:
            raise RefusedPattern(f"The pattern could take very long on one line: {reason}.")
        self.pattern = pattern

    def __repr__(self) -> str:
        return f"UserPattern({self.pattern!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserPattern) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)

    def find(self, text: str) -> Found | None:
        """Where the pattern's numbers stand in a line."""
        match = self._pattern.search(text, 0, LONGEST)
        if match is None:
            return None
        tokens = {name: Token(name, *match.span(name)) for name in self._pattern.groupindex if match.start(name) >= 0}
        numbers = tuple(
            token for name, token in tokens.items() if name in NUMBERS and parse_number(match[name]) is not None
        )
        if not numbers:
            return None
        kind: StepKind = "printed" if any(token.name == "step" for token in numbers) else "ordinal"
        rank = tokens.get("rank")
        is_rank = rank is not None and match["rank"].isdecimal() and len(match["rank"]) <= 6
        return Found(numbers, kind, time=tokens.get("time"), rank=rank if is_rank else None)


def why_slow(parsed: Any) -> str | None:
    """The reason why a parsed pattern may need more than linear time in practice, or None."""
    open_repeats = 0
    for code, argument in _walk(parsed):
        if code in (codes.GROUPREF, codes.GROUPREF_EXISTS):
            return "it refers back to a group"
        if code in _REPEATS:
            low, high, inner = argument
            if high != low and high > 1 and _can_repeat(inner):
                return "it repeats something that repeats itself"
            if high == codes.MAXREPEAT or high > 100:
                if _has_choice(inner):
                    return "it repeats a choice (a|b)"
                open_repeats += 1
    if open_repeats > _MOST_OPEN_REPEATS:
        return f"it has {open_repeats} open repeats; {_MOST_OPEN_REPEATS} are allowed"
    wide = _adjacent_repeats(parsed)
    return wide or ("its repeats can share the same text in very many ways" if is_too_much(parsed) else None)


def _walk(parsed: Any) -> Iterable[tuple[Any, Any]]:
    for code, argument in parsed:
        yield code, argument
        for inner in _inside(code, argument):
            yield from _walk(inner)


def _inside(code: Any, argument: Any) -> list[Any]:
    if code in _REPEATS or code is codes.POSSESSIVE_REPEAT:
        return [argument[2]]
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.BRANCH:
        return list(argument[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    return []


def _can_repeat(parsed: Any) -> bool:
    return any(code in _REPEATS and argument[0] != argument[1] for code, argument in _walk(parsed))


def _has_choice(parsed: Any) -> bool:
    return any(code is codes.BRANCH for code, _ in _walk(parsed))


def _adjacent_repeats(parsed: Any) -> str | None:
    """Several `.*` that may share the same text: time grows with a power of the line's length."""
    wide = 0
    for code, argument in _walk(parsed):
        if code in _REPEATS and argument[1] == codes.MAXREPEAT and _is_wide(argument[2]):
            wide += 1
    return f"it has {wide} repeats of nearly any character, such as `.*`; 3 are allowed" if wide > 3 else None


def _is_wide(parsed: Any) -> bool:
    if len(parsed) != 1:
        return False
    code, argument = parsed[0]
    if code is codes.ANY or code is codes.NOT_LITERAL:
        return True
    if code is codes.IN:
        return bool(argument) and argument[0][0] is codes.NEGATE
    return False
