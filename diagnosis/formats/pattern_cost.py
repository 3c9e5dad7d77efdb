"""How much work a pattern can make of a line, counted by trying every way it may match a short one.

The engine behind `re` tries ways one by one. Their number grows with a power of the line's length, and which power can
be seen on a line of 64 characters, if it is the worst line for this pattern: repeated characters that it looks for.
"""

import re._constants as codes  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

LENGTH = 64
MOST_STEPS = 3 * LENGTH**2
"""A pattern that takes more on one of its worst lines grows faster than with the square."""
_MOST_FILLS = 16
_SAMPLES = "a1 .,=:-x!|[\"'/_Z\t"
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    codes.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    codes.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}
_LOOP = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_ONE = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_Next = Callable[[int], None]


class TooMuch(Exception):
    """More ways than are allowed."""


def is_too_much(parsed: Any) -> bool:
    """Whether a parsed pattern takes more steps than the square of the length on a line that suits it badly."""
    try:
        for fill in _fills(parsed):
            _Trial((fill * LENGTH)[:LENGTH]).run(parsed)
    except (TooMuch, RecursionError):
        return True
    return False


class _Trial:
    """One line; every way through the pattern from every place in it."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._steps = 0

    def run(self, parsed: Any) -> None:
        for start in range(len(self._line) + 1):
            self._sequence(list(parsed), 0, start, lambda _: None)

    def _sequence(self, items: list[Any], at: int, place: int, then: _Next) -> None:  # noqa: C901  (one case a code)
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuch
        if at == len(items):
            then(place)
            return
        code, argument = items[at]

        def go_on(place: int) -> None:
            self._sequence(items, at + 1, place, then)

        if code in _ONE:
            if place < len(self._line) and _fits(code, argument, self._line[place]):
                go_on(place + 1)
        elif code in _LOOP:
            self._loop(argument, place, go_on)
        elif code is codes.SUBPATTERN:
            self._sequence(list(argument[3]), 0, place, go_on)
        elif code is codes.ATOMIC_GROUP:
            self._sequence(list(argument), 0, place, go_on)
        elif code is codes.BRANCH:
            for branch in argument[1]:
                self._sequence(list(branch), 0, place, go_on)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            self._sequence(list(argument[1]), 0, place, lambda _: None)
            go_on(place)
        elif code is not codes.AT or argument not in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING) or place == 0:
            go_on(place)

    def _loop(self, argument: Any, place: int, then: _Next) -> None:
        low, high, inner = argument
        items = list(inner)
        most = min(int(high), LENGTH) if high != codes.MAXREPEAT else LENGTH
        if len(items) == 1 and items[0][0] in _ONE:
            self._run_of_one(items[0], place, (int(low), most), then)
            return

        def once_more(count: int, begun: int, place: int) -> None:
            if place > begun and count < most:
                self._sequence(items, 0, place, lambda end: once_more(count + 1, place, end))
            if count >= low:
                then(place)

        once_more(0, -1, place)

    def _run_of_one(self, item: Any, place: int, bounds: tuple[int, int], then: _Next) -> None:
        end = place
        while end < len(self._line) and end - place < bounds[1] and _fits(item[0], item[1], self._line[end]):
            end += 1
            self._steps += 1
        for stop in range(end, place + bounds[0] - 1, -1):
            then(stop)


def _fits(code: Any, argument: Any, char: str) -> bool:
    if code is codes.LITERAL:
        return bool(ord(char) == argument)
    if code is codes.NOT_LITERAL:
        return bool(ord(char) != argument)
    return True if code is codes.ANY else _is_in(argument, char)


def _is_in(members: Any, char: str) -> bool:
    is_negated = bool(members) and members[0][0] is codes.NEGATE
    for code, argument in members[1:] if is_negated else members:
        if (
            (code is codes.LITERAL and ord(char) == argument)
            or (code is codes.RANGE and argument[0] <= ord(char) <= argument[1])
            or (code is codes.CATEGORY and _CATEGORIES.get(argument, bool)(char))
        ):
            return not is_negated
    return is_negated


def _fills(parsed: Any) -> list[str]:
    """What the worst lines repeat: each character the pattern looks for, neighbours, and a whole example of it."""
    chars = list(dict.fromkeys(_chars(parsed)))
    example = "".join(_chars(parsed))
    pairs = [first + second for first, second in pairwise(chars)]
    parts = list(dict.fromkeys([*_words(parsed), *chars, *pairs]))
    return [*parts[: _MOST_FILLS - 2], example[:LENGTH] or "a", example[:-1] or "a"]


def _words(parsed: Any) -> Iterator[str]:
    """Runs of characters that are wanted as they are."""
    word = ""
    for code, argument in parsed:
        if code is codes.LITERAL:
            word += chr(argument)
            continue
        if word:
            yield word
        word = ""
        if code in _LOOP or code is codes.SUBPATTERN:
            yield from _words(argument[2] if code in _LOOP else argument[3])
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from _words(branch)
    if word:
        yield word


def _chars(parsed: Any) -> Iterator[str]:
    """One character for each place of the pattern."""
    for code, argument in parsed:
        if code in _ONE:
            wanted = [chr(argument)] if code is codes.LITERAL else []
            yield next((char for char in [*wanted, *_SAMPLES] if _fits(code, argument, char)), "a")
        elif code in _LOOP:
            yield from _chars(argument[2])
        elif code is codes.SUBPATTERN:
            yield from _chars(argument[3])
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from _chars(branch)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _chars(argument[1])
        elif code is codes.ATOMIC_GROUP:
            yield from _chars(argument)
