"""What the reader remembers of one stream of lines: one rank's output, or a whole file without rank tags."""

from collections import deque
from collections.abc import Sequence

from diagnosis.formats.bars import Bars
from diagnosis.formats.dialects import RECORDS
from diagnosis.formats.echoes import KEPT_CALLBACKS, Call
from diagnosis.formats.implied_steps import ImpliedSteps
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Values
from diagnosis.formats.record import Record, Step
from diagnosis.observations import Origin

_KEPT_CHARACTERS = 500


class Stream:
    """Everything that goes on from line to line."""

    __slots__ = (
        "_records",
        "attempt",
        "bars",
        "called_back",
        "echoed",
        "implied",
        "open",
        "origin",
        "paired",
        "recent",
        "told",
    )

    def __init__(self, origin: Origin, interval: int | None, recent: int) -> None:
        self.origin = origin
        self.bars = Bars()
        self.implied = ImpliedSteps()
        if interval is not None:
            self.implied.tell_interval(interval)
        self.open: list[Record] = []
        """Records that have begun and are not complete."""
        self.paired: Step | None = None
        """A step that the next line may tell again, with more digits."""
        self.echoed: Step | None = None
        """A dict that a logger has printed and the trainer may print again."""
        self.told: Values | None = None
        """What the newest dict of the trainer itself told, for an echo that comes after it."""
        self.called_back: deque[Call] = deque(maxlen=KEPT_CALLBACKS)
        """Lines that told step and loss and that no dict of the trainer has told again."""
        self.recent: deque[tuple[int | None, str]] = deque(maxlen=recent)
        """Its last lines, each with its number where that is known."""
        self.attempt = 0
        self._records: tuple[Record, ...] | None = None

    def remember(self, printed: str, number: int | None = None) -> None:
        """Keep the line among the last ones, for evidence."""
        self.recent.append((number, printed if len(printed) <= _KEPT_CHARACTERS else printed[:_KEPT_CHARACTERS]))

    def hear_calls(self, steps: Sequence[int], losses: Sequence[float]) -> None:
        """Lines that told step and loss, each a point; of many, the last ones are enough."""
        self.called_back.extend(Call(step, loss, is_point=True) for step, loss in zip(steps, losses, strict=True))

    def restart(self, attempt: int) -> None:
        """A new attempt begins."""
        self.attempt = attempt
        self.called_back.clear()
        self.bars.restart()
        self.implied.restart()

    def read_record(self, line: Line, done: list[Step], *, may_open: bool) -> bool:
        """Give a line to the open records, then to those it may open; True when one took it."""
        for record in tuple(self.open):
            taken = record.read(line, done)
            if not record.is_open:
                self.open.remove(record)
            if taken:
                return True
        if not may_open:
            return False
        if self._records is None:
            self._records = tuple(make() for make in RECORDS)
        for record in self._records:
            if record not in self.open and record.read(line, done):
                if record.is_open:
                    self.open.append(record)
                return True
        return False

    def flush_records(self, done: list[Step]) -> None:
        """Nothing more comes: complete what is open."""
        for record in self.open:
            record.flush(done)
        self.open = [record for record in self.open if record.is_open]

    def held(self) -> list[Line]:
        """First lines of everything that still waits."""
        held = [waiting.line for waiting in self.implied.waiting[:1]]
        held += [line for record in self.open if (line := record.held) is not None]
        if self.bars.held is not None:
            held.append(self.bars.held)
        held += [one.line for one in (self.paired, self.echoed) if one is not None]
        return held
