"""Dicts of Hugging Face's Trainer in a log without its bar: many at once, their steps given as `ImpliedSteps` would."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from diagnosis.formats import lone_dicts
from diagnosis.formats.bulk.block import StepBlock, Whole
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.line import Line
from diagnosis.formats.memory import Memory
from diagnosis.formats.sampling import Sampler
from diagnosis.formats.stream import Stream


@dataclass(frozen=True, slots=True)
class DictRows:
    """Lines in a row that are dicts with the same keys."""

    before: Line
    """The line just in front of them, which is one of their kind."""
    columns: Mapping[str, Floats]
    number: int
    """The first one's place in the file, in lines."""
    offsets: Whole
    printed: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.offsets)


def block_of(rows: DictRows, memory: Memory, sampler: Sampler, stream: Stream) -> StepBlock | None:
    """Those dicts with their steps, and everything left as it would be after each of them.

    None, and nothing is changed, where something else may be told of them than that they go on.
    """
    before, columns, count = rows.before, dict(rows.columns), len(rows)
    counter = sampler.counter_of(before.origin, DICT.name)
    if before.text[:1] != "{" or before.time is not None:
        return None
    told = lone_dicts.steps_of(count, memory, stream, counter, has_epoch="epoch" in columns)
    if told is None or counter is None:
        return None
    steps, kind = told
    newest = {name: float(column[-1]) for name, column in columns.items()}
    lone_dicts.take(count, stream, newest)
    counter.take_rise(steps, newest.get("epoch"))
    counter.losses += count if "loss" in columns else 0
    for place in range(max(0, count - (stream.recent.maxlen or 0)), count):
        stream.remember(rows.printed(place), rows.number + place)
    return StepBlock.of(
        memory.file,
        before.origin,
        kind,
        np.arange(steps.start, steps.stop, steps.step),
        columns,
        None,
        rows.number + np.arange(count),
        rows.offsets,
        rows.printed,
    )
