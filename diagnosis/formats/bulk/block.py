"""Many step lines of one process in a row, as columns."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diagnosis.formats import drafts
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.observations import Evidence, Origin, StepKind, StepSample

Whole = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class StepBlock:
    """What `LogReader` would have said in as many `StepSample`s, one after the other.

    All lines carry the same metrics and come from the same process; steps never go back.
    """

    file: str
    origin: Origin
    step_kind: StepKind
    steps: Whole
    loss: Floats | None
    grad_norm: Floats | None
    lr: Floats | None
    times: Floats | None
    fields: Mapping[str, Floats]
    lines: Whole
    offsets: Whole
    printed: Callable[[int], str]
    """The line of a point as it was printed."""
    _made: dict[int, StepSample] = field(default_factory=dict)

    @classmethod
    def of(  # noqa: PLR0917 - the fields in their order
        cls,
        file: str,
        origin: Origin,
        kind: StepKind,
        steps: Whole,
        columns: dict[str, Floats],
        times: Floats | None,
        lines: Whole,
        offsets: Whole,
        printed: Callable[[int], str],
    ) -> "StepBlock":
        """A block of columns by our names."""
        loss, norm, lr = (columns.pop(name, None) for name in ("loss", "grad_norm", "lr"))
        return cls(file, origin, kind, steps, loss, norm, lr, times, columns, lines, offsets, printed)

    def __len__(self) -> int:
        return len(self.steps)

    def sample(self, place: int) -> StepSample:
        """One of its points as an observation; the same object each time it is asked for."""
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = self._make(place)
        return made

    def evidence(self, place: int) -> Evidence:
        """The line of one of its points."""
        text = self.printed(place)[:MAX_EVIDENCE]
        return drafts.evidence(self.file, int(self.lines[place]), text, int(self.offsets[place]))

    def samples(self, start: int = 0, stop: int | None = None) -> Iterator[StepSample]:
        """Its points as observations, in order."""
        for place in range(start, len(self) if stop is None else stop):
            yield self.sample(place)

    def _make(self, place: int) -> StepSample:
        return drafts.step_sample(
            self.origin,
            int(self.steps[place]),
            self.step_kind,
            _at(self.loss, place),
            self.evidence(place),
            _at(self.grad_norm, place),
            _at(self.lr, place),
            _at(self.times, place),
            None,
            {name: float(column[place]) for name, column in self.fields.items()},
        )


def _at(column: Floats | None, place: int) -> float | None:
    return None if column is None else float(column[place])
