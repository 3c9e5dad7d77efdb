"""Reads many lines that look alike at once, for processes that print faster than line by line is cheap.

What a line means does not change: it must wear the envelopes of the line before it, fit the newest shape and
carry the next step of a counter that is known, or be a Trainer's dict whose step is known at once. Whatever else a
line is or does, the common way reads it.
"""

from collections.abc import Sequence
from itertools import takewhile

from diagnosis.formats import lone_dicts
from diagnosis.formats.dialects import GENERAL
from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.echoes import KEPT_CALLBACKS
from diagnosis.formats.fields import METRICS
from diagnosis.formats.line_format import Without
from diagnosis.formats.memory import Memory
from diagnosis.formats.sampling import PAIRED, Sampler
from diagnosis.formats.shapes import Columns, Shape, Shapes
from diagnosis.formats.splitter import Lines
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.formats.stretch import Stretch
from diagnosis.formats.timestamps import Clock
from diagnosis.formats.unwrapping import Alike, Unwrapper
from diagnosis.observations import Origin, StepKind

FEWEST = 8
"""Fewer lines in a row are not worth it."""
MOST = 1024
_GROWTH = 4
"""The first try looks at the fewest lines, the next one at so many times more: what does not fit shows early."""
COUNTED = frozenset(("step_in_epoch", "steps_per_epoch", "lap", "skipped_total", "eval_loss"))
"""Numbers that change what a line is; such lines are read one by one."""
_ALONE = frozenset((*METRICS, "unix_time"))
"""Numbers that are never the same on all lines."""


class Stretcher:
    """Finds stretches among the lines of one source."""

    def __init__(self, memory: Memory, unwrapper: Unwrapper, shapes: Shapes, sampler: Sampler) -> None:
        self._memory = memory
        self._unwrapper = unwrapper
        self._shapes = shapes
        self._sampler = sampler
        self._size = FEWEST
        self._shape: Shape | None = None
        self._is_simple = self._is_dict = False

    def take(self, lines: Lines, first: int) -> Stretch | None:
        """The stretch that begins with this line, at most `MOST` long; None: the line is to be read by itself."""
        size, self._size = self._size, FEWEST
        wanted = lines.texts[first : first + size]
        shape = self._shapes.known[0] if self._shapes.known else None
        if shape is not self._shape:
            self._shape, self._is_simple = shape, shape is not None and _is_simple(shape)
            self._is_dict = shape is not None and is_flat_dict(shape)
        if shape is None or not (self._is_simple or self._is_dict) or len(wanted) < FEWEST:
            return None
        alike = self._unwrapper.unwrap_alike(wanted)
        matches = list(takewhile(bool, map(shape.match, alike.texts)))
        if len(matches) < FEWEST:
            return None
        stretch = self._made(lines, first, shape, alike, shape.columns(matches))  # type: ignore[arg-type]
        if stretch is not None and len(stretch) == len(wanted):
            self._size = min(max(size, _GROWTH * len(wanted)), MOST)
        return stretch

    def _made(self, lines: Lines, first: int, shape: Shape, alike: Alike, columns: Columns | None) -> Stretch | None:
        """Take the lines as far as their steps rise, and leave everything as it would be after each of them."""
        memory, stream = self._memory, self._memory.streams.get(id(alike.stream))
        if columns is None or stream is None or stream.bars.pending is not None or stream.paired is not None:
            return None
        values, constants, printed_times, ranks = columns
        origin = _of_rank(memory, alike.origin, ranks)
        counter = self._sampler.counter_of(origin, shape.name) if origin is not None else None
        if origin is None or counter is None or _has_void(shape, values):
            return None
        steps, kind = self._steps(shape, columns, stream, counter, has_time=bool(alike.stamps))
        count = len(steps)
        if count < FEWEST:
            return None
        if count < len(lines.texts):
            values = {name: column[:count] for name, column in values.items()}
        newest = {**{name: column[-1] for name, column in values.items()}, **constants}
        if self._is_dict:
            lone_dicts.take(count, stream, newest)
        counter.take_rise(steps, newest.get("epoch"))
        counter.losses += count if "loss" in values else 0
        memory.has_sampled = True
        self._unwrapper.count_alike(count)
        printed = lines.printed[first : first + count]
        kept = min(count, stream.recent.maxlen or 0)
        for place in range(count - kept, count):
            stream.remember(printed[place], lines.number + first + place)
        if shape.name == GENERAL.name and "loss" in values:
            stream.hear_calls(steps[-KEPT_CALLBACKS:], values["loss"][-KEPT_CALLBACKS:])
        told = values.pop("unix_time", None)
        times = _times(memory.clock, count, alike.stamps, printed_times)
        return Stretch(
            memory.file,
            origin,
            kind,
            steps,
            values,
            constants,
            times if told is None else told,
            memory.seen_at,
            lines.number + first,
            lines.offsets[first : first + count],
            printed,
        )

    def _steps(
        self, shape: Shape, columns: Columns, stream: Stream, counter: Steps, *, has_time: bool
    ) -> tuple[list[int], StepKind]:
        """As many steps as do nothing but rise, and what they are; takes the printed ones out of the columns."""
        values, constants, *_ = columns
        has_epoch = "epoch" in values or "epoch" in constants
        if not self._is_dict:
            kind = "printed" if shape.found.kind == "implied" else shape.found.kind
            return counter.rise(values.pop("step"), within_epochs=has_epoch), kind
        count = len(values["loss"])
        told = None if has_time else lone_dicts.steps_of(count, self._memory, stream, counter, has_epoch=has_epoch)
        return (list(told[0]), told[1]) if told is not None else ([], "none")


def is_flat_dict(shape: Shape) -> bool:
    """True when a line of this shape is a Trainer's dict that tells a loss, whatever its numbers are, and no step."""
    names = {*shape.names, *shape.constants}
    return (
        shape.name == DICT.name
        and shape.found.kind == "implied"
        and "loss" in shape.names
        and not shape.tells_more
        and names.isdisjoint((*COUNTED, "step", "policy_loss", "episode", "unix_time"))
    )


def _is_simple(shape: Shape) -> bool:
    """True when a line of this shape is a step for itself, whatever its numbers are."""
    settle = shape.found.settle
    return (
        "step" in shape.names
        and shape.name != PAIRED
        and COUNTED.isdisjoint((*shape.names, *shape.constants))
        and _ALONE.isdisjoint(shape.constants)
        and (settle is None or isinstance(settle, Without))
    )


def _of_rank(memory: Memory, origin: Origin, ranks: Sequence[str]) -> Origin | None:
    """The origin with the rank that all lines name; None when they name several."""
    if not ranks:
        return origin
    return memory.with_rank(origin, ranks[0]) if ranks.count(ranks[0]) == len(ranks) else None


def _has_void(shape: Shape, values: dict[str, list[float]]) -> bool:
    """True when one of the numbers means that nothing was measured."""
    settle = shape.found.settle
    return isinstance(settle, Without) and settle.value in values.get(settle.name, ())


def _times(clock: Clock, count: int, outside: Sequence[str | None], inside: Sequence[str]) -> Sequence[float | None]:
    """When each line was printed, read in the order in which they stand there."""
    times: list[float | None] = []
    if outside and inside:
        for envelope, stamp in zip(outside[:count], inside, strict=False):
            if envelope is not None:
                clock.read(envelope)
            times.append(clock.read(stamp))
        return times
    told = (outside or inside)[:count]
    if None in told:
        return [None if stamp is None else clock.read(stamp) for stamp in told]
    return clock.read_all(told) or [None] * count  # type: ignore[arg-type]
