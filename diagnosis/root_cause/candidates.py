"""One telling line that may be the cause, in its place: whose it is, on which node, and when."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from diagnosis.case import Case, CaseFile
from diagnosis.formats.timestamps import Clock
from diagnosis.log_facts import LogFacts, Sighting
from diagnosis.observations import Category, Role
from diagnosis.root_cause.cluster import Cluster, host_of
from diagnosis.signatures import ROWS, Tier
from diagnosis.signatures.process_names import is_known_other

_TALLEST = 80
"""Lines of a traceback above which a stamp is looked for."""
_LONG = 400
"""Lines of the longest traceback that Ray prints."""
_ENDS_A_RANK = frozenset({"remote_data_error"})
OF_ONE_PROCESS = frozenset({"memory_failure", "hung_task"})
"""Rows with which a kernel tells of one process of the machine."""
_OTHER_RANK = re.compile(
    r"(?i)\b(?:from|on|by|worker|process|peer) rank[ =:#]{0,2}(\d{1,6})\b|"
    r"(?<!local )\brank[ =:#]{0,2}(\d{1,6}):? (?:reported|says|said|failed|died|raised|crashed|hit|lost|ran)\b"
)
OF_OTHERS = frozenset(
    {
        "collective_fingerprints_differ", "desync_lagging_ranks", "desync_unfinished", "nccl_mismatch",
        "barrier_missed", "horovod_missing", "megascale_bad_chip", "megascale_network", "megascale_input_stall",
        "megascale_programs_differ", "tpu_session_error", "deepep_timeout",
    }
)  # fmt: skip
"""Rows whose printer speaks of others: neither its rank nor the node of its log is meant."""
_PIDS_OF_RANKS = frozenset({"segfault"})
"""Rows whose pid is a rank's own process."""


class Whose(IntEnum):
    """Of whom a line tells."""

    OTHERS = 0
    UNKNOWN = 1
    LIKELY = 2
    """The run's, if the clock of its log is of another zone."""
    OURS = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line that may be the cause, in its place."""

    sighting: Sighting
    file: CaseFile
    log: LogFacts
    rank: int | None
    node: str | None
    tier: Tier
    stamp_above: float | None = None
    """Where the line tells no time: that of the nearest line above it that does, whatever it says."""
    whose: Whose = Whose.OURS
    """Until somebody has looked, what is read of a run is taken for the run's."""

    @property
    def category(self) -> Category:
        """What its row says."""
        return self.sighting.symptom.category

    @property
    def name(self) -> str:
        """The row's name."""
        return self.sighting.symptom.signature

    @property
    def time(self) -> float | None:
        """Its time, or the newest one before it in its file."""
        own = self.sighting.time
        return own if self.stamp_above is None or (own is not None and own > self.stamp_above) else self.stamp_above


@dataclass(slots=True)
class Cause:
    """All candidates that say the same, the first one in front."""

    first: Candidate
    candidates: list[Candidate]

    @property
    def ranks(self) -> tuple[int, ...]:
        """Every rank that says so."""
        return tuple(sorted({found.rank for found in self.candidates if found.rank is not None}))

    @property
    def category(self) -> Category:
        """What the first one says."""
        return self.first.category


def candidates(case: Case, cluster: Cluster, roles: Iterable[Role] = (Role.ROOT,)) -> Iterator[Candidate]:
    """Every sighting of these roles with its rank and node."""
    wanted = frozenset(roles)
    for file, log in case.read_by_line():
        for sighting in log.sightings:
            if sighting.symptom.role in wanted or (Role.ROOT in wanted and _may_be_more(sighting, file)):
                yield candidate(sighting, file, log, cluster)


def _may_be_more(sighting: Sighting, file: CaseFile) -> bool:
    """A line that is mostly context, and may be the cause where it stands."""
    symptom = sighting.symptom
    if symptom.signature in OF_ONE_PROCESS:
        return file.kind == "kernel_log" and not is_known_other(symptom.fields.get("name", ""))
    if symptom.signature == "uncaught_exception" and symptom.category is not Category.NONE:
        # "Skipping", and then nothing more: it did not go on after all.
        return symptom.role is Role.CONTEXT and symptom.evidence.line == file.lines and file.ends_whole
    return _ended_its_rank(sighting)


def _ended_its_rank(sighting: Sighting) -> bool:
    """A line that is mostly survived or follows from something, and here is what a traceback ended with."""
    return sighting.symptom.signature in _ENDS_A_RANK and sighting.raised is not None and sighting.steps_after == 0


def candidate(sighting: Sighting, file: CaseFile, log: LogFacts, cluster: Cluster) -> Candidate:
    """A sighting with whatever can be known of its rank and node."""
    rank = _rank_of(sighting, file, log, cluster)
    if _told_rank(sighting) is None:
        node = _node_in(sighting) or _node_of_worker(sighting, rank, log) or _node_of(sighting, rank, file, cluster)
    else:
        node = cluster.node_of(rank)
    if rank is None and file.path in cluster.task_files and sighting.symptom.origin.rank is not None:
        node = cluster.node_of_task(sighting.symptom.origin.rank) or node
    return Candidate(
        sighting, file, log, rank, node, ROWS[sighting.symptom.signature].tier, _stamp_above(sighting, file)
    )


