"""Progress bars: tqdm (Hugging Face, Lightning, verl, torchtune …) and Keras.

A bar is redrawn many times; what counts is the last redraw for every count. Only bars of the training loop are
read: others (`Map`, `Loading checkpoint shards`, a nested evaluation) say which phase it is at most.
"""

import re
from dataclasses import dataclass

from diagnosis.formats.fields import field_of, loss_key, normalise
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values
from diagnosis.formats.numbers import NUMBER, parse_duration, parse_number
from diagnosis.formats.tongues import evaluates
from diagnosis.observations import Phase

MARKS = ("%|", "it/s", "s/it", "[==", "[..", "[>", "[━", " - loss: ")
"""One of these stands in every bar."""

_TQDM = re.compile(
    r"(?P<percent>\d{1,3})%(?:\|[^|]*\|)? *(?P<n>\d{1,12})/(?P<total>\d{1,12}) "
    r"\[(?P<elapsed>[\d:]+)<(?P<left>[^,\]]*)(?:, *(?P<rate>[\d.?]+) ?"
    r"(?P<unit>it/s|s/it|steps?/s|s/step|batch(?:es)?/s|s/batch|iter/s|s/iter))?"
    r"(?P<more>(?:, [^\]]*)?)\]"
)
_UNCLOSED = re.compile(
    r"(?P<percent>\d{1,3})%\|[^|]*\| *(?P<n>\d{1,12})/(?P<total>\d{1,12}) "
    r"\[(?P<elapsed>[\d:]+)<(?P<left>[^,\]]*), *(?P<rate>[\d.?]+) ?(?P<unit>it/s|s/it)"
    r"(?P<more>, [^\]%|]*), *(?=(?:\w+ \d+: *)?\d{1,3}%\||$)"
)
"""A bar whose end is missing and that others are glued to, each pair with its comma."""
_ENDLESS = re.compile(
    r": (?P<n>\d{1,12})it \[(?P<elapsed>[\d:]+), *(?P<rate>[\d.?]+) ?(?P<unit>it/s|s/it)"
    r"(?P<more>(?:, [^\]]*)?)\]"
)
"""A bar whose length nobody knows."""
_KERAS = re.compile(
    r"\s*(?P<n>\d{1,12})/(?P<total>\d{1,12}) (?:\[[=>.]*\]|[━╸╺\x1b\[\dm ]+) ?-? ?(?P<rest>.*?\bloss: .*)"
)
_OTHER = re.compile(
    r"(?i)map|load|download|fetch|token|filter|format|eval|valid|\bval\b|test|predict|generat|sampl|process|concat|group|pack"
    r"|convert|sav|shard|merg|sanity|infer|comput|extract|resolv|writ|read|creat|split|quanti|collect|rollout|verif"
    r"|scor|encod|captur|compil|upload|check|build|index|import|shuffl|caching|perplex"
)
_TRAINING = re.compile(r"(?i)train|epoch|step|iter|progress|loss|^\W*$|^\d+/\d+\s")
_PHASES = (
    (re.compile(r"(?i)eval|valid|\bval\b|\btest|predict"), Phase.EVALUATING),
    (re.compile(r"(?i)token|^map\b|format|filter|preprocess"), Phase.TOKENISING),
    (re.compile(r"(?i)^load|download|fetch"), Phase.LOADING),
    (re.compile(r"(?i)^sav|upload|writ"), Phase.SAVING),
)
_EPOCH = re.compile(r"(?i)(?:epochs?[ :]*\[?|^(?=\d+/\d+\s))(\d+)")
_EPOCH_LINE = re.compile(r"Epoch \d{1,9}/\d{1,9}\s*")
_PAIR = re.compile(rf"([A-Za-z_|][\w./| -]*?)(?: \((?:batch|train)\))?\s*[=:]\s*({NUMBER})(?![\d.]*\d)")
_TOO_FAST = 0.01
"""Seconds a step below which a bar without a name is taken for something else than training."""
_OTHER_UNIT = re.compile(r", *[\d.?]+ ?\w+/s")
_DESCRIBED_LOSS = re.compile(
    r"(?i)^(?!.*(?:\be?val|\btest|\bdev\b|best|aux))(?:.*[\s,|;)\]])?"
    r"(?:\w+[ _])?loss(?: ?[:=] {0,8}| )(\d+\.\d+(?:e[-+]?\d+)?|nan|inf)(?=[\s:,|;)\]]|$)"
)
"""What scripts write in front of a bar: `Epoch 1 loss: 2.31:`."""
_DESCRIBED_BATCH = re.compile(r", step (?P<batch>\d{1,12})/\d{1,12} completed \(loss: ")
"""llama-cookbook: the bar counts optimizer steps, its description names the batch, counted from 0."""
_DESCRIBED_STEP = re.compile(r"(?i)^(?P<epoch>\d+)\|(?P<step>\d+)\|Loss: ")


