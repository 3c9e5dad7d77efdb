"""One picture of a run: how it stands, why, and what every node and rank last said.

The judgement itself is `diagnosis.stall` and `diagnosis.root_cause`; here what the registry and the nodes know is
brought together for them, the same way for the monitor and for `/stall`.
"""

from dataclasses import dataclass, field

from diagnosis.gpu_reading import NodeReading
from diagnosis.observations import GpuSample, Phase, ProcessSample, RankProgress
from diagnosis.root_cause.answer import Diagnosis
from diagnosis.stall import Outcome, Standing, Watched, judge_stall
from diagnosis.thresholds import Thresholds
from registry import Run

OVER = frozenset({"finished", "ended", "crashed", "killed", "preempted"})


@dataclass(frozen=True, slots=True)
class NodeView:
    """What one node's watcher last said."""

    node: str
    age_seconds: float = 0.0
    """How long ago."""
    is_silent: bool = False
    gpus: tuple[GpuSample, ...] = ()
    reading: NodeReading | None = None
    """The GPUs in words."""
    processes: tuple[ProcessSample, ...] = ()
    clock_uncertainty_seconds: float = 0.0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything one look at a run tells."""

    standing: Standing
    diagnosis: Diagnosis | None = None
    """Why it stands still or broke, once its nodes were asked."""
    ranks: tuple[RankProgress, ...] = ()
    nodes: tuple[NodeView, ...] = ()
    blind: tuple[str, ...] = field(default=())
    """What could not be looked at."""

    @property
    def outcome(self) -> Outcome:
        """How the run stands."""
        return self.standing.outcome


def picture_of(
    run: Run,
    ranks: tuple[RankProgress, ...],
    nodes: tuple[NodeView, ...],
    intervals: tuple[float, ...],
    *,
    limits: Thresholds,
    now: float,
) -> Picture:
    """Judge one run; `now` is the registry's time, `intervals` the seconds between its newest progress lines."""
    heard = tuple(node for node in nodes if not node.is_silent)
    standing = judge_stall(
        Watched(
            now=now,
            ranks=ranks,
            intervals=intervals,
            started_at=run.first_seen,
            gpus=tuple(gpu for node in heard for gpu in node.gpus),
            processes=tuple(process for node in heard for process in node.processes),
            observed_at={node.node: now - node.age_seconds for node in nodes},
            has_known_dialect=run.dialect is not None or run.last_step is not None,
            has_ended=run.state in OVER,
        ),
        limits,
    )
    return Picture(standing, None, ranks, nodes, _blind(nodes))


def is_lawful_pause(standing: Standing) -> bool:
    """Whether the run is in an evaluation, a save or the like, and may be."""
    pauses = (Phase.EVALUATING, Phase.SAVING, Phase.LOADING, Phase.TOKENISING)
    return standing.outcome is Outcome.FINE and standing.phase in pauses


def _blind(nodes: tuple[NodeView, ...]) -> tuple[str, ...]:
    said = [
        f"{node.node}: its watcher was last heard {node.age_seconds:,.0f} s ago" for node in nodes if node.is_silent
    ]
    said += [f"{node.node}: {problem}" for node in nodes for problem in node.problems]
    return tuple(dict.fromkeys(said))
