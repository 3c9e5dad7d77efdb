"""What the worst patterns a person may write cost on the worst lines for them: refused, or quick (A32)."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis.formats import RefusedPattern, UserPattern

LINE_CHARACTERS = 1 << 16
LIMIT_SECONDS = 0.05
_ATOMS = {
    r"\d": "1",
    r"\w": "a",
    r"\s": " ",
    r"\S": "x",
    ".": "a",
    "a": "a",
    "[0-9.]": "1",
    "[^,]": "a",
    "[a-z]": "a",
    r"(?:\w|\d)": "1",
}
_REPEATS = ("*", "+", "*?", "+?", "{1,}", "{2,}", "{0,1000}")
_SHAPES = (
    "({a}{r}){r}$",
    "(?:{a}{r}\\s?){r}$",
    "^(?:({a}{r}),?){r};",
    "(?:{a}|{a}{a}){r}!",
    "{a}{r}{a}{r}!",
    "{a}{r}{a}{r}{a}{r}!",
    "{a}{r}!",
    "^{a}{r}{a}{r}{a}{r}{a}{r}!",
    "{a}{r}.*{a}{r}!",
    "{a}{r}x.*y.*!",
    "(?={a}{r}!){a}",
    "(?:{a}{r}-?){{20}}!",
    "(?:x?){{25}}{a}{{25}}!",
)
_CLASSICS = (
    (r"^(\w+\s?)*$", "a"),
    (r"(x+x+)+y", "x"),
    (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a"),
    (r"(.*)(.*)(.*)(.*)(.*)!", "a"),
    (r"(.*?,){11}P", "1,"),
    (r"\s+$", " "),
    (r"^\s+|\s+$", " x"),
    (r"(a|a?)+b", "a"),
    (r"(?:(?:a?b)?c)*d", "bc"),
    (r"<(\w+)>.*</\1>", "<a>"),
    (r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?%", "1"),
    (r"([\w.-]+)@([\w.-]+)!", "a."),
    (r"loss.*loss.*loss.*!", "loss"),
    (r"(?:.|\n)*?!", "a"),
)
"""Known from advisories; the rest are put together."""


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern, and the line on which it is worst."""

    pattern: str
    line: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it."""

    case: Case
    is_refused: bool
    seconds: float = 0.0


def cases(most: int) -> Iterator[Case]:
    """So many different ones, the classics first."""
    made = ((shape.format(a=atom, r=repeat), fill) for shape, repeat, (atom, fill) in _all())
    for pattern, fill in itertools.islice(itertools.chain(_CLASSICS, made), most):
        line = (fill * LINE_CHARACTERS)[: LINE_CHARACTERS - 1] + "?"
        yield Case(f"(?:{pattern})|loss=(?P<loss>\\d+)", line)


def _all() -> Iterator[tuple[str, str, tuple[str, str]]]:
    return itertools.product(_SHAPES, _REPEATS, _ATOMS.items())


def measure(case: Case) -> Outcome:
    """Refused, or how long one line takes."""
    try:
        pattern = UserPattern(case.pattern)
    except RefusedPattern:
        return Outcome(case, is_refused=True)
    began = time.process_time()
    pattern.find(case.line)
    return Outcome(case, is_refused=False, seconds=time.process_time() - began)


def main() -> None:
    """Print how many were refused and the slowest of the others."""
    found = [measure(case) for case in cases(500)]
    taken = sorted((one for one in found if not one.is_refused), key=lambda one: -one.seconds)
    slow = [one for one in taken if one.seconds > LIMIT_SECONDS]
    print(f"{len(found)} bad patterns: {len(found) - len(taken)} refused, {len(taken)} taken, {len(slow)} above 50 ms")
    for one in taken[:5]:
        print(f"  {one.seconds * 1000:.1f} ms: {one.case.pattern}")


if __name__ == "__main__":
    main()