@dataclass(slots=True)
class Bar:
    """One redraw of a training bar."""

    n: int
    total: int
    seconds: float | None
    """Seconds a step, as the bar says."""
    values: Values
    line: Line
    is_news: bool = True
    """False when it only says again what the bar before it said."""
    is_part: bool = False
    """True for a batch whose optimizer step is not complete yet."""


class Bars:
    """The training bar of one stream."""

    __slots__ = (
        "_batch",
        "_is_ahead",
        "_lap",
        "_last",
        "_length",
        "_released",
        "_told",
        "_total",
        "_zero",
        "ended_at",
        "is_over",
        "is_summed_up",
        "pending",
        "phase",
        "since_end",
    )

    def __init__(self) -> None:
        self.is_over = False
        """Training has ended; bars without a name that follow are an evaluation's."""
        self.is_summed_up = False
        """… and the trainer has printed its summary: a loss behind that is another training's."""
        self.ended_at: float | None = None
        """The epoch that the summary tells."""
        self.since_end: Bar | None = None
        """The newest of those bars."""
        self.phase: Phase | None = None
        """What a bar of another kind says is going on."""
        self._told: Phase | None = None
        self._total: int | None = None
        self.pending: Bar | None = None
        """The bar that may still be redrawn for the same count."""
        self._last: tuple[int, float | None] | None = None
        self._lap = 0
        self._length = 0
        self._released: Bar | None = None
        self._zero: int | None = None
        self._is_ahead = False
        """The bar told a loss before its first step: a loss is set before its step is counted."""
        self._batch: tuple[int, int] | None = None
        """The newest batch that a description named, and the bar's count when it was first named."""

    def begin_epoch(self) -> None:
        """A line says that the next epoch begins: its bar redraws no other, and may be at its end at once."""
        if self._last is not None and self._last[0] > 0 and self._last[0] >= 0.99 * self._length:
            self._lap += 1
            self._last = (-1, None)

    def expect(self, total: int) -> None:
        """The log says how many steps the training bar will have."""
        self._total, self.is_over = total, False

    def restart(self) -> None:
        """A new attempt begins."""
        self._total = self._last = self._zero = self._released = self._batch = None
        self._lap = 0
        self.is_over = self.is_summed_up = False
        self.ended_at = self.since_end = None

    def sum_up(self, epoch: float | None) -> None:
        """The trainer has printed its summary."""
        self.is_summed_up = True
        self.ended_at = self.ended_at if epoch is None else epoch

    def trains_again(self, epoch: float | None) -> bool:
        """Whether a loss is another training's: behind a summary, and none of its last epoch that came late."""
        has_come_late = epoch is not None and self.ended_at is not None and epoch >= self.ended_at
        return self.is_summed_up and (self.since_end is not None or not has_come_late)

    @property
    def saw_zero(self) -> bool:
        """True when the training bar was seen before its first step."""
        return self._zero is not None and self._zero == self._total

    @property
    def held(self) -> Line | None:
        """The line of the bar that may still be redrawn for the same count."""
        return self.pending.line if self.pending is not None else None

    @property
    def holds_loss(self) -> bool:
        """True when that bar tells a loss."""
        return self.pending is not None and "loss" in self.pending.values

    def read(self, line: Line) -> tuple[list[Bar], str | None]:
        """Bars that are final now, and the text behind the bar; None for the text when there is no bar."""
        text = line.text
        match = _TQDM.search(text) or (_ENDLESS if "it [" in text else _UNCLOSED).search(text)
        if match is None:
            match = _KERAS.match(text) if "loss: " in text else None
            if match is None:
                return [], None
            return self._take(_keras(match, line)), text[_end_of_pairs(match) :]
        name = text[: match.start()].strip()
        if match.re is _UNCLOSED:
            name = name.rpartition(", ")[2]  # pairs of a bar before it stand in front
        bar = _tqdm(match, name, line)
        rest = text[match.end() :]
        if not self._is_training(name, bar, match["more"], nested="\x1b[A" in line.printed):
            phase = next((phase for words, phase in _PHASES if words.search(name)), None)
            self.phase = phase if phase is not self._told else None
            self._told = phase
            return [], rest
        described = _DESCRIBED_BATCH.search(name)
        if described is not None and not self._place_batch(bar, int(described["batch"])):
            return [], rest
        return self._take(bar), rest

    def _place_batch(self, bar: Bar, batch: int) -> bool:
        """Give a batch to its optimizer step; False where an update redraws the description of the batch before."""
        before = self._batch
        if before is not None and before[0] == batch and bar.n != before[1]:
            return False
        self._batch = (batch, bar.n)
        counted = 0 if batch == 0 else before[1] if before is not None and before[0] < batch else bar.n
        bar.is_part = bar.n <= counted and bar.n != batch + 1
        if before is not None and before == self._batch and self.pending is not None:
            bar.is_part = self.pending.is_part
        bar.n += bar.is_part
        bar.values["step_in_epoch"] = float(bar.n)
        return True

    def release(self) -> list[Bar]:
        """The held bar: what follows is no redraw of it."""
        held, self.pending = self.pending, None
        if held is None or held.is_part:
            return []
        told = (held.n, held.values.get("loss"))
        held.is_news = told != self._last
        if self._is_ahead and held.n == held.total and self._last is not None and told[1] == self._last[1]:
            held.values.pop("loss", None)  # the last step's, which stood at the count before
        self._length = held.total
        self._released = held
        self._last = told
        return [held]

    def _is_training(self, name: str, bar: Bar, more: str, *, nested: bool) -> bool:
        has_loss = "loss" in bar.values
        if evaluates(name, 0, len(name)):
            return False
        other = _OTHER.search(name)
        if other is not None and (not name[: other.start()].strip(" [(") or not re.search(r"(?i)train", name)):
            return False  # `Tokenizing train dataset` trains nothing
        if not has_loss and (not _TRAINING.search(name) or _OTHER_UNIT.match(more)):
            return False
        if name or has_loss:
            return True
        if nested or self.is_over:
            self.since_end = bar if self.is_over and not nested else self.since_end
            return False
        if bar.n == 0:
            self._zero = bar.total
            return False
        if self._total != bar.total and bar.seconds is not None and bar.seconds < _TOO_FAST:
            return False
        if self._total is None or (self._last is not None and self._last[0] >= self._total < bar.total):
            self._total = bar.total
        return bar.total == self._total

    def _is_next_lap(self, bar: Bar) -> bool:
        """A bar that is at its end again, with another loss and after other lines, or in another epoch by its name."""
        before = self.pending or self._released
        if before is None or (before.n, before.total) != (bar.n, bar.total):
            return False
        epochs = before.values.get("epoch"), bar.values.get("epoch")
        if None not in epochs:
            return epochs[0] != epochs[1]
        losses = before.values.get("loss"), bar.values.get("loss")
        is_apart = bar.line.number > before.line.number + 1
        return bar.n == bar.total and is_apart and None not in losses and losses[0] != losses[1]

    def _take(self, bar: Bar) -> list[Bar]:
        held = self.pending
        is_next = self._is_next_lap(bar)
        if held is not None and held.n == bar.n and held.total == bar.total and not is_next:
            bar.values["lap"] = held.values["lap"]
            self.pending = bar
            self._is_ahead = self._is_ahead or (bar.n == 0 and "loss" in bar.values)
            return []
        finished = self.release()
        if is_next or (self._last is not None and bar.n < self._last[0] and self._last[0] >= 0.99 * bar.total):
            self._lap += 1
        bar.values["lap"] = bar.values.get("epoch", float(self._lap))
        self.pending = bar
        self._told = None
        if bar.n == 0:
            self._is_ahead = "loss" in bar.values
        return finished


