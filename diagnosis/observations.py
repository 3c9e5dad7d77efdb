"""What a watcher can say: values of one moment, each with the line a person can check.

Every value is frozen, carries its unit in its name, and uses `None` for "not known". A number that was
logged as NaN or infinite is kept as that float: it is known, and it is the news.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

NOTHING: Mapping[str, float] = MappingProxyType({})
NO_TEXT: Mapping[str, str] = MappingProxyType({})

StepKind = Literal["printed", "implied", "samples", "ordinal", "none"]
"""Where a step number comes from: the line itself; position times the logging interval; a sample count;
only the order of the lines; nowhere."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was seen. `rank` is global, `local_rank` is within the node."""

    run: str = ""
    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line of one file, as it was printed."""

    file: str
    line: int | None
    """1-based; None: not known."""
    text: str
    offset: int | None = None
    """Byte offset of the line in the file; None: not known."""


@dataclass(frozen=True, slots=True)
class StepSample:
    """What one step line says. A metric the line does not carry is None."""

    origin: Origin
    step: int | None
    step_kind: StepKind
    loss: float | None
    """The training loss as logged: no eval, no epoch mean, no single term of a sum."""
    evidence: Evidence
    grad_norm: float | None = None
    lr: float | None = None
    time: float | None = None
    """Unix seconds as the log prints them (a log without zone is read as UTC); for order, not for age."""
    seen_at: float | None = None
    """Unix seconds on the watcher's clock when the line arrived; None offline."""
    fields: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    """Whatever else the line carries, under the names of `FIELDS` in `formats/fields.py`."""


@dataclass(frozen=True, slots=True)
class OptimizerSkip:
    """The log says that an optimizer step was skipped (fp16 overflow, usually lawful)."""

    origin: Origin
    count: int
    evidence: Evidence
    step: int | None = None
    loss_scale: float | None = None
    """The scale after the skip."""
    time: float | None = None
    seen_at: float | None = None


class Phase(StrEnum):
    """What a run is doing when it does not train; a lawful pause is not a stall."""

    INITIALISING = "initialising"
    TOKENISING = "tokenising"
    LOADING = "loading"
    TRAINING = "training"
    EVALUATING = "evaluating"
    SAVING = "saving"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class PhaseMark:
    """A line that says a phase begins (or, with `begins` false, that it is over)."""

    origin: Origin
    phase: Phase
    begins: bool
    evidence: Evidence
    step: int | None = None
    time: float | None = None
    seen_at: float | None = None


@dataclass(frozen=True, slots=True)
class AttemptMark:
    """A line that opens a new attempt of the run: launcher banner, resume, a counter that went back."""

    origin: Origin
    why: str
    evidence: Evidence
    environment: Mapping[str, str] = field(default_factory=lambda: NO_TEXT)
    """What the banner tells of driver, CUDA, torch, arguments, git."""
    time: float | None = None
    seen_at: float | None = None


class Role(StrEnum):
    """What a telling line is to the trouble (FAILURE_SIGNATURES, NVRx taxonomy)."""

    ROOT = "root"
    CASCADE = "cascade"
    CONFIRM = "confirm"
    CONTEXT = "context"
    BENIGN = "benign"


class Category(StrEnum):
    """What went wrong, in the words of the `inspect` contract."""

    GPU_OOM = "gpu_oom"
    HOST_OOM = "host_oom"
    NAN_INF = "nan_inf"
    LOSS_SPIKE = "loss_spike"
    COLLECTIVE_HANG = "collective_hang"
    NETWORK_FAULT = "network_fault"
    GPU_HARDWARE = "gpu_hardware"
    DATALOADER_CRASH = "dataloader_crash"
    DATALOADER_STALL = "dataloader_stall"
    STORAGE_STALL = "storage_stall"
    DISK_FULL = "disk_full"
    CHECKPOINT_FAILURE = "checkpoint_failure"
    RANK_CRASH = "rank_crash"
    PREEMPTED = "preempted"
    NODE_LOST = "node_lost"
    INIT_TIMEOUT = "init_timeout"
    SLOWDOWN = "slowdown"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Symptom:
    """A known telling line, matched by one row of `signatures/`."""

    origin: Origin
    signature: str
    """The row's name, such as `cuda_oom` or `nccl_watchdog_timeout`."""
    role: Role
    category: Category
    evidence: Evidence
    fields: Mapping[str, str] = field(default_factory=lambda: NO_TEXT)
    """What the line names: rank, sequence number, bytes tried, exit code …"""
    time: float | None = None
    seen_at: float | None = None


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU at one moment. None: the driver could not say."""

    node: str
    gpu_index: int
    time: float
    """Unix seconds on the node's clock."""
    uuid: str | None = None
    name: str | None = None
    utilization_percent: float | None = None
    """Share of the driver's sample period in which any kernel ran: 100 in a hang inside a collective too."""
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    temperature_c: int | None = None
    sm_clock_mhz: int | None = None
    pids: tuple[int, ...] | None = None
    """Processes with a context on it, as the driver numbers them; None: not known."""
    problem: str | None = None
    """What the driver said instead of a reading, such as `GPU is lost`."""


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One process of the job at one moment, read from /proc."""

    node: str
    pid: int
    time: float
    name: str
    state: str
    """running, sleeping, disk-sleep, stopped, zombie, gone."""
    started_at: float | None = None
    """Unix seconds; with `pid` it identifies the process."""
    rank: int | None = None
    local_rank: int | None = None
    wchan: str | None = None
    """Kernel function it waits in; None: not readable."""
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    read_bytes: int | None = None
    gpu_indices: tuple[int, ...] = ()
    run: str | None = None
    """Whose it is, where its watcher follows several runs; None: the only run's."""


@dataclass(frozen=True, slots=True)
class HostSample:
    """The node itself at one moment."""

    node: str
    time: float
    memory_available_bytes: int | None = None
    memory_total_bytes: int | None = None
    disk_free_bytes: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    """Per watched path."""
    processes: tuple[ProcessSample, ...] = ()


@dataclass(frozen=True, slots=True)
class RankProgress:
    """How far one rank got, by lines a person can check."""

    origin: Origin
    step: int | None
    progressed_at: float | None
    """Unix seconds, on the clock of the registry where that is known: the last line whose step was new."""
    heard_at: float | None
    """The last line of any kind."""
    phase: Phase = Phase.INITIALISING
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A watcher lives, and what it last really observed."""

    watcher: str
    node: str
    time: float
    """Unix seconds on the node's clock."""
    clock_offset_seconds: float | None = None
    """Node's clock minus the registry's; None: not measured yet."""
    clock_uncertainty_seconds: float | None = None
    runs: tuple[str, ...] = ()
    lag_bytes: int = 0
    """Log bytes on disk that are not read yet."""
    problems: tuple[str, ...] = ()
    """What it could not look at, in words: `no NVIDIA driver here`."""
    fields: Mapping[str, str] = field(default_factory=dict)


Observation = StepSample | OptimizerSkip | PhaseMark | AttemptMark | Symptom | GpuSample | HostSample | Heartbeat
