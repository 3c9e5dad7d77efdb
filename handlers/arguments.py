"""Words a person typed after a command: names and options, kindly read.

Phones turn `--` into a dash and quotes into curly ones, Slack turns `run.example` into a link: all of that is
undone here, and whatever is wrong is answered with what is right.
"""

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diagnosis.errors import Mistake
from handlers.messages.escaping import visible

LONGEST_WORDS = 500
_LINK = re.compile(r"<(?:https?://|mailto:)[^|>\s]*\|([^>]*)>|<(?:https?://|mailto:)?([^|>\s]*)>")
_DASHES = re.compile(r"(?<!\S)[—–]{1,2}(?=[A-Za-z])")
_QUOTED = re.compile(r"""(["'])([^"']+)\1(?:\s+|$)""")
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name without dashes, and what its value looks like; empty: it has none."""

    name: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was typed, taken apart."""

    names: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)

    def has(self, option: str) -> bool:
        """Whether the option was given."""
        return option in self.options


class WrongWords(Mistake):
    """What was typed cannot be meant; the text says what can."""


class TooManyNames(WrongWords):
    """More names than are asked for; together they may be the one that is meant (`run 42`)."""

    def __init__(self, text: str, names: Sequence[str], options: Mapping[str, str]) -> None:
        self.names = tuple(names)
        self.options = options
        super().__init__(text)


def read_arguments(words: str, options: Sequence[Option] = (), *, most_names: int = 1) -> Arguments:
    """Names and options of a command; behind the name an option may stand without its dashes: `run42 last 2h`.

    Raises:
        TooManyNames: One run is asked for, or none.
        WrongWords: An unknown option, a missing value.
    """
    if len(words) > LONGEST_WORDS:
        raise WrongWords(f"That is longer than {LONGEST_WORDS} characters.")
    names: list[str] = []
    given: dict[str, str] = {}
    known = {option.name: option for option in options}
    left = list(_split(_plain(words)))
    while left:
        word = left.pop(0)
        is_bare = word.lower() in known and (bool(names) or not most_names)
        if not is_bare and (not word.startswith("--") or word == "--"):
            names.append(word)
            continue
        name, has_value, value = word.removeprefix("--").partition("=")
        option = known.get(name.lower())
        if option is None:
            raise WrongWords(f"There is no option `--{visible(name)}`.{_near_option(name, known)}")
        if option.value and not has_value:
            if not left or left[0].startswith("--"):
                raise WrongWords(f"`--{option.name}` needs a value: `--{option.name} {option.value}`.")
            value = left.pop(0)
        elif has_value and not option.value:
            raise WrongWords(f"`--{option.name}` takes no value.")
        given[option.name] = value
    if len(names) > most_names:
        extra = visible(" ".join(names[most_names:]))
        hint = f" {quotes_hint(names)}" if most_names else ""
        raise TooManyNames(f"One run at a time: I do not know what to do with `{extra}`.{hint}", names, given)
    return Arguments(tuple(names), given)


def quotes_hint(names: Sequence[str]) -> str:
    """How a name of several words is typed."""
    return f"A name with spaces needs quotes: `'{visible(' '.join(names)).replace(chr(39), '')}'`."


def first_name(words: str) -> tuple[str, str]:
    """A leading name, in quotes when it has spaces, and the rest as typed; both empty when there is nothing."""
    plain = _plain(words).strip()
    quoted = _QUOTED.match(plain)
    if quoted is not None:
        return quoted[2].strip("`*"), plain[quoted.end() :].strip()
    first, _, rest = plain.partition(" ")
    return first.strip("`*\"'"), rest.strip()


def first_word(words: str) -> tuple[str, str]:
    """The first word in lower case, and the rest."""
    first, _, rest = _plain(words).strip().partition(" ")
    return first.strip("`*").lower(), rest.strip()


def _plain(words: str) -> str:
    unlinked = _LINK.sub(lambda link: link[1] if link[1] is not None else link[2], words)
    return _DASHES.sub("--", unlinked.translate(_CURLY))


def _split(words: str) -> list[str]:
    try:
        parts = shlex.split(words)
    except ValueError:
        parts = words.split()
    # People paste names with the marks around them.
    return [part.strip("`*") or part for part in parts if part.strip("`*")]


def _near_option(name: str, known: Mapping[str, Option]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=1)
    if near:
        return f" Did you mean `--{near[0]}`?"
    if not known:
        return " This command has no options."
    return f" There are: {', '.join(f'`--{option}`' for option in known)}."
