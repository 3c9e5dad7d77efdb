"""JSON printed over many lines: `trainer_state.json`, and lists of objects that a script dumps with an indent."""

import re

from diagnosis.formats.fields import field_of, loss_key, normalise
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values
from diagnosis.formats.numbers import parse_number
from diagnosis.formats.record import Step

_PAIR = re.compile(r'"([^"]{1,120})": "?([^",]{1,40})"?,?$')
_LONGEST = 400


class PrettyJson:
    """One stream; only the innermost object counts, and only one with a step and a training loss."""

    name = "trainer_state.json"

    def __init__(self) -> None:
        self._pairs: dict[str, tuple[float, Line]] | None = None
        self._first: Line | None = None

    @property
    def is_open(self) -> bool:
        """True when the next line may belong to it."""
        return self._pairs is not None

    @property
    def held(self) -> Line | None:
        """The brace that opened the object."""
        return self._first if self._pairs is not None else None

    def read(self, line: Line, done: list[Step]) -> bool:
        """Braces open and close objects, pairs go to the open one."""
        text = line.text.strip()
        if text.endswith("{") and (len(text) == 1 or text[0] == '"'):
            self._pairs, self._first = {}, line
            return True
        if self._pairs is None:
            return False
        if text in ("}", "},", "}]", "}],"):
            self.flush(done)
            return True
        pair = _PAIR.match(text)
        if pair is not None and len(self._pairs) < _LONGEST:
            value = parse_number(pair[2])
            if value is not None:
                self._pairs[normalise(pair[1])] = (value, line)
            return True
        if not text.startswith(('"', "[", "]")):
            self._pairs = None
            return False
        return True

    def flush(self, done: list[Step]) -> None:
        """The object is complete."""
        pairs, self._pairs = self._pairs, None
        if not pairs:
            return
        if "train_runtime" in pairs:
            return  # the closing summary
        loss = loss_key(pairs) or ("eval_loss" if "eval_loss" in pairs else None)
        if loss is None:
            return
        values: Values = {"eval_loss" if loss == "eval_loss" else "loss": pairs[loss][0]}
        for name, (value, _) in pairs.items():
            known = field_of(name) if name != loss else None
            if known is not None and known[0] not in values:
                values[known[0]] = value * known[1]
        if "step" in values:
            done.append(Step(values, pairs[loss][1], self.name))


RECORDS = (PrettyJson,)
