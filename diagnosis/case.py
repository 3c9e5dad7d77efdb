"""Everything a diagnosis looks at: the files of one run, each with what was read from it, bounded in memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from diagnosis.exhibits import CgroupReport, Dump, GpuTable, ProcessState, RasReport, SmiReport, Stack
from diagnosis.findings import Finding
from diagnosis.formats.memory import Unread
from diagnosis.log_facts import LogFacts


@dataclass(slots=True)
class CaseFile:
    """One file: what it is, and what it said."""

    path: str
    kind: str
    """In the words of `inspect --json`: training_log, kernel_log, gpu_samples …"""
    node: str | None = None
    ranks: tuple[int, ...] = ()
    rank: int | None = None
    """The one rank whose file it is, by its name."""
    dialect: str | None = None
    envelope: str | None = None
    lines: int = 0
    tracebacks: int = 0
    processes_named: Mapping[tuple[str | None, int], int] = field(default_factory=dict)
    """(node, pid) → rank, where tags of a runtime (Ray) told both."""
    log: LogFacts | None = None
    """For anything that is read line by line: training logs, kernel logs, scheduler output."""
    gpus: tuple[GpuTable, ...] = ()
    smi: SmiReport | None = None
    stacks: tuple[Stack, ...] = ()
    processes: tuple[ProcessState, ...] = ()
    has_kernel_pids: bool = False
    """The numbers of its processes are those of the kernel log; inside a container they are others."""
    dump: Dump | None = None
    cgroup: CgroupReport | None = None
    ras: RasReport | None = None
    unmatched: Unread = field(default_factory=Unread)
    """Lines that looked like metrics and were not read."""
    tail: tuple[str, ...] = ()
    """The last lines of what was read by line, as they were printed."""
    ends_whole: bool = True
    """False when its last line has no end: it may be cut."""
    is_of_another_day: bool = False
    """It was read while it grew, and its stamps are days away: a copy, of which this node knows nothing."""
    problem: str = ""
    """Why it could not be looked at."""

    def line(self, number: int) -> str | None:
        """A line of the file's end by its number, while it is kept."""
        place = number - (self.lines - len(self.tail)) - 1
        return self.tail[place] if 0 <= place < len(self.tail) else None


@dataclass(slots=True)
class Case:
    """One run's evidence."""

    files: list[CaseFile] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """What the detectors said of the numbers, oldest first."""
    cleared: list[str] = field(default_factory=list)
    """Kinds of findings that are over."""
    unread: list[str] = field(default_factory=list)
    """What could not be looked at, in words."""
    looked_at: float | None = None
    """When the nodes of a living run were asked, Unix seconds; None: these are files."""
    is_stalled: bool = False
    """The run lives and made no progress for longer than it may."""

    def of_kind(self, *kinds: str) -> list[CaseFile]:
        """The files of these kinds, in order."""
        return [file for file in self.files if file.kind in kinds]

    def logs(self) -> Iterator[tuple[CaseFile, LogFacts]]:
        """Training logs with what was read from them."""
        for file in self.files:
            if file.kind in {"training_log", "table"} and file.log is not None:
                yield file, file.log

    def read_by_line(self) -> Iterator[tuple[CaseFile, LogFacts]]:
        """Every file that was read line by line: logs, kernel logs, scheduler output."""
        for file in self.files:
            if file.log is not None:
                yield file, file.log
