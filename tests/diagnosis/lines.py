"""Observations by hand: what a reader would have given, without a reader."""

from collections.abc import Iterable, Sequence

from diagnosis.findings import Cleared, Finding, Jump, Verdict
from diagnosis.observations import (
    AttemptMark,
    Category,
    Evidence,
    Observation,
    OptimizerSkip,
    Origin,
    Phase,
    PhaseMark,
    Role,
    StepSample,
    Symptom,
)

NAN = float("nan")
INF = float("inf")
RANK0 = Origin(run="run42", node="node01", rank=0, local_rank=0)
FILE = "train.log"


def rank(number: int) -> Origin:
    """The origin of one rank on the same node."""
    return Origin(run="run42", node="node01", rank=number, local_rank=number)


def evidence(line: int = 1, text: str = "", file: str = FILE) -> Evidence:
    """A line of the log."""
    return Evidence(file, line, text or f"line {line}", offset=line * 100)


def sample(
    step: int | None,
    loss: float | None = None,
    grad_norm: float | None = None,
    lr: float | None = None,
    *,
    origin: Origin = RANK0,
    time: float | None = None,
    file: str = FILE,
    **fields: float,
) -> StepSample:
    """One step line."""
    line = 1 if step is None else step + 1
    kind = "ordinal" if step is None else "printed"
    text = f"step={step} loss={loss} grad_norm={grad_norm} lr={lr}"
    return StepSample(origin, step, kind, loss, evidence(line, text, file), grad_norm, lr, time=time, fields=fields)


def course(
    losses: Sequence[float | None],
    *,
    first: int = 1,
    every: int = 1,
    grad_norm: float | None = None,
    lr: float | None = None,
    seconds: float | None = None,
    origin: Origin = RANK0,
    file: str = FILE,
) -> list[StepSample]:
    """Step lines with these losses, evenly spaced."""
    return [
        sample(
            first + place * every,
            loss,
            grad_norm,
            lr,
            origin=origin,
            file=file,
            time=None if seconds is None else 1_700_000_000.0 + place * seconds,
        )
        for place, loss in enumerate(losses)
    ]


def calm(count: int, *, level: float = 2.3, noise: float = 0.03, seed: int = 1) -> list[float]:
    """Losses that wobble around a level, the same every time."""
    state, told = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        told.append(level + noise * (2.0 * state / 2**31 - 1.0))
    return told


def skip(step: int | None = None, *, scale: float | None = None, origin: Origin = RANK0) -> OptimizerSkip:
    """A printed skip event."""
    return OptimizerSkip(origin, 1, evidence(step or 1, "OVERFLOW! Skipping step"), step, scale)


def saving(step: int, *, time: float | None = None) -> PhaseMark:
    """A checkpoint that was written."""
    return PhaseMark(RANK0, Phase.SAVING, False, evidence(step, "saved checkpoint"), step, time)


def banner(*, origin: Origin = RANK0, file: str = FILE, **environment: str) -> AttemptMark:
    """A line that opens an attempt."""
    return AttemptMark(origin, "banner", evidence(1, "launching", file), environment)


def symptom(
    signature: str = "cuda_oom",
    *,
    role: Role = Role.ROOT,
    category: Category = Category.GPU_OOM,
    origin: Origin = RANK0,
    time: float | None = None,
    file: str = FILE,
    **fields: str,
) -> Symptom:
    """A telling line."""
    return Symptom(origin, signature, role, category, evidence(7, signature, file), fields, time)


class Watching:
    """Feeds something that observes and keeps what it says."""

    def __init__(self, judge: object) -> None:
        self.judge = judge
        self.said: list[Verdict] = []

    def feed(self, *observations: Observation | Iterable[Observation]) -> list[Verdict]:
        """What was said about these observations."""
        new: list[Verdict] = []
        for given in observations:
            for seen in [given] if isinstance(given, Observation) else given:
                new += self.judge.observe(seen)
        self.said += new
        return new


def findings(said: Iterable[Verdict]) -> list[Finding]:
    """Only the findings."""
    return [verdict for verdict in said if isinstance(verdict, Finding)]


def kinds(said: Iterable[Verdict]) -> list[str]:
    """The kinds of the findings."""
    return [finding.kind for finding in findings(said)]


def jumps(said: Iterable[Verdict]) -> list[Jump]:
    """Only the marks."""
    return [verdict for verdict in said if isinstance(verdict, Jump)]


def cleared(said: Iterable[Verdict]) -> list[str]:
    """The kinds that are over."""
    return [verdict.kind for verdict in said if isinstance(verdict, Cleared)]
