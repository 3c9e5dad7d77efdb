r"""Reads a Trainer's bars and dicts many lines at once, for processes that print faster than line by line is cheap.

`\r 1%| | 9/900 […]\r 1%| | 10/900 […]\r      \r{'loss': 2.1, …}` is taken where it can only mean one thing: the bar
counts up, nothing waits, and each dict fits the bar in front of it and the interval that is known. Whatever else a line
is takes the common way, and so does the last line of a stretch: it leaves the bar and the newest dict as they would be.
"""
# ruff: noqa: SLF001 - moves the same bars and implied steps as the reader of single lines

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.formats.memory import Memory
from diagnosis.formats.sampling import BAR, Sampler
from diagnosis.formats.shapes import Columns, Shape, Shapes
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.formats.stretching import is_flat_dict
from diagnosis.formats.woven import Place, Redraws, RewrittenLines, WovenStretch
from diagnosis.observations import Origin

FEWEST = 8
MOST = 1024
_BAR = re.compile(
    rb" *\d{1,3}%\|[^|\[%]*\| *(?P<n>\d{1,12})/(?P<total>\d{1,12}) "
    rb"\[(?P<elapsed>(?:\d+:)?\d{1,9}:\d\d)<[\d:]+, *"
    rb"(?P<rate>\d+\.\d\d) ?(?P<unit>it/s|s/it)\] *"
)


def is_calm(memory: Memory, stream: Stream) -> bool:
    """Nothing waits, and the bar of the training is known."""
    bars, implied = stream.bars, stream.implied
    return (
        memory.settings.pattern is None
        and not memory.is_full
        and stream.attempt == memory.attempt
        and stream.paired is None
        and stream.echoed is None
        and not stream.called_back
        and bars.pending is None
        and bars.phase is None
        and not bars.is_over
        and bars._total is not None
        and bars._last is not None
        and bars._last[1] is None
        and not implied.waiting
        and not implied._is_burst
        and implied.interval is not None
        and implied._last is not None
        and implied._start is not None
        and implied.bar is not None
    )


@dataclass(slots=True)
class _Draft:
    """What has been read of some lines; of redraws only those that tell a new count, each as it was drawn last."""

    total: bytes
    newest: int
    """The newest count."""
    known: int
    """The newest count of the lines before the one that is read."""
    drawn: bytes = b""
    """The newest redraw."""
    dicts: list["re.Match[str]"] = field(default_factory=list)
    of_dicts: list[Place] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    bars: list["re.Match[bytes]"] = field(default_factory=list)
    of_bars: list[Place] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    """How many redraws come before each dict."""

    def take_redraws(self, line: int, parts: Sequence[bytes]) -> bool:
        """Take what stands in front of a dict; False where the bar goes back, or something else stands there."""
        begun, start = len(self.counts), 0
        for part in parts:
            end = start + len(part)
            is_again = part == self.drawn and len(self.counts) == begun
            if part and not is_again and not part.isspace():
                match = _BAR.fullmatch(part)
                if match is None:
                    return False
                told, total, rate = match.group(1, 2, 4)
                count = int(told)
                if total != self.total or count < self.newest or not rate.strip(b"0."):
                    return False
                if count == self.newest and len(self.counts) > begun:
                    del self.counts[-1], self.bars[-1], self.of_bars[-1]
                if count != self.known:
                    self.counts.append(count)
                    self.bars.append(match)
                    self.of_bars.append((line, start, end))
                self.newest, self.drawn = count, part
            start = end + 1
        return True