def _stamp_above(sighting: Sighting, file: CaseFile) -> float | None:
    line = sighting.symptom.evidence.line
    if sighting.symptom.time is not None or sighting.raised is None or line is None:
        return None
    clock = Clock()
    for number in range(line - 1, max(0, line - _TALLEST), -1):
        text = file.line(number)
        stamp = clock.find(text) if text is not None else None
        if stamp is not None and clock.style in {"local", "zoned"}:
            return stamp[2]
    return None


def _node_of(sighting: Sighting, rank: int | None, file: CaseFile, cluster: Cluster) -> str | None:
    """The rank's node, or else the one whose name stands in front of the line, or else the file's."""
    return (
        (cluster.node_of(rank) if rank is not None else None)
        or sighting.symptom.origin.node
        or (cluster.node_of(rank, file))
    )


def _node_in(sighting: Sighting) -> str | None:
    """The node that the line itself names; Slurm cancels a job on the host of its batch step, whoever failed."""
    symptom = sighting.symptom
    if symptom.signature == "slurm_cancelled" and symptom.category is Category.NODE_LOST:
        return None
    return symptom.fields.get("node") or symptom.fields.get("node_before") or host_of(symptom.evidence)


def _node_of_worker(sighting: Sighting, rank: int | None, log: LogFacts) -> str | None:
    task = ray_task_of(sighting, log) if rank is None and sighting.symptom.origin.node is None else None
    return task.symptom.fields.get("node") if task is not None else None


def _rank_of(sighting: Sighting, file: CaseFile, log: LogFacts, cluster: Cluster) -> int | None:
    fields = sighting.symptom.fields
    if sighting.symptom.signature == "elastic_worker_failed":
        pid = int(fields["pid"])
        by_pid = cluster.by_pid(pid, cluster.node_of_file(file))
        return by_pid if by_pid is not None else cluster.by_local(int(fields["local_rank"]), file.path, file)
    if file.kind == "kernel_log":
        node = cluster.node_of_file(file)
        if fields.get("pid", "").isdecimal() and (rank := cluster.by_pid(int(fields["pid"]), node)) is not None:
            return rank
        return cluster.by_bus(fields["bus"], node) if "bus" in fields else None
    told = _told_rank(sighting)
    if told is not None:
        return told if told >= 0 else None
    rank = cluster.rank_of(sighting, file)
    if rank is not None and speaks_of_another(sighting, rank):
        return None
    if rank is None and sighting.symptom.signature in _PIDS_OF_RANKS and "pid" in fields:
        return cluster.by_pid(int(fields["pid"]), fields.get("node"))
    return rank if rank is not None else _rank_of_worker(sighting, log, cluster)


def _told_rank(sighting: Sighting) -> int | None:
    """The rank of whom every rank tells the same, `(RANK 11)`; -1 where it tells of several."""
    raised, failed = sighting.raised, sighting.symptom.fields.get("failed")
    if raised is not None and "told_rank" in raised.opened.fields:
        return int(raised.opened.fields["told_rank"])
    if failed is None:
        return None
    ranks = failed.replace(",", " ").split()
    return int(ranks[0]) if len(ranks) == 1 else -1


def speaks_of_another(sighting: Sighting, rank: int) -> bool:
    """`[rank0]: error gathered from rank 3: CUDA out of memory`: who prints it may only pass it on."""
    named = _OTHER_RANK.search(sighting.symptom.evidence.text)
    return named is not None and int(named[1] or named[2]) != rank


def _rank_of_worker(sighting: Sighting, log: LogFacts, cluster: Cluster) -> int | None:
    """The worker whose traceback Ray's driver printed: its pid, or its rank, stands where that traceback begins."""
    line = sighting.symptom.evidence.line or 0
    above = [item for item in log.all_of("rank_error_snippet") if 0 < line - (item.symptom.evidence.line or 0) <= _LONG]
    if above and sighting.symptom.origin.rank is None and above[-1].symptom.fields["ranks"].strip().isdecimal():
        return int(above[-1].symptom.fields["ranks"])
    task = ray_task_of(sighting, log)
    if task is None or "pid" not in task.symptom.fields:
        return None
    pid, node = int(task.symptom.fields["pid"]), task.symptom.fields.get("node")
    by_node = cluster.by_pid(pid, node) if node is not None else None
    return by_node if by_node is not None else cluster.by_pid(pid)


def is_of_others(found: Candidate) -> bool:
    """Whether it tells of somebody else than who printed it: in so many words, or by the name of a peer."""
    return found.name in OF_OTHERS or "peer" in found.sighting.symptom.fields


def ray_task_of(sighting: Sighting, log: LogFacts) -> Sighting | None:
    """The `RayTaskError … (pid=…, ip=…)` above an exception without a tag, if nothing else began between them."""
    line = sighting.symptom.evidence.line or 0
    tasks = [item for item in log.all_of("ray_task_failed") if 0 < line - (item.symptom.evidence.line or 0) <= _LONG]
    if not tasks or sighting.symptom.origin.rank is not None:
        return None
    task = tasks[-1]
    first = task.symptom.evidence.line or 0
    opened = any(first < (item.opened.evidence.line or 0) < line for item in log.raised if not item.is_chained)
    return None if opened or task.attempt != sighting.attempt else task
