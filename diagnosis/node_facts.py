"""What one node can tell of a run in a few kilobytes, so that the whole run can be diagnosed while it lives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from diagnosis.findings import Finding
from diagnosis.observations import Evidence, GpuSample, Observation, ProcessSample, Symptom

NO_LINES: Mapping[str, tuple[Evidence, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LogAccount:
    """One log as its watcher knows it: no copy, but everything a diagnosis asks of it."""

    file: str
    observations: tuple[Observation, ...] = ()
    """Of the newest attempt, in the order in which they came; times as the log prints them."""
    newest: Mapping[str, tuple[Evidence, ...]] = field(default_factory=lambda: NO_LINES)
    """Rank (empty: not told) → its last lines."""
    rank: int | None = None
    """The one rank whose file it is, by its name."""
    ranks: tuple[int, ...] = ()
    """Every rank that spoke."""
    node: str | None = None
    dialect: str | None = None
    envelope: str | None = None
    lines: int = 0
    tracebacks: int = 0
    dropped: int = 0
    """Telling lines for which there was no room."""


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A control group of the job: its limit and the kernel's kills in it."""

    path: str
    kills: int
    """Since the watcher began to look."""
    limit_bytes: int | None = None
    used_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class StackDump:
    """What a stack dumper printed of one process."""

    pid: int
    rank: int | None
    text: str
    is_child: bool = False


@dataclass(frozen=True, slots=True)
class RasAnswer:
    """What NCCL's RAS said, and when (Unix seconds)."""

    text: str
    time: float


@dataclass(frozen=True, slots=True)
class GpuHolder:
    """A process that the driver names on a GPU."""

    node: str
    pid: int
    name: str
    state: str
    """The kernel's letter: Z zombie, D waits in the kernel; empty: not seen in /proc."""
    gpus: tuple[int, ...]
    bytes_there: int
    """Memory in use on those GPUs, whoever holds it."""
    parent: int | None = None
    parent_name: str = ""
    is_of_run: bool = False
    """One of this run's own processes."""
    shares: bool = False
    """A living process of this run is on one of these GPUs too."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node's part of the evidence; times are Unix seconds on its own clock."""

    node: str
    time: float
    clock_offset_seconds: float = 0.0
    """Its clock minus the registry's."""
    logs: tuple[LogAccount, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What the node's detectors said of the numbers of the newest attempt, oldest first."""
    cleared: tuple[str, ...] = ()
    """Kinds of findings that are over."""
    kernel: tuple[Symptom, ...] = ()
    """Telling lines of the kernel log, the newest last."""
    reads_kernel_log: bool = False
    """False: it may not, so that nothing in it is no sign."""
    gpus: tuple[GpuSample, ...] = ()
    """Readings of the last quarter of an hour, oldest first."""
    processes: tuple[ProcessSample, ...] = ()
    """The last looks at every process of the job, oldest first."""
    has_kernel_pids: bool = False
    """The numbers of its processes are those of the kernel log; inside a container they are others."""
    memory_groups: tuple[MemoryGroup, ...] = ()
    stacks: tuple[StackDump, ...] = ()
    ras: tuple[RasAnswer, ...] = ()
    """Answers of NCCL's RAS, where it was asked."""
    holders: tuple[GpuHolder, ...] = ()
    """Processes on its GPUs that the driver names."""
    problems: tuple[str, ...] = ()
    """What it could not look at, in words."""
