"""Step lines that the terminal, rich, a full buffer or a pretty printer broke over two or more lines."""

import re

from diagnosis.formats.dialects import paddle
from diagnosis.formats.dialects.general import GENERAL
from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Finder, values_of
from diagnosis.formats.record import Step


class _Wrapped:
    """One stream; a line that is begun and not ended waits for the rest."""

    name: str
    _finder: Finder
    _begins: re.Pattern[str]
    _ends: re.Pattern[str]
    _goes_on = re.compile(r"\s*[^\s{\[]")
    """What its further lines look like."""
    _most_lines = 8

    def __init__(self) -> None:
        self._text = ""
        self._line: Line | None = None
        self._count = 0

    @property
    def is_open(self) -> bool:
        """True when the next line may belong to it."""
        return self._line is not None

    @property
    def held(self) -> Line | None:
        """The line that began it."""
        return self._line

    def read(self, line: Line, done: list[Step]) -> bool:
        """Begin where a line of this kind stands without its end, go on until the end."""
        text = line.text
        if self._line is not None:
            self._count += 1
            if self._count <= self._most_lines and self._goes_on.match(text) is not None:
                self._text += (" " if self._text.endswith((",", ":")) else "") + text.strip()
                if self._ends.search(self._text):
                    self.flush(done)
                return True
            self._line = None
        if self._begins.search(text) is not None:
            self._text, self._line, self._count = text.strip(), line, 0
            return True
        return False

    def flush(self, done: list[Step]) -> None:
        """What is there is read as it is."""
        line, self._line = self._line, None
        if line is None:
            return
        found = self._finder.find(self._text)
        if found is not None and found.tokens:
            done.append(Step(values_of(self._text, found), line, self.name, found.kind, found.settle))


class WrappedDict(_Wrapped):
    """The dict of the Hugging Face Trainer."""

    name = DICT.name
    _finder = DICT
    _begins = re.compile(r"\{'(?:l|lo|los|loss|loss'[^{}]*)?$")
    _ends = re.compile(r"\}")


class WrappedPaddle(_Wrapped):
    """The line of PaddleNLP."""

    name = paddle.NLP.name
    _finder = paddle.NLP
    _begins = re.compile(r"\] - loss: [^,]*,(?:(?!global_step).)*,?\s*$")
    _ends = re.compile(r"(?:progress_or_)?epoch: [\d.]+")


class PrintedDict(_Wrapped):
    """A dict of any script, printed with one key a line as `pprint` does."""

    name = "python dict"
    _finder = GENERAL
    _begins = re.compile(r"\{'(?!Loss/)[\w/@ .-]{1,60}': [^{}]{1,60},$")
    _ends = re.compile(r"\}$")
    _goes_on = re.compile(r"\s+'[\w/@ .-]{1,60}': .*[,}]$")
    _most_lines = 200


class JuliaInfo(_Wrapped):
    """What Julia's `@info` prints of several values: a box that is open to the right."""

    name = "julia"
    _finder = GENERAL
    _begins = re.compile(r"^┌ Info: ")
    _ends = re.compile(r"└ ")
    _goes_on = re.compile(r"[│└] {1,8}\S")
    _most_lines = 60

    def flush(self, done: list[Step]) -> None:
        """Each line is a pair."""
        self._text = self._text.partition("│")[2].replace("│", ",").replace("└", ",")
        super().flush(done)


RECORDS = (JuliaInfo, WrappedDict, WrappedPaddle, PrintedDict)
