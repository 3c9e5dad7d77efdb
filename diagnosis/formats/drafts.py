"""Frozen values made quickly.

A frozen dataclass sets every field through `object.__setattr__`, which costs more than finding the numbers in
a line. A reader makes thousands a second, so it fills a twin with the same slots by plain assignment and then
gives it the frozen class. The result is an ordinary, frozen value; a test compares it with one made slowly.
"""

from collections.abc import Mapping

from diagnosis.observations import Evidence, Origin, StepKind, StepSample


class _EvidenceDraft:
    __slots__ = ("file", "line", "offset", "text")
    file: str
    line: int | None
    text: str
    offset: int | None


class _SampleDraft:
    __slots__ = ("evidence", "fields", "grad_norm", "loss", "lr", "origin", "seen_at", "step", "step_kind", "time")
    evidence: Evidence
    fields: Mapping[str, float]
    grad_norm: float | None
    loss: float | None
    lr: float | None
    origin: Origin
    seen_at: float | None
    step: int | None
    step_kind: StepKind
    time: float | None


def evidence(file: str, line: int, text: str, offset: int) -> Evidence:
    """An `Evidence`."""
    draft = _EvidenceDraft()
    draft.file = file
    draft.line = line
    draft.text = text
    draft.offset = offset
    draft.__class__ = Evidence  # type: ignore[assignment]
    return draft  # type: ignore[return-value]


def step_sample(  # noqa: PLR0917 - the fields of a StepSample in their order; names would cost as much as the values
    origin: Origin,
    step: int | None,
    step_kind: StepKind,
    loss: float | None,
    shown: Evidence,
    grad_norm: float | None,
    lr: float | None,
    time: float | None,
    seen_at: float | None,
    fields: Mapping[str, float],
) -> StepSample:
    """A `StepSample`."""
    draft = _SampleDraft()
    draft.origin = origin
    draft.step = step
    draft.step_kind = step_kind
    draft.loss = loss
    draft.evidence = shown
    draft.grad_norm = grad_norm
    draft.lr = lr
    draft.time = time
    draft.seen_at = seen_at
    draft.fields = fields
    draft.__class__ = StepSample  # type: ignore[assignment]
    return draft  # type: ignore[return-value]
