"""The first picture of a log that nobody watched: windows of it, spread over the whole file, read in about a second.

What lies between the windows is not seen, and the picture says so; reading the whole file fills it in exactly.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.bulk_reading import CurveTwin
from bot.curve import Curve
from bot.opening import lies_plain
from diagnosis.errors import Mistake
from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.judging.absorbing import Absorber
from diagnosis.formats.bulk.reader import BulkReader, Item
from diagnosis.formats.bulk.weaving import Woven
from diagnosis.formats.settings import ReadSettings
from diagnosis.formats.source_name import origin_of
from diagnosis.observations import StepSample
from diagnosis.series import RunSeries

WINDOW = 32 << 10
MOST_WINDOWS = 512
SECONDS = 0.5
"""How long the windows may take; a log whose lines are slow to read gets fewer of them."""
HEAD = 256 << 10


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What the windows show."""

    series: RunSeries
    points: int
    """Loss points in the windows."""
    windows: int
    bytes_read: int
    size: int
    dialect: str | None

    @property
    def is_whole(self) -> bool:
        """The file is so small that nothing was left out."""
        return self.bytes_read >= self.size


class _Drawing:
    """A curve of what the windows say."""

    def __init__(self) -> None:
        self.curve = Curve()
        self.points = 0
        self._absorber = Absorber([CurveTwin(self.curve)], self._take)

    def draw(self, items: Sequence[Item]) -> None:
        for told in items:
            item = told.dicts if isinstance(told, Woven) else told  # a bar without a loss draws nothing
            if isinstance(item, StepBlock):
                self.points += len(item) if item.loss is not None else 0
                self._absorber.absorb(item)
            elif isinstance(item, StepSample):
                self.points += item.loss is not None
                self._take(item)

    def _take(self, sample: StepSample) -> None:
        self.curve.take(sample)


def first_look(
    path: Path,
    *,
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.perf_counter,
    settings: ReadSettings | None = None,
) -> FirstLook:
    """Read windows of a log.

    Raises:
        Mistake: The file is packed: it can only be read from its beginning.
    """
    if not lies_plain(path):
        raise Mistake(f"{path} is packed, or not UTF-8, and can only be read whole: leave out --sample.")
    reader = BulkReader(path.name, origin_of(path.name), settings=settings)
    drawing = _Drawing()
    size = path.stat().st_size
    read = windows = 0
    with path.open("rb") as file:
        head = _whole_lines(os.pread(file.fileno(), HEAD, 0), size <= HEAD)
        drawing.draw(reader.read(head))
        read += len(head)
        began = clock()
        place = len(head)
        while place < size:
            start = place
            window = os.pread(file.fileno(), WINDOW, start)
            first = 0 if start == len(head) else window.find(b"\n") + 1
            lines = _whole_lines(window[first:], start + WINDOW >= size)
            drawing.draw(reader.read(lines))
            read += len(lines)
            windows += 1
            place = _next(start + WINDOW, size, windows, clock() - began, seconds)
    drawing.draw(reader.finish())
    series = drawing.curve.thinner.series()
    series.run, series.is_sampled = path.name, read < size
    return FirstLook(series, drawing.points, windows, read, size, reader.dialect)


def _next(after: int, size: int, windows: int, spent: float, seconds: float) -> int:
    """Where the next window begins: as many more as the time allows at equal distances, the last one at the end."""
    last = size - WINDOW
    if after >= last:
        return max(after, last) if after < size else size
    left = min(MOST_WINDOWS - windows, int((seconds - spent) * windows / max(spent, 1e-9)))
    return last if left < 1 else max(after, min(last, after + (last - after) // left))


def _whole_lines(data: bytes, is_end: bool) -> bytes:
    """Up to the last line end: a value that is cut still looks like one."""
    return data if is_end else data[: data.rfind(b"\n") + 1]
