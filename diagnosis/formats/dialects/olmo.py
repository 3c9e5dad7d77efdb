"""OLMo and OLMo-core: a head line with the step, then one indented line for every metric."""

import re

from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values
from diagnosis.formats.numbers import parse_number
from diagnosis.formats.record import Step

_HEAD = re.compile(r"\[step=(?P<step>[\d,]+)(?:/(?P<total>[\d,]+))?,epoch=(?P<epoch>\d+)[^\]]*\]\s*$")
_MOST_LINES = 400
_NAMES = {
    "train/CrossEntropyLoss": ("loss", 1.0),
    "train/CE loss": ("loss", 1.0),
    "optim/total_grad_norm": ("grad_norm", 1.0),
    "optim/total grad norm": ("grad_norm", 1.0),
    "optim/grad_norm": ("grad_norm", 1.0),
    "optim/learning_rate_group0": ("lr", 1.0),
    "optim/LR (group 0)": ("lr", 1.0),
    "optim/learning rate": ("lr", 1.0),
    "optim/lr": ("lr", 1.0),
    "train/Perplexity": ("perplexity", 1.0),
    "train/PPL": ("perplexity", 1.0),
    "throughput/total_tokens": ("consumed_tokens", 1.0),
    "throughput/total tokens": ("consumed_tokens", 1.0),
    "throughput/device/tokens_per_second": ("tokens_per_second_per_gpu", 1.0),
    "throughput/device/TPS": ("tokens_per_second_per_gpu", 1.0),
    "throughput/device/MFU": ("mfu", 0.01),
    "System/Peak GPU Memory (MB)": ("memory_bytes", float(1 << 20)),
    "optim/step skipped": ("skipped_steps", 1.0),
}


class Olmo:
    """One stream of OLMo records."""

    name = "olmo"

    def __init__(self) -> None:
        self._values: Values | None = None
        self._line: Line | None = None
        self._count = 0

    @property
    def is_open(self) -> bool:
        """True when the next line may belong to it."""
        return self._values is not None

    @property
    def held(self) -> Line | None:
        """The head line of the open record."""
        return self._line if self._values is not None else None

    def read(self, line: Line, done: list[Step]) -> bool:
        """A body line goes to the open record; anything else ends it."""
        text = line.text
        values = self._values
        if values is not None:
            if text.startswith((" ", "\t")) and self._count < _MOST_LINES:
                self._count += 1
                key, equals, number = text.strip().partition("=")
                known = _NAMES.get(key) if equals else None
                value = parse_number(number) if known is not None else None
                if known is not None and value is not None:
                    values[known[0]] = value * known[1]
                return True
            self.flush(done)
        return "[step=" in text and self._open(line)

    def flush(self, done: list[Step]) -> None:
        """The open record is complete."""
        if self._values is not None and self._line is not None:
            done.append(Step(self._values, self._line, self.name))
        self._values = None

    def _open(self, line: Line) -> bool:
        head = _HEAD.search(line.text)
        if head is None:
            return False
        self._values = {"step": float(head["step"].replace(",", "")), "epoch": float(head["epoch"])}
        if head["total"]:
            self._values["total_steps"] = float(head["total"].replace(",", ""))
        self._line, self._count = line, 0
        return True


RECORDS = (Olmo,)