class Weaver:
    """Finds what can be woven among the lines of one source."""

    def __init__(self, origin: Origin, memory: Memory, shapes: Shapes, sampler: Sampler) -> None:
        self._origin = origin
        self._memory = memory
        self._shapes = shapes
        self._sampler = sampler
        self._shape: Shape | None = None
        self._is_flat = False

    def take(self, raws: Sequence[bytes], first: int, number: int, offsets: Sequence[int]) -> WovenStretch | None:
        """The stretch that begins with this line; None: the line is to be read by itself.

        `raws` are lines without their ends; `number` is that of the first of them, `offsets` are their places.
        """
        shape, stream = self._known_shape(), self._memory.streams.get(id(self._origin))
        if shape is None or stream is None or len(raws) - first <= FEWEST or not is_calm(self._memory, stream):
            return None
        bar, told = (self._sampler.counter_of(self._origin, name) for name in (BAR, DICT.name))
        if bar is None or told is None or not _go_on_alike(bar, told, stream, has_epoch=_has_epoch(shape)):
            return None
        draft = self._read(raws, first, shape, stream)
        count = len(draft.dicts) - 1  # the last one takes the common way
        columns = shape.columns(draft.dicts[:count]) if count >= FEWEST else None
        if columns is None:
            return None
        lines = RewrittenLines(
            self._memory.file, number + first, raws[first : first + count], offsets[first : first + count]
        )
        return self._made(draft, columns, lines, stream, (bar, told))

    def _known_shape(self) -> Shape | None:
        """The newest shape, if it is that of a dict of which something else tells the step."""
        shape = self._shapes.known[0] if self._shapes.known else None
        if shape is not self._shape:
            self._shape, self._is_flat = shape, shape is not None and is_flat_dict(shape)
        return shape if self._is_flat else None

    def _read(self, raws: Sequence[bytes], first: int, shape: Shape, stream: Stream) -> _Draft:
        """As many lines as do nothing but go on."""
        implied, last = stream.implied, stream.bars._last
        assert implied._last is not None
        assert implied.interval is not None
        assert last is not None
        draft = _Draft(b"%d" % (stream.bars._total or 0), last[0], last[0])
        expected, match = implied._last, shape.match
        for line in range(min(len(raws) - first, MOST)):
            raw = raws[first + line]
            *parts, said = raw.split(b"\r")
            if not parts or parts[0] or len(raw) > MAX_EVIDENCE or said[:1] != b"{":
                break
            read = match(said.decode("utf-8", "replace"))
            expected += implied.interval
            if read is None or not draft.take_redraws(line, parts) or draft.newest != expected:
                break
            if expected == draft.known:
                break
            draft.known = expected
            draft.before.append(len(draft.counts))
            draft.dicts.append(read)
            draft.of_dicts.append((line, len(raw) - len(said), len(raw)))
        return draft

    def _made(
        self,
        draft: _Draft,
        columns: Columns,
        lines: RewrittenLines,
        stream: Stream,
        counters: tuple[Steps, Steps],
    ) -> WovenStretch | None:
        """Take these lines, and leave everything as it would be after each of them."""
        memory, implied, bars, (bar, told) = self._memory, stream.implied, stream.bars, counters
        count = len(lines.raws)
        drawn = draft.before[count - 1]
        steps = bar.rise(list(map(float, draft.counts[:drawn])), within_epochs=True)
        if len(steps) < drawn or steps[0] <= (bar.last or 0):
            return None
        of_dicts = [steps[place - 1] for place in draft.before[:count]]
        epochs = columns.values.get("epoch")
        newest = draft.counts[drawn - 1]
        redraws = Redraws(self._origin, steps, draft.bars[:drawn], lines, draft.of_bars[:drawn], seen_at=memory.seen_at)
        bar.take_rise([bar.last or 0, *steps], bar._epoch)
        told.take_rise(of_dicts, epochs[-1] if epochs is not None else columns.constants.get("epoch"))
        told.losses += count
        kept = stream.recent.maxlen or 0
        for place in range(max(0, count - kept), count):
            stream.remember(draft.dicts[place].string, lines.first + place)
        bars._last = (newest, None)
        implied._last = implied.bar = newest
        implied._position += count
        return WovenStretch(
            lines,
            redraws,
            draft.before[:count],
            draft.of_dicts[:count],
            origin=self._origin,
            steps=of_dicts,
            columns=columns.values,
            constants=columns.constants,
            seen_at=memory.seen_at,
        )


def _go_on_alike(bar: Steps, told: Steps, stream: Stream, *, has_epoch: bool) -> bool:
    """Both counters count alike, and neither of them goes back."""
    implied, bars = stream.implied, stream.bars
    assert implied._last is not None
    assert implied.interval is not None
    if bar.last is None or told.last is None or bar._epoch != float(bars._lap):
        return False
    offset = told._offset if has_epoch else 0
    first = implied._last + implied.interval
    return bar._offset == offset and first >= told._within and first + offset > told.last and bar.last <= first + offset


def _has_epoch(shape: Shape) -> bool:
    return "epoch" in shape.names or "epoch" in shape.constants