def read_bar(line: Line) -> "tuple[Bar, str, str] | None":
    """A bar of tqdm, its name, and the text behind it."""
    match = _TQDM.search(line.text)
    if match is None:
        return None
    name = line.text[: match.start()].strip()
    return _tqdm(match, name, line), name, line.text[match.end() :]


def opens_epoch(text: str) -> bool:
    """True for `Epoch 2/200` alone, as Keras prints it between its bars."""
    return text.startswith("Epoch ") and _EPOCH_LINE.fullmatch(text) is not None


def is_bar(text: str) -> bool:
    """The cheap question whether there may be a bar in this text."""
    if "%|" in text or "it [" in text:
        return True
    return "/" in text and (" - loss: " in text or ("% " in text and "<" in text))


def _tqdm(match: "re.Match[str]", name: str, line: Line) -> Bar:
    n = int(match["n"])
    total = int(match["total"]) if "total" in match.re.groupindex else 0
    rate = parse_number(match["rate"] or "")
    seconds = None
    if rate:
        seconds = rate if match["unit"].startswith("s/") else 1 / rate
    values = _pairs(match["more"])
    described = _DESCRIBED_STEP.match(name) if name else None
    if described is not None:
        values["step"] = float(described["step"])
    if "loss" not in values and "oss" in name:
        values.update({key: value for key, value in _pairs(name).items() if key == "loss"})
        described_loss = _DESCRIBED_LOSS.search(name)
        if "loss" not in values and described_loss is not None:
            values["loss"] = float(described_loss[1])
    epoch = _EPOCH.search(name) if name else None
    if epoch is not None:
        values["epoch"] = float(epoch[1])
    if "step" not in values:
        values["step_in_epoch"] = float(n)
    if total:
        values["total_steps"] = float(total)
    elapsed = parse_duration(match["elapsed"])
    if elapsed is not None:
        values["elapsed_seconds"] = elapsed
    if seconds is not None:
        values["step_seconds"] = seconds
    return Bar(n, total, seconds, values, line)


def _keras(match: "re.Match[str]", line: Line) -> Bar:
    n, total = int(match["n"]), int(match["total"])
    values = _pairs(match["rest"].replace(" - ", ", "))
    values["step_in_epoch"] = float(n)
    return Bar(n, total, None, values, line)


def _end_of_pairs(match: "re.Match[str]") -> int:
    """Where a message may begin that is glued to the last number of a Keras bar."""
    ends = [pair.end() for pair in _PAIR.finditer(match.string, match.start("rest"))]
    return ends[-1] if ends else match.end()


def _pairs(text: str) -> Values:
    """What the postfix of a bar says; its own count is better than a step printed in three digits."""
    if not text:
        return {}
    printed = {normalise(key.rpartition("|")[2].lstrip(",[ ")): number for key, number in _PAIR.findall(text)}
    values: Values = {}
    loss = loss_key("loss_running" if name == "loss" and "reduced_train_loss" in printed else name for name in printed)
    for name, token in printed.items():
        value = parse_number(token)
        if value is None:
            continue
        if name == loss:
            values["loss"] = value
            continue
        known = field_of(name)
        if known is not None and known[0] not in ("step", "epoch", "step_in_epoch"):
            values[known[0]] = value * known[1]
    return values
