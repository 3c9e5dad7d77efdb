"""What a dialect needs that reads a record over several lines, and what it hands to the reader."""

from dataclasses import dataclass
from typing import Protocol

from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Settle, Values
from diagnosis.observations import StepKind


@dataclass(slots=True)
class Step:
    """A step that a dialect has read whole."""

    values: Values
    line: Line
    """The line that is shown as evidence."""
    name: str
    kind: StepKind = "printed"
    settle: Settle | None = None


class Record(Protocol):
    """Reads records of several lines in one stream. One object per stream."""

    name: str

    def read(self, line: Line, done: list[Step]) -> bool:
        """Take a line, adding to `done` the steps it completes; False when the line itself is none of ours."""

    def flush(self, done: list[Step]) -> None:
        """Add what an open record holds: nothing more comes."""

    @property
    def is_open(self) -> bool:
        """True when the next line may belong to it."""

    @property
    def held(self) -> Line | None:
        """The first line whose step is not given out yet; a bookmark must not stand behind it."""
