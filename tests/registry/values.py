"""Findings, samples and evidence for tests, each with the few parts that matter spelled out."""

import math
import struct
from collections.abc import Iterable

from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin, StepSample

RUN = "run42"


def finding(offset: int = 0, *, kind: str = "nonfinite_loss", run: str = RUN, node: str = "node1") -> Finding:
    return Finding(
        kind,
        Severity.CRITICAL,
        Origin(run, node, 3, 3),
        "loss is NaN",
        evidence=(Evidence("/logs/rank3.log", None, "step=7 loss=nan", offset),),
        step=7,
        seen_at=1_700_000_000.0,
    )


def sample(
    step: int | None,
    loss: float | None,
    *,
    grad_norm: float | None = None,
    lr: float | None = None,
    time: float | None = None,
) -> StepSample:
    return StepSample(
        Origin(RUN, "node1", 0, 0),
        step,
        "printed" if step is not None else "none",
        loss,
        Evidence("/logs/rank0.log", step, f"step={step} loss={loss}"),
        grad_norm=grad_norm,
        lr=lr,
        time=time,
    )


def samples(losses: Iterable[float], first: int = 0) -> list[StepSample]:
    return [sample(first + at, loss, time=1.7e9 + first + at) for at, loss in enumerate(losses)]


def f32(value: float) -> float:
    """The nearest 32-bit float."""
    return value if not math.isfinite(value) else struct.unpack("<f", struct.pack("<f", value))[0]
