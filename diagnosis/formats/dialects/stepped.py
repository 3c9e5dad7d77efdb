"""Records whose step stands on the line before them: TensorFlow's object detection and Orbit, and RVC.

    INFO:tensorflow:Step 100 per-step time 0.512s
    INFO:tensorflow:{'Loss/classification_loss': 0.12,
     'Loss/total_loss': 0.93,
     'learning_rate': 0.03}

The line and the dict may come twice, once by each logger.
"""

import re

from diagnosis.formats.dialects.general import GENERAL
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values, values_of
from diagnosis.formats.numbers import NUMBER
from diagnosis.formats.parts import add_up
from diagnosis.formats.record import Step

_MOST_LINES = 60


class DictBehindStep:
    """One stream of steps, each with its dict behind it."""

    name = "tensorflow dict"

    _step = re.compile(
        r"^(?!.*\beval)(?=.{0,200}\b[Ss]tep:? +(?P<step>\d+)\b)(?:.*per-step time [\d.]+s|.*\boutput:) *$"
    )
    _begins = re.compile(r"^\s*(?:\S+ ){0,6}?\S*\{(?=')")

    def __init__(self) -> None:
        self._number: str | None = None
        self._line: Line | None = None
        self._text = ""
        self._count = 0
        self._told = False

    @property
    def is_open(self) -> bool:
        """True from the step's line until something else than a dict comes."""
        return self._number is not None

    @property
    def held(self) -> Line | None:
        """The line of the step."""
        return self._line

    def read(self, line: Line, done: list[Step]) -> bool:
        """Take the line of the step, and then its dict from brace to brace."""
        text = line.text
        if self._text:
            self._count += 1
            if self._count > _MOST_LINES or not text.lstrip().startswith("'"):
                self.flush(done)
                return False
            self._take(text, done)
            return True
        step = self._step.match(text)
        if step is not None:
            if step["step"] != self._number:
                self.flush(done)
                self._number, self._line, self._told = step["step"], line, False
            return True
        if self._number is None:
            return False
        if self._begins.match(text) is None:
            self.flush(done)
            return False
        self._count = 0
        self._take(text[text.index("{") :], done)
        return True

    def _take(self, text: str, done: list[Step]) -> None:
        self._text += text.strip()
        if not self._text.endswith("}"):
            return
        whole, self._text = f"step: {self._number} {self._text}", ""
        found = GENERAL.find(whole)
        if found is not None and self._line is not None and not self._told:
            self._told = True
            done.append(Step(values_of(whole, found), self._line, self.name))

    def flush(self, done: list[Step]) -> None:
        """No dict came: the step is told alone."""
        if self._number is not None and self._line is not None and not self._told:
            done.append(Step({"step": float(self._number)}, self._line, self.name))
        self._number, self._line, self._text = None, None, ""


class VoiceConversion:
    """RVC: `[200, 9.9e-05]` is step and learning rate, the losses stand on the next line."""

    name = "rvc"

    _step = re.compile(r"(?:^|[\s:])\[(?P<step>\d{1,12}), (?P<lr>\d[\d.e-]*)\]$")
    _losses = re.compile(rf"\bloss_(?P<name>gen|fm|mel|kl)=(?P<value>{NUMBER})")

    def __init__(self) -> None:
        self._values: Values | None = None
        self._line: Line | None = None

    @property
    def is_open(self) -> bool:
        """True between its two lines."""
        return self._values is not None

    @property
    def held(self) -> Line | None:
        """The first of them."""
        return self._line

    def read(self, line: Line, done: list[Step]) -> bool:
        """The step opens, the losses close; anything else says that it was none."""
        values, self._values = self._values, None
        step = self._step.search(line.text)
        if step is not None:
            self._values, self._line = {"step": float(step["step"]), "lr": float(step["lr"])}, line
            return True
        if values is None or "loss_disc=" not in line.text:
            return False
        for place, part in enumerate(self._losses.finditer(line.text), 1):
            values[f"part_{place}"] = float(part["value"])
        values["adversarial"] = 1.0
        done.append(Step(values, line, self.name, settle=add_up))
        return True

    def flush(self, done: list[Step]) -> None:  # noqa: ARG002 - two numbers alone tell nothing
        """The losses did not come."""
        self._values = None


RECORDS = (DictBehindStep, VoiceConversion)
