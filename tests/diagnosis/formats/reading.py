"""Reads text in tests as a watcher would, and looks at what came out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnosis.formats import LogReader, ReadSettings
from diagnosis.observations import AttemptMark, Observation, OptimizerSkip, Origin, Phase, PhaseMark, StepSample

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"


def read(text: str | bytes, *, settings: ReadSettings | None = None, origin: Origin | None = None) -> list[Observation]:
    """All observations of a whole log."""
    return reader_of(text, settings=settings, origin=origin)[1]


def reader_of(
    text: str | bytes,
    *,
    file: str = "train.log",
    settings: ReadSettings | None = None,
    origin: Origin | None = None,
    chunk: int = 0,
) -> tuple[LogReader, list[Observation]]:
    """The reader after a whole log, and its observations."""
    data = text.encode() if isinstance(text, str) else text
    reader = LogReader(file, origin or Origin(run="run"), settings=settings)
    seen: list[Observation] = []
    size = chunk or max(1, len(data))
    for start in range(0, len(data), size):
        seen += reader.feed(data[start : start + size])
    return reader, seen + reader.close()


def samples(seen: Sequence[Observation]) -> list[StepSample]:
    """Step samples that are no evaluation's."""
    return [one for one in seen if isinstance(one, StepSample) and "eval_loss" not in one.fields]


def losses(seen: Sequence[Observation]) -> list[tuple[int | None, float]]:
    """(step, loss) of every training loss."""
    return [(one.step, one.loss) for one in samples(seen) if one.loss is not None]


def eval_losses(seen: Sequence[Observation]) -> list[tuple[int | None, float]]:
    """(step, loss) of every evaluation."""
    return [
        (one.step, one.fields["eval_loss"]) for one in seen if isinstance(one, StepSample) and "eval_loss" in one.fields
    ]


def phases(seen: Sequence[Observation]) -> list[tuple[Phase, bool]]:
    """(phase, begins) of every phase mark."""
    return [(one.phase, one.begins) for one in seen if isinstance(one, PhaseMark)]


def skips(seen: Sequence[Observation]) -> list[OptimizerSkip]:
    """Skipped optimizer steps."""
    return [one for one in seen if isinstance(one, OptimizerSkip)]


def attempts(seen: Sequence[Observation]) -> list[AttemptMark]:
    """Marks of new attempts."""
    return [one for one in seen if isinstance(one, AttemptMark)]


def facts(sample: StepSample) -> dict[str, Any]:
    """Everything a sample says, flat, without what is not known."""
    said = {
        "step": sample.step,
        "loss": sample.loss,
        "grad_norm": sample.grad_norm,
        "lr": sample.lr,
        "time": sample.time,
        "rank": sample.origin.rank,
        "local_rank": sample.origin.local_rank,
        "node": sample.origin.node,
        **sample.fields,
    }
    return {name: value for name, value in said.items() if value is not None}
