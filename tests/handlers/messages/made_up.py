"""Values of any type that builders of messages take; every string in them is written by somebody who means harm."""

import dataclasses
import enum
import inspect
import random
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from handlers import COMMANDS
from handlers.command import Command
from handlers.messages.blocks import Message, message
from handlers.messages.modals import place_word
from handlers.messages.phrase import Phrase, say
from handlers.run_list import SORTS
from handlers.runwatch import SUBJECTS
from handlers.subjects.subject import Subject

ATTACKS = (
    *("<!here>", "<!channel>", "<!everyone|x>", "<!subteam^S0ABC>", "<@U0ALICE>", "<@U0ALICE|alice>", "<#C0ABC|x>"),
    *(
        "<http://evil.example|safe>",
        "<https://evil.example/a?b=c&d=e>",
        "<mailto:a@b.example|x>",
        "<javascript:alert(1)|x>",
    ),
    *(
        "https://evil.example/x",
        "javascript:alert(1)",
        "www.evil.example",
        "@here @channel @U0ALICE",
        "<!date^1^{date}^https://evil.example|x>",
    ),
    *(
        "&lt;!here&gt;",
        "&amp;lt;!here&amp;gt;",
        "&#60;!here&#62;",
        "&",
        "<",
        ">",
        "<<!here>>",
        "<!he",
        "re>",
        "<@",
        "U0ALICE>",
    ),
    *(
        "```",
        "```\n<!here>\n```",
        "`",
        "*b*",
        "_i_",
        "~s~",
        "*",
        "> q",
        "- l",
        "1. x",
        ":fire:",
        "|",
        "^",
        "{run}",
        "{n}",
        "{0}",
        "%s",
        "\\",
    ),
    *(
        "\x1b[31mred\x1b[0m",
        "\x00",
        "\x07",
        "\x7f",
        "\x85",
        "\r",
        "\n",
        "\r\n",
        "\t",
        "\u2028",
        "\u2029",
        "\x1b]8;;http://evil.example\x07x\x1b]8;;\x07",
    ),
    *(
        "\u202e",
        "\u2066",
        "\u2069",
        "\u200f",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u00ad",
        "\u061c",
        "\U000e0001",
        "\ud800",
        "\udfff",
        "\ufffe",
    ),
    *(
        "a" + "\u0301" * 50,
        "\u202e<!here>\u202c",
        "\u202e>ereh!<",
        "＜!here＞",
        "‹",
        "𝕏",
        "👩‍👩‍👧‍👦",
        "训练",
        "عربي",
        "עברית",
        "ﷺ" * 30,
        "Z͑ͫ̓",
    ),
    *(
        "step=1 loss=nan",
        "run42",
        "CUDA out of memory",
        "/data/x y.log",
        "a/b/c",
        "node17",
        "",
        " ",
        "0",
        "-1",
        "nan",
        "1e309",
    ),
)
LETTERS = "<>&!@#|`*_~{}^:/.UC0123abc \n\t\x1b\u202e\u200b训é"
LONGEST = 20_000
NAMED: Mapping[str, Callable[[random.Random], object]] = {
    # What is ours, or comes from Slack itself: an id of a message, of an incident, an address of the workspace.
    "workspace_url": lambda _dice: "",
    "prefix": lambda _dice: "",
    "channel": lambda _dice: "C0TRAINING",
    "ts": lambda _dice: "1796030854.000100",
    "id": lambda dice: f"{dice.getrandbits(48):012x}",
    "place": lambda dice: place_word("4f88f1c71881", "C0TRAINING", "1.2", hostile(dice, 150)),
    "value": lambda dice: hostile(dice, 230),
    "refusal": lambda dice: f"No: {hostile(dice)}",
    "sort": lambda dice: dice.choice(SORTS),
    "asked_for": lambda _dice: COMMANDS[0],
    "chosen": lambda dice: dice.choice(("", "en", "zh")),
    "language": lambda dice: dice.choice(("en", "zh")),
}
NAMES = frozenset({"run", "name", "node", "watcher", "owner", "rule"})
"""A registry takes at most 200 letters for these."""


def hostile(dice: random.Random, most: int = LONGEST) -> str:
    """One string that somebody wrote: attacks, pieces of attacks, rubbish, sometimes very long."""
    kind = dice.random()
    if kind < 0.5:
        text = "".join(dice.choice(ATTACKS) for _ in range(dice.randint(1, 4)))
    elif kind < 0.8:
        text = "".join(dice.choice(LETTERS) for _ in range(dice.randint(0, 60)))
    elif kind < 0.9:
        text = "".join(chr(dice.choice((dice.randrange(0x100), dice.randrange(0x110000)))) for _ in range(30))
    else:
        text = dice.choice(ATTACKS) * dice.choice((20, 200, 2000))
    return text[:most]


