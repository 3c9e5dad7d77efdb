"""Records whose head names the step and whose lines name the metrics: composer, NeMo-RL, home-made blocks."""

import re

from diagnosis.formats.fields import ADVERSARIAL
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Found, Values, values_of
from diagnosis.formats.numbers import parse_number
from diagnosis.formats.pairs import is_evaluation_line, named_tokens
from diagnosis.formats.record import Step

_HEADS = (
    ("composer", re.compile(r"^\[(?:epoch=\d+\]\[)?batch=(?P<step>\d+)(?:/(?P<total>\d+))?\]:$")),
    ("nemo-rl", re.compile(r"^=+ Step (?P<step>\d+)(?:/(?P<total>\d+))? =+$")),
    ("coqui", re.compile(r"--> .*STEP: \d+/(?P<total>\d+) -- GLOBAL_STEP: (?P<step>\d+)$")),
    ("rsl_rl", re.compile(r"^Learning iteration (?P<step>\d+)/(?P<total>\d+)$")),
    ("block", re.compile(r"\[[Ss]tep:? (?P<step>\d+)(?: ?/ ?(?P<total>\d+))?\]:?$")),
    (
        "block",
        re.compile(r"^[-=*#─━]{3,} ?(?i:step|iter|iteration):? (?P<step>\d+)(?: ?/ ?(?P<total>\d+))? ?[-=*#─━]{3,}$"),
    ),
)
_ENDS = ("]", ":", "=", "-", "*", "#", "─", "━")
_BEGINS = ("Learning iteration ", "--> ")
_BODY = re.compile(r"^(?:\s|[•·*►▶-] )")
_LINES_HEAD = re.compile(
    r"(?i)^(?:- )?(?:global[ _]|train(?:ing)?[ _])?(?:step|iter|iteration)s?(?:\s*[:=]\s*|\s+)"
    r"(?P<step>\d+)(?:\s*/\s*(?P<total>\d+))?$"
)
_LINES_BODY = re.compile(r"^ {0,8}[A-Za-z]\S*(?: \S+){0,4}(?: *[:=][ \t]*|\t[ \t]*)[-+\d.nN\[]")
"""One pair a line, under a line that holds nothing but the step; a list in YAML looks alike."""
_COMPOSER_LR = re.compile(r"^\s*Train lr-\w+/group0: (\S+)$")
_OF_OPTIMIZER = re.compile(r"(?:current_)?(?P<name>loss|grad_norm|lr)_(?P<number>\d): (?P<value>\S+)")
"""Coqui's `loss_1`, the sum that the second optimizer works on."""
_LONGEST = 120
_WIDEST = 1000
_PLAIN = "lines"


class Blocks:
    """One stream of blocks."""

    name = "block"

    def __init__(self) -> None:
        self._values: Values | None = None
        self._line: Line | None = None
        self._kind = self.name
        self._count = 0

    @property
    def is_open(self) -> bool:
        """True when the next line may belong to it."""
        return self._values is not None

    @property
    def held(self) -> Line | None:
        """The head of the open block."""
        return self._line if self._values is not None else None

    def read(self, line: Line, done: list[Step]) -> bool:
        """A body line goes to the open block; anything else ends it, but for a few lines in between."""
        text = line.text
        if self._values is not None:
            self._count += 1
            body = _LINES_BODY if self._kind == _PLAIN else _BODY
            if (
                len(text) < _WIDEST
                and body.match(text)
                and self._count < _LONGEST
                and not _LINES_HEAD.match(text.strip())
                and not text.lstrip().startswith("--> ")
            ):
                self._take(text.strip(" \t•·*►▶-"))
                return True
            if self._kind != "nemo-rl" or self._count >= _LONGEST or "Validation" in text:
                self.flush(done)
        return self._open(line, done)

    def flush(self, done: list[Step]) -> None:
        """The block is complete."""
        values, line, self._values = self._values, self._line, None
        if values is not None and line is not None and len(values) > 1 and (self._kind != _PLAIN or "loss" in values):
            done.append(Step(values, line, self._kind))

    def _open(self, line: Line, done: list[Step]) -> bool:
        text = line.text.strip()
        lines = _LINES_HEAD.match(text)
        if lines is not None and len(text) < _WIDEST:
            self._begin(_PLAIN, lines, line, done)
            return True
        may_be = text.endswith(_ENDS) or text.startswith(_BEGINS)
        if not may_be or len(text) > 300:
            return False
        for kind, pattern in _HEADS:
            head = pattern.search(text)
            if head is not None:
                self._begin(kind, head, line, done)
                return True
        return False

    def _begin(self, kind: str, head: "re.Match[str]", line: Line, done: list[Step]) -> None:
        self.flush(done)
        self._values = {"step": float(head["step"])}
        if head["total"] and kind != "coqui":  # that is the length of its epoch
            self._values["total_steps"] = float(head["total"])
        self._line, self._kind, self._count = line, kind, 0

    def _take(self, text: str) -> None:
        if self._values is None or is_evaluation_line(text, len(text)):
            return
        rate = _COMPOSER_LR.match(text)
        if rate is not None:
            text = f"lr: {rate[1]}"
        if self._kind == "coqui":
            text = text.removeprefix("| > ")
            if self._takes_optimizer(text) or "_loss:" in text or text.startswith("loss_"):
                return  # a part of it
            text = text.replace("current_lr:", "lr:", 1)
        found = Found(tuple(named_tokens(text).values()))
        for name, value in values_of(text, found).items():
            if name not in ("step_in_epoch", "step"):
                self._values.setdefault(name, value)

    def _takes_optimizer(self, text: str) -> bool:
        """Where there are several optimizers the model's is the last one, behind its discriminator's."""
        told = _OF_OPTIMIZER.match(text)
        value = parse_number(told["value"]) if told is not None else None
        if told is None or value is None or self._values is None:
            return False
        self._values[told["name"]] = value
        if told["name"] == "loss" and told["number"] != "0":
            self._values[ADVERSARIAL] = 1.0
        return True


RECORDS = (Blocks,)
