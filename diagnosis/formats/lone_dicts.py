"""Dicts of Hugging Face's Trainer in a log without its bar, many at once: they get the steps `ImpliedSteps` would give.

Each of them is told at once where nothing else can be expected to tell its step: by the interval where somebody has
told it, else by its place.
"""
# ruff: noqa: SLF001 - asks the same counters as the sampler of single lines

from diagnosis.formats import echoes
from diagnosis.formats.line_format import Values
from diagnosis.formats.memory import Memory
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.observations import StepKind


def steps_of(
    count: int, memory: Memory, stream: Stream, counter: Steps | None, *, has_epoch: bool
) -> tuple[range, StepKind] | None:
    """The steps of the next so many dicts, which do nothing but go on; None: they are to be read one by one."""
    told, last = stream.implied.tells_at_once, None if counter is None else counter.last
    is_calm = (
        memory.settings.pattern is None
        and not memory.is_full
        and stream.attempt == memory.attempt
        and stream.paired is None
        and stream.echoed is None
        and not stream.called_back
        and stream.bars.pending is None
        and not stream.bars.is_summed_up
    )
    if told is None or not is_calm or counter is None or last is None:
        return None
    step, apart, kind = told
    first = step + counter._offset if has_epoch else step
    return (range(first, first + apart * count, apart), kind) if step >= counter._within and first >= last else None


def take(count: int, stream: Stream, newest: Values) -> None:
    """Leave the stream as it would be after each of so many; `newest` is what the last one says."""
    stream.implied.take_told(count)
    stream.told = echoes.told_by(newest)
