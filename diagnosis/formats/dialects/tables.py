"""Tables: CSV of Lightning's CSVLogger and of W&B exports, notebook tables, the boxes of Stable Baselines."""

import csv
import re
from collections.abc import Sequence

from diagnosis.formats.fields import field_of, is_evaluation, loss_key, normalise
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values
from diagnosis.formats.numbers import parse_number
from diagnosis.formats.parts import add_up
from diagnosis.formats.record import Step
from diagnosis.observations import StepKind

_NAME = re.compile(r"[^\W\d_][^,;|{}=<>]{0,159}|_step|_runtime|_timestamp|")
_MOST_COLUMNS = 2000
_ERRORS = ("rmse_trn", "l2_trn")
"""What DeePMD calls the error that it trains on."""
_STEPS = ("step", "_step", "global_step", "trainer/global_step", "iteration", "iter", "iterations", "num_updates")
_PART = re.compile(r"train/\w+_loss")
"""Ultralytics' `results.csv`: `train/box_loss`, `train/cls_loss` …"""
_SPACY = ["e", "#"]
"""How spaCy calls the epoch and the step; its losses are sums over the documents since the row before."""
_SPACY_PART = re.compile(r"loss_(?!tok2vec|transformer)\S+")
_MOST_PARTS = 5
_NO_NEWS = frozenset({"step", "epoch", "total_steps", "unix_time"})
_TENSORBOARD = ["wall_time", "step", "value"]
"""A chart saved from TensorBoard: the metric's name stands in the file's."""
_PRINTED = "#"
"""How NumPy marks a header: the columns may be set apart by a single blank."""
_RATE = frozenset(("lr", "grad_norm"))
"""Beside one of these a loss is a training's, even if no column counts the rows."""
_TRAINING = frozenset(("train_loss", "training_loss", "train/loss", "loss_train", "loss/train", "tr_loss", "trn_loss"))
"""A loss of this name is a training's if nothing but numbers stands in its table: a row is an epoch."""
_BLANKS = "  "
"""Columns that are set apart by blanks, two at least."""
_SEPARATORS = (",", "\t", ";")
_RULE = re.compile(r"^[-=+| ─━┼]{3,}$")
_GAP = re.compile(r" {2,}")
_WORDS = re.compile(r"\S+(?: \S+)*")
_BOX_EDGE = re.compile(r"^[-+=]{10,}$")
_BOX_ROW = re.compile(r"^\|\s*([\w/ .-]+?)\s*\|\s*(\S*)\s*\|$")
_BOX_LONGEST = 80
_BOX_STEPS = ("total_timesteps", "totalenvinteracts", "n_updates", "iterations", "step", "train/step", "global_step")

_BOX_SAMPLES = frozenset(_BOX_STEPS[:2])


class Columns:
    """One stream of rows under a header."""

    name = "table"
    held = None

    def __init__(self) -> None:
        self._delimiter = ","
        self._starts: list[int] = []
        """Where the columns begin that are set apart by blanks."""
        self._names: list[str] = []
        self._loss: int | None = None
        self._step: int | None = None
        self._parts: list[int] = []
        """Columns of which the loss is the sum, where no column holds it."""
        self._is_spacy = False
        self._is_bare = False
        """Only the name of the loss says that this is a training's."""

    @property
    def is_open(self) -> bool:
        """True while there is a header."""
        return bool(self._names)

    def read(self, line: Line, done: list[Step]) -> bool:
        """A header opens the table, rows give steps, anything else closes it."""
        text = line.text.strip()
        if self._names:
            cells = _cells(text, self._delimiter)
            if self._delimiter == _BLANKS and len(cells) < len(self._names):
                cells = self._placed(line.text)
            if len(cells) == len(self._names):
                if self._take_row(cells, line, done):
                    return True
                self._names = []
            elif _RULE.match(text) or (self._delimiter == _PRINTED and text.startswith(_PRINTED)):
                return True
            elif self._delimiter not in text:
                self._names = []
        return self._open(text)

    def flush(self, done: list[Step]) -> None:
        """A row is complete by itself."""

    def _open(self, text: str) -> bool:
        if len(text) < 8 or not any(word in text.lower() for word in ("loss", "ce", "wall time", "rmse", "l2_trn")):
            return False
        for delimiter in (_PRINTED, *_SEPARATORS, "|", _BLANKS):
            if delimiter not in text or (delimiter == _PRINTED and not text.startswith(_PRINTED)):
                continue
            names = [_column(cell) for cell in _cells(text, delimiter)]
            if self._opens_with(names, delimiter):
                self._delimiter, self._names = delimiter, names
                self._starts = [match.start() for match in _WORDS.finditer(text)]
                return True
        return False

    def _placed(self, text: str) -> list[str]:
        """The cells of a row that leaves some out, each under its name; none when one stands under no name."""
        found = {match.start(): match[0] for match in _WORDS.finditer(text)}
        if len(self._starts) != len(self._names) or not found or not found.keys() <= set(self._starts):
            return []
        return [found.get(start, "") for start in self._starts]

    def _opens_with(self, names: list[str], delimiter: str) -> bool:
        self._is_spacy = names[: len(_SPACY)] == _SPACY
        if self._is_spacy:
            names[: len(_SPACY)] = ["epoch", "step"]
        if not 2 <= len(names) <= _MOST_COLUMNS or not all(_NAME.fullmatch(name) for name in names):
            return False
        loss = "value" if names == _TENSORBOARD else loss_key(names) or next((n for n in _ERRORS if n in names), None)
        step = next((name for name in _STEPS if name in names), "epoch" if "epoch" in names else None)
        part, fewest = (_SPACY_PART, 1) if self._is_spacy else (_PART, 2)
        parts = [place for place, name in enumerate(names) if part.fullmatch(name)] if loss is None else []
        self._parts = parts if fewest <= len(parts) <= _MOST_PARTS else []
        if loss is None and not self._parts and not any(is_evaluation(name) for name in names):
            return False
        known = {field[0] for field in map(field_of, names) if field is not None}
        self._is_bare = step is None and known.isdisjoint(_RATE)
        if self._is_bare and (loss not in _TRAINING or delimiter not in _SEPARATORS):
            return False
        self._loss = names.index(loss) if loss is not None else None
        self._step = names.index(step) if step is not None else None
        return True

    def _take_row(self, cells: Sequence[str], line: Line, done: list[Step]) -> bool:
        values: Values = {}
        understood = 0
        for place, (name, cell) in enumerate(zip(self._names, cells, strict=True)):
            number = _number(cell)
            if number is None:
                if self._is_bare and cell.strip():
                    return False
                continue
            understood += 1
            known = self._meaning(place, name)
            if known is not None and known[0] not in values:
                values[known[0]] = number * known[1]
        if not understood:
            return all(set(cell.strip()) <= {"-", ":"} for cell in cells)  # the rule under a Markdown header
        if not values.keys() <= _NO_NEWS:
            kind: StepKind = "printed" if "step" in values else "ordinal"
            if self._is_spacy:
                values["adversarial"] = 1.0
            done.append(Step(values, line, self.name, kind, add_up))
        return True

    def _meaning(self, place: int, name: str) -> tuple[str, float] | None:
        if place == self._loss:
            return "loss", 1.0
        if place == self._step:
            return "step", 1.0
        if place in self._parts:
            return f"part_{self._parts.index(place) + 1}", 1.0
        if name in ("val_loss", "eval_loss", "validation_loss", "eval/loss"):
            return "eval_loss", 1.0
        if name in ("_timestamp", "wall_time"):
            return "unix_time", 1.0
        known = field_of(name)
        return None if known is None or known[0] in ("step", "loss", "step_in_epoch") else known


