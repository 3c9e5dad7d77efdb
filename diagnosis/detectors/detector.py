"""What every detector has in common: it observes, and it says what it concludes."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol, runtime_checkable

from diagnosis.detectors.block import Block
from diagnosis.findings import Cleared, Finding, Severity, Verdict
from diagnosis.formats.stretch import Point, Stretch
from diagnosis.observations import Evidence, Observation, OptimizerSkip, StepSample
from diagnosis.thresholds import Thresholds

QUIET: tuple[Verdict, ...] = ()
"""What a detector says nearly always."""


Seen = Observation | Block
"""What a detector can ask for."""

Scope = Literal["rank", "series", "run"]
"""One detector for each rank; for each series of numbers (ranks that print the same share one); for the run."""


class Detector(Protocol):
    """One kind of trouble in one attempt; a new attempt gets a new detector, so no baseline survives it."""

    kind: ClassVar[str]
    """The documented name of its main finding."""
    watches: ClassVar[tuple[type, ...]]
    """The observations it wants; it gets no others."""
    scope: ClassVar[Scope]

    def __init__(self, thresholds: Thresholds) -> None: ...

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Take one observation in the order of the log and say what it shows."""
        ...


@runtime_checkable
class Passer(Protocol):
    """A detector that can let many points of a stretch pass at once, because it would say nothing about them.

    It is asked about finite points only, each with a loss and a step.
    """

    def calm_until(self, stretch: Stretch, at: int, stop: int) -> int:
        """Up to where `observe` is sure to be quiet, from the point `at` on; changes nothing."""
        ...

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Remember of these points what `observe` would: they are calm."""
        ...


@runtime_checkable
class Counter(Protocol):
    """A passer to whom step lines without any numbers matter, too, whichever rank tells them."""

    def pass_between(self, stretch: Stretch, at: int, stop: int) -> None:
        """Remember what stands between some points, without the points."""
        ...


@runtime_checkable
class Forgetful(Protocol):
    """A detector that says a thing once, and again after it was over."""

    def forget(self, finding: Finding) -> None:
        """What it said is over: the next time it is news."""
        ...


def found(
    kind: str,
    severity: Severity,
    seen: StepSample | OptimizerSkip,
    text: str,
    *,
    rule: str,
    details: Mapping[str, str] | None = None,
    last_good_step: int | None = None,
    also: tuple[Evidence, ...] = (),
) -> Finding:
    """A finding about the moment of `seen`, with its line as the first evidence."""
    return Finding(
        kind=kind,
        severity=severity,
        origin=seen.origin,
        text=text,
        evidence=(seen.evidence, *also),
        step=seen.step,
        last_good_step=last_good_step,
        time=seen.time,
        seen_at=seen.seen_at,
        rule=rule,
        details=details or {},
    )


def over(kind: str, seen: StepSample | Point, text: str) -> Cleared:
    """What a finding of this kind said is over at the moment of `seen`."""
    return Cleared(kind, seen.origin, text, seen.step, seen.time, seen.seen_at)