class Maker:
    """Makes values of any type that builders take; counts the strings."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.strings = 0

    def arguments(self, builder: Callable[..., object]) -> tuple[list[object], dict[str, object]]:
        """Something for each of a builder's parameters."""
        hints = hints_of(builder)
        several, named = [], {}
        for name, parameter in inspect.signature(builder).parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                several += [self.make(hints[name], name) for _ in range(self.dice.randint(0, 3))]
            elif parameter.kind is not parameter.VAR_KEYWORD:
                named[name] = self.make(hints[name], name)
        return several, named

    def make(self, hint: typing.Any, name: str = "", depth: int = 0) -> typing.Any:
        """A value of this type."""
        dice, origin, parts = self.dice, typing.get_origin(hint), typing.get_args(hint)
        if hint in (str, str | None) and name in NAMED:
            return NAMED[name](dice)
        if name == "asked_for":
            return NAMED[name](dice)
        if hint is str:
            self.strings += 1
            return hostile(dice, 200 if name in NAMES else LONGEST)
        if hint in (int, float, bool):
            return {int: self._whole, float: self._number, bool: lambda: dice.random() < 0.5}[hint]()
        if hint is type(None):
            return None
        if hint is Phrase:
            return say("*{a}* {b}", a=self.make(str), b=self.make(str))
        if hint is Message:
            return message(self.make(Phrase), None)
        if hint is Command:
            return dice.choice(COMMANDS)
        if hint is Subject:
            return dice.choice(SUBJECTS)
        if origin in (typing.Union, types.UnionType):
            return self.make(dice.choice(parts), name, depth + 1)
        if origin is typing.Literal:
            return dice.choice(parts)
        if origin is tuple and not (len(parts) == 2 and parts[1] is Ellipsis):
            return tuple(self.make(part, name, depth + 1) for part in parts)
        if origin in (list, tuple, set, frozenset) or (_is(origin, Iterable, Sequence) and not _is(origin, Mapping)):
            made = [self.make(parts[0], name, depth + 1) for _ in range(self._count(depth))]
            return made if origin is list else origin(made) if origin in (set, frozenset) else tuple(made)
        if _is(origin, Mapping):
            return self._mapping(parts, name, depth)
        if origin is Counter:
            return Counter({self.make(parts[0]): dice.randint(0, 9)})
        if origin is Callable or _is(origin, Callable):
            said = self.make(parts[1], name, depth + 1) if len(parts) > 1 else ""
            return lambda *_args, **_kwargs: said
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return dice.choice(list(hint))
        if dataclasses.is_dataclass(hint):
            return self._record(hint, depth)
        if isinstance(hint, type) and issubclass(hint, Exception):
            return self._error(hint, depth)
        if hint is typing.Any or hint is object:
            return self.make(str)
        raise TypeError(f"no way to make {hint} for {name}")

    def _record(self, kind: type, depth: int) -> object:
        hints = hints_of(kind)
        given = {}
        for one in dataclasses.fields(kind):
            has_default = one.default is not dataclasses.MISSING or one.default_factory is not dataclasses.MISSING
            if not one.init or (has_default and depth > 5):
                continue
            given[one.name] = self.make(hints[one.name], one.name, depth + 1)
        return kind(**given)

    def _error(self, kind: type, depth: int) -> object:
        parameters = [one for name, one in inspect.signature(kind.__init__).parameters.items() if name != "self"]
        hints = hints_of(kind.__init__)
        given = [self.make(hints[one.name], one.name, depth + 1) for one in parameters if one.name in hints]
        return kind(*(given or [self.make(str)]))

    def _mapping(self, parts: Sequence[typing.Any], name: str, depth: int) -> dict[object, object]:
        if name == "answer":
            return self._answer()
        key, value = parts or (str, str)
        if name == "fields":
            return {}
        if name in ("patience", "limits"):
            return {"stall": self._number()} if self.dice.random() < 0.5 else {}
        return {self.make(key, "", depth + 1): self.make(value, name, depth + 1) for _ in range(self._count(depth))}

    def _answer(self) -> dict[str, object]:
        """What `inspect --json` answers, with strings of theirs in every place."""
        text, whole = (lambda: self.make(str)), self._whole
        finding = {"severity": "critical", "text": text(), "kind": text()}
        said = {
            "category": text(),
            "headline": text(),
            "because": [text(), text()],
            "next": [text()],
            "confidence": text(),
        }
        said |= {"evidence": {"file": text(), "line": whole(), "text": text()}, "first_bad_step": whole()}
        said |= {"first_bad_time": text(), "culprit_node": text(), "culprit_rank": whole(), "suspects": [whole()]}
        loss = {"points": abs(whole()) + 1, "first_step": 1, "last_step": whole(), "last_value": text()}
        return {
            "diagnosis": said,
            "findings": [finding],
            "changes": [{"line": text(), "text": text()}],
            "loss": loss,
            "files": [{"name": text(), "lines": 3}],
        }

    def _count(self, depth: int) -> int:
        return self.dice.choice((0, 1, 2, 3)) if depth else self.dice.choice((0, 1, 3, 12, 40))

    def _whole(self) -> int:
        return self.dice.choice((0, 1, 2, 7, 41_200, 1_000_000_000, self.dice.randrange(1 << 20)))

    def _number(self) -> float:
        odd = (0.0, -0.0, 1.0, 2.31, 1e-9, 1e18, float("nan"), float("inf"), float("-inf"), -5.0, 1_796_030_854.0)
        return self.dice.choice((*odd, self.dice.uniform(0, 1e6)))


def hints_of(what: typing.Any) -> dict[str, typing.Any]:
    """Type hints, also those that are imported for a type checker only."""
    try:
        return typing.get_type_hints(what)
    except NameError:
        known: dict[str, object] = {}
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").split(".")[0] in ("diagnosis", "handlers", "registry"):
                known |= {name: value for name, value in vars(module).items() if isinstance(value, type)}
        return typing.get_type_hints(what, localns=known)


def _is(origin: object, *kinds: object) -> bool:
    return isinstance(origin, type) and any(issubclass(origin, kind) for kind in kinds)
