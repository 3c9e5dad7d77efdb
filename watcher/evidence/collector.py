"""What every collector of evidence has in common: it looks at a scene and puts files into a bin.

Adding one: a file beside this one with a class of four lines and a `collect`, and its line in COLLECTORS.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from diagnosis.observations import ProcessSample
from watcher.bins import Bin
from watcher.gpu_ring import GpuRing
from watcher.host_ring import HostRing
from watcher.moments import Moment
from watcher.settings import WatchedRun

_NO_ROOTS: Mapping[str, str] = {}


class Outcome(StrEnum):
    """What became of one piece of evidence. "Could not look" is an answer."""

    COLLECTED = "collected"
    EMPTY = "empty"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Result:
    """An outcome, and in words why it is not better."""

    outcome: Outcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a collector may look at."""

    run: WatchedRun
    node: str
    logs: tuple[Path, ...] = ()
    """The log files that are followed now."""
    processes: tuple[ProcessSample, ...] = ()
    """The job's processes as last seen."""
    ring: GpuRing = field(default_factory=GpuRing)
    facts: dict[str, str] = field(default_factory=dict)
    """What the watcher knows besides: versions, its own problems."""
    folders: tuple[Path, ...] = ()
    """Folders whose disks matter to the job."""
    roots: Mapping[str, str] = field(default_factory=lambda: _NO_ROOTS)
    """Log → the folder below which no symbolic link is followed to it."""
    moments: tuple[Moment, ...] = ()
    """When something went wrong, and how far each log was then."""
    host_ring: HostRing = field(default_factory=HostRing)
    looks: tuple[ProcessSample, ...] = ()
    """Several looks at each process since the run made its last step: one alone misleads."""
    quiet: Mapping[str, str] = field(default_factory=lambda: _NO_ROOTS)
    """Log → the last lines of its ranks before no step came any more."""
    silent: set[str] = field(default_factory=set)
    """Programs that gave no answer during this snapshot: nobody asks them again."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The job's living processes."""
        return tuple(process.pid for process in self.processes if process.state != "gone")


class Collector(Protocol):
    """One kind of evidence."""

    name: str
    seconds: float
    """How long it may take."""
    bytes: int
    """How much it may save."""

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Save it. Runs in a thread that is left behind when it takes too long."""
        ...
