"""Dicts of Hugging Face's Trainer in a log without its bar: many at once, their steps given as `ImpliedSteps` would.

Such a dict waits until so many wait that nothing else can be expected to tell their steps; then all of them get theirs
together, by the interval where that is known and by their place where it is not.
"""
# ruff: noqa: SLF001 - moves the same implied steps and counters as the reader of single lines

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from diagnosis.formats import echoes
from diagnosis.formats.bulk.block import StepBlock, Whole
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.moving import move
from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.implied_steps import MOST_WAITING, ImpliedSteps, Waiting
from diagnosis.formats.line import Line
from diagnosis.formats.memory import Memory
from diagnosis.formats.sampling import Sampler
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.observations import StepKind


@dataclass(frozen=True, slots=True)
class DictRows:
    """Lines in a row that are dicts with the same keys."""

    before: Line
    """The line just in front of them, which is one of their kind."""
    columns: Mapping[str, Floats]
    number: int
    """The first one's place in the file, in lines."""
    offsets: Whole
    raw: Callable[[int], bytes]

    def __len__(self) -> int:
        return len(self.offsets)

    def line(self, place: int) -> Line:
        """One of them as the reader would leave it."""
        printed, before = self.raw(place).decode("utf-8", "replace"), self.before
        line = Line(printed, self.number + place, int(self.offsets[place]), b"", before.origin)
        line.stream = before.stream
        return line

    def values(self, place: int) -> dict[str, float]:
        """The numbers of one."""
        return {name: float(column[place]) for name, column in self.columns.items()}


class Dicts:
    """Some dicts, and those that wait in front of them."""

    def __init__(self, memory: Memory, sampler: Sampler, stream: Stream, rows: DictRows) -> None:
        self._memory = memory
        self._stream = stream
        self._rows = rows
        self._waiting = stream.implied.waiting
        self._counter = sampler.counter_of(rows.before.origin, DICT.name)

    def can_be_taken(self) -> bool:
        """True when nothing else tells their steps, and each of them does nothing but go on."""
        memory, stream, counter, names = self._memory, self._stream, self._counter, self._rows.columns.keys()
        is_calm = (
            memory.settings.pattern is None
            and not memory.is_full
            and stream.attempt == memory.attempt
            and stream.paired is None
            and stream.echoed is None
            and not stream.called_back
            and stream.bars.pending is None
            and self._rows.before.text[:1] == "{"
            and self._rows.before.time is None
        )
        if not is_calm or counter is None or counter.last is None or _together(stream.implied) == 0:
            return False
        if not all(_is_alike(one, self._rows.before, names) for one in self._waiting):
            return False
        first = int(_steps(stream.implied, 1)[0])
        return first >= counter._within and self._global(first, counter) >= counter.last

    def take(self) -> StepBlock | None:
        """Those whose step is known now, if any; leaves everything as it would be after each of them."""
        stream, rows, held = self._stream, self._rows, len(self._waiting)
        total = held + len(rows)
        done = total - total % _together(stream.implied)
        block = self._block(done) if done else None
        kept = range(max(0, done - held), len(rows))
        left = self._waiting[done:]
        left += [Waiting(rows.values(place), rows.line(place), DICT.name, None) for place in kept]
        stream.implied.waiting = left
        stream.told = echoes.told_by(rows.values(len(rows) - 1))
        for place in range(max(0, len(rows) - (stream.recent.maxlen or 0)), len(rows)):
            stream.remember(rows.raw(place).decode("utf-8", "replace"), rows.number + place)
        return block

    def _block(self, count: int) -> StepBlock:
        """The first `count` of those that wait and of the rows, with their steps."""
        rows, waiting, counter, implied = self._rows, self._waiting[:count], self._counter, self._stream.implied
        assert counter is not None
        new, held = count - len(waiting), len(waiting)
        columns = {
            name: np.concatenate(([one.values[name] for one in waiting], column[:new]))
            for name, column in rows.columns.items()
        }
        steps, kind = _steps(implied, count), _kind(implied)
        if kind == "implied":
            implied._last = int(steps[-1])
        implied._position += count
        if "epoch" in columns:
            counter._epoch, counter._within = float(columns["epoch"][-1]), int(steps[-1])
            steps = steps + counter._offset
        move(counter, steps)
        counter.losses += count if "loss" in columns else 0

        def printed(place: int) -> str:
            return waiting[place].line.printed if place < held else rows.raw(place - held).decode("utf-8", "replace")

        return StepBlock(
            self._memory.file,
            rows.before.origin,
            kind,
            steps,
            columns.pop("loss", None),
            columns.pop("grad_norm", None),
            columns.pop("lr", None),
            None,
            columns,
            np.concatenate(([one.line.number for one in waiting], rows.number + np.arange(new))).astype(np.int64),
            np.concatenate(([one.line.offset for one in waiting], rows.offsets[:new])).astype(np.int64),
            printed,
        )

    def _global(self, step: int, counter: Steps) -> int:
        return step + counter._offset if "epoch" in self._rows.columns else step


def _together(implied: ImpliedSteps) -> int:
    """How many dicts get their steps at once; 0: it hangs on more than that."""
    if implied.bar is not None or implied._is_burst:
        return 0
    if implied._told:
        return 1 if implied._last is not None and not implied.waiting else 0
    if implied.interval is not None:
        return MOST_WAITING if implied._last is not None else 0
    return 0 if implied.total and implied.epochs else MOST_WAITING


def _kind(implied: ImpliedSteps) -> StepKind:
    return "ordinal" if implied.interval is None else "implied"


def _steps(implied: ImpliedSteps, count: int) -> Whole:
    """The steps of so many dicts."""
    apart = np.arange(1, count + 1)
    if implied.interval is None:
        return implied._position + apart
    return (implied._last or 0) + implied.interval * apart


def _is_alike(waiting: Waiting, line: Line, names: AbstractSet[str]) -> bool:
    told = waiting.line
    return (
        waiting.values.keys() == names
        and waiting.name == DICT.name
        and told.origin is line.origin
        and not told.before
        and told.time is None
    )