class Box:
    """OpenAI's logger (Stable Baselines, guided-diffusion): a box of `| key | value |` between lines of hyphens."""

    name = "boxed table"

    def __init__(self) -> None:
        self._values: dict[str, float] | None = None
        self._line: Line | None = None
        self._count = 0
        self._has_edge = False

    @property
    def is_open(self) -> bool:
        """True between the edges, or from row to row where there is none."""
        return self._values is not None

    @property
    def held(self) -> Line | None:
        """The upper edge of the open box."""
        return self._line if self._values is not None else None

    def read(self, line: Line, done: list[Step]) -> bool:
        """An edge opens or closes the box."""
        text = line.text.strip()
        if _BOX_EDGE.match(text):
            self.flush(done)
            self._values, self._line, self._count, self._has_edge = {}, line, 0, True
            return True
        row = _BOX_ROW.match(text)
        value = parse_number(row[2]) if row is not None else None
        name = normalise(row[1]) if row is not None else ""
        if not self._has_edge and (row is None or name in (self._values or ())):
            self.flush(done)
        if self._values is None:
            if value is None or not name[:1].isalpha():
                return False
            self._values, self._line, self._count, self._has_edge = {}, line, 0, False
        self._count += 1
        if row is None or self._count > _BOX_LONGEST:
            self._values = None
            return False
        if value is not None:
            self._values[name] = value
            if self._line is not None and "loss" in row[1]:
                self._line = line
        return True

    def flush(self, done: list[Step]) -> None:
        """The box is complete."""
        printed, line, self._values = self._values, self._line, None
        if not printed or line is None:
            return
        values: Values = {}
        loss = loss_key(printed)
        if loss is not None:
            values["loss"] = printed[loss]
        for key, value in printed.items():
            known = field_of(key.removeprefix("train/"))
            if known is not None and known[0] in ("lr", "grad_norm"):
                values.setdefault(known[0], value * known[1])
        steps = next((printed[name] for name in _BOX_STEPS if name in printed), None)
        if steps is not None:
            values["step"] = steps
        if "loss" in values and "step" in values:
            done.append(Step(values, line, self.name, "samples" if _BOX_SAMPLES & printed.keys() else "printed"))


def _number(cell: str) -> float | None:
    """What a cell tells; of `[1.2e-01, 3.4e-01]`, the losses of several equations, the sum."""
    if cell[:1] != "[":
        return parse_number(cell)
    parts = [parse_number(part) for part in cell.strip("[]").split(",")]
    return sum(part for part in parts if part is not None) if parts and None not in parts else None


def _cells(text: str, delimiter: str) -> list[str]:
    if delimiter == _PRINTED:
        return text.lstrip("# ").split()
    if delimiter == _BLANKS:
        return _GAP.split(text)
    if delimiter == "|":
        return text.strip("|").split("|")
    if '"' in text:
        try:
            return next(csv.reader([text], delimiter=delimiter), [])
        except csv.Error:
            return []
    return text.split(delimiter)


def _column(cell: str) -> str:
    """A W&B export calls a column `RUN - metric`."""
    return normalise(cell.rsplit(" - ", 1)[-1])


RECORDS = (Columns, Box)
