"""Findings as watchers send them, and a tracker to receive them."""

from collections.abc import Callable

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Habits, Tracker
from diagnosis.observations import Evidence, Origin

START = 1_000_000.0


@pytest.fixture
def tracker() -> Tracker:
    return Tracker(Habits())


@pytest.fixture
def finding() -> Callable[..., Finding]:
    def make(
        kind: str = "nonfinite_loss",
        *,
        severity: Severity = Severity.CRITICAL,
        run: str = "run42",
        node: str | None = "node17",
        rank: int | None = 3,
        step: int | None = 41_200,
        **more: object,
    ) -> Finding:
        return Finding(
            kind=kind,
            severity=severity,
            origin=Origin(run, node, rank, rank),
            text=f"{kind} at step {step}",
            evidence=(Evidence("train.log", 12, "loss=nan"),),
            step=step,
            **more,  # type: ignore[arg-type]
        )

    return make
