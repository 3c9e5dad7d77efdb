"""Runs of which only a launcher's word is left: which process ended first, and whether that names it."""

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import ElasticFailure, LogFacts, Sighting
from diagnosis.observations import Category, Evidence, Role
from diagnosis.root_cause.candidates import Candidate, candidate
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.errors import SAME_MOMENT
from diagnosis.root_cause.killed import ASKING
from diagnosis.root_cause.lead import LOW, MEDIUM, Lead, few, said, short
from diagnosis.root_cause.passed import is_end_of_grace
from diagnosis.root_cause.timeline import Timeline
from diagnosis.root_cause.waits import Waits
from diagnosis.signatures import ROWS
from diagnosis.signatures.exit_codes import meaning_of

LAUNCHERS = ("elastic_worker_failed", "launcher_exit", "supervisor_child_failed", "srun_task_exited", "mpi_abort",
             "composer_rank_exit", "script_exit", "batch_exit", "launcher_rank_ended", "hydra_end",
             "kubernetes_exit", "container_exit", "mpi_exit_code")  # fmt: skip
_BELOW_ITS_NAME = {"hydra_end": "hydra_place", "mpi_exit_code": "mpi_first_process"}
"""Rows that tell how a process ended, and those that name it on the line above."""
_NAMING = frozenset(
    {"elastic_worker_failed", "mpi_abort", "composer_rank_exit", "launcher_rank_ended", *_BELOW_ITS_NAME}
)
"""Rows that tell which rank ended."""
_OF_THE_JOB = frozenset({"script_exit", "batch_exit", "container_exit"})
"""Rows that tell how the whole ended: torchrun's summary says more."""
_GRAVE = frozenset({Category.GPU_OOM, Category.HOST_OOM, Category.GPU_HARDWARE, Category.DISK_FULL})
"""What a script rarely survives, even where steps seem to follow."""
_ASKED = {0, -signal.SIGTERM, 128 + signal.SIGTERM, -signal.SIGINT, 128 + signal.SIGINT}
_KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}
_ABORTED = {-signal.SIGABRT, 128 + signal.SIGABRT}
_NAMES = {"Killed": -9, "Segmentation fault": -11, "Terminated": -15, "Bus error": -7, "Aborted": -6}


@dataclass(frozen=True, slots=True)
class End:
    """One process that ended, as a launcher tells it."""

    file: CaseFile
    log: LogFacts
    row: str
    evidence: Evidence
    code: int
    time: float | None
    order: int
    rank: int | None
    node: str | None
    item: Sighting | None
    """None where only torchrun's summary is left."""


def launcher_lead(case: Case, cluster: Cluster, timeline: Timeline, waits: Waits) -> Lead | None:
    """Only an exit code is left: the process that failed first, without its words."""
    ends = [
        end
        for end in _ends(case, cluster)
        if end.code not in _ASKED
        and not _was_asked_before(end)
        and not (end.code in _ABORTED and (waits.is_established or waits.falling))
    ]
    first = min(ends, key=lambda end: end.time if end.time is not None else float("inf"), default=None)
    if first is None:
        return None
    lead = _lead(first, timeline)
    victim = _victim(first, lead.rank, waits) if first.code == 1 else None
    if victim is not None:
        lead.because.append(
            said(victim, "and it only reports that a peer went away: the first to go is not in these files")
        )
        lead.rank = lead.local_rank = lead.node = None
        lead.confidence = LOW
        return lead
    _weigh_others(lead, first, case)
    held = _held_back(first, cluster) if first.code == 1 else None
    if held is not None:
        symptom = held.sighting.symptom
        lead.category, lead.evidence, lead.signature = symptom.category, symptom.evidence, symptom.signature
        lead.because.insert(0, said(symptom.evidence, short(symptom.evidence.text.strip())))
        lead.because.append("every step stands below it: a full buffer was printed when the process ended")
        lead.next.insert(0, ROWS[symptom.signature].advice)
    doubt = _doubt(first, ends)
    if doubt:
        lead.because.append(doubt)
        lead.rank = lead.local_rank = lead.node = None
        lead.suspects, lead.confidence = (), LOW
    return lead


def _was_asked_before(end: End) -> bool:
    """Killed after its job had been asked to stop: it was only slow to leave."""
    return end.code in _KILLED and any(
        item.order < end.order
        and item.attempt == end.log.attempt
        and (end.item is None or is_end_of_grace(item, end.item))
        for item in end.log.all_of(*ASKING)
    )


def _victim(first: End, rank: int | None, waits: Waits) -> Evidence | None:
    """The line with which the process that ended only told that somebody else was gone."""
    if rank is None:
        return next(iter(waits.falling.values()), None)
    return waits.falling.get(rank) or waits.falling_nameless.get(first.file.path)


def _held_back(end: End, cluster: Cluster) -> Candidate | None:
    """What ended the process, where its steps were printed late: errors are printed at once, lines of steps are not."""
    for item in end.log.sightings:
        symptom = item.symptom
        is_grave = symptom.role is Role.ROOT and symptom.category in _GRAVE and item.raised is not None
        if is_grave and item.attempt == end.log.attempt and not item.steps_before and item.order < end.order:
            return candidate(item, end.file, end.log, cluster)
    return None


def _doubt(first: End, ends: list[End]) -> str:
    """Why the first end that is told may not be the first there was."""
    if first.code in _ABORTED and first.rank is not None:
        return "an abort alone names nobody: the watchdog ends whoever waits, and the rank's own words are missing"
    if len(ends) == 1 and _is_of_many_nodes(first):
        return "only this node's launcher is among the files: the first to go may be on another node"
    return ""


def _is_of_many_nodes(end: End) -> bool:
    """An error without its words, told by one agent of several: its rank is not the one within its node."""
    roots = _roots(end.log)
    local_rank = roots[0].local_rank if roots else None
    return end.code == 1 and len(roots) == 1 and local_rank is not None and end.rank != local_rank


def _ends(case: Case, cluster: Cluster) -> Iterator[End]:
    """The first end that each file tells: a row of its launcher, or else torchrun's summary; of every agent in it."""
    for file, log in case.read_by_line():
        if len(_roots(log)) > 1:
            yield from (_of_summary(entry, file, log, cluster) for entry in _roots(log))
            continue
        told = [item for item in log.all_of(*LAUNCHERS) if item.attempt == log.attempt and _is_end(item, log)]
        own = [item for item in told if _code(item) not in _ASKED]
        if own and not (_roots(log) and {item.symptom.signature for item in told} <= _OF_THE_JOB):
            yield _of_row(own[0], file, log, cluster)
        elif not told or own:
            yield from (_of_summary(entry, file, log, cluster) for entry in _roots(log)[:1])


def _is_end(item: Sighting, log: LogFacts) -> bool:
    """A pod that was started again shows its last exit too; only a failed one ended with it."""
    return item.symptom.signature != "kubernetes_exit" or bool(log.all_of("kubernetes_failed"))


def _of_row(item: Sighting, file: CaseFile, log: LogFacts, cluster: Cluster) -> End:
    found = candidate(item, file, log, cluster)
    rank, node, fields = found.rank, found.node, item.symptom.fields
    name = item.symptom.signature
    if name == "mpi_abort" and fields.get("rank", fields.get("rank2", "")).isdecimal():
        rank = int(fields.get("rank", fields.get("rank2", "0")))
    if name in _BELOW_ITS_NAME:
        rank, node = _place_above(item, log) or (rank, node)
    roots = _roots(log)
    if name == "elastic_worker_failed" and len(roots) == 1 and roots[0].rank is not None:
        rank, node = roots[0].rank, cluster.node_of(roots[0].rank, file)
    elif name not in _NAMING:
        rank = None
    return End(file, log, name, item.symptom.evidence, _code(item), item.time, item.order, rank, node, item)


def _place_above(item: Sighting, log: LogFacts) -> tuple[int | None, str | None] | None:
    """Hydra prints rank, pid and host on the line above the code or the signal, Open MPI the rank alone."""
    line = item.symptom.evidence.line or 0
    for place in log.all_of(_BELOW_ITS_NAME[item.symptom.signature]):
        if line - (place.symptom.evidence.line or 0) == 1:
            fields = place.symptom.fields
            return (int(fields["rank"]) if "rank" in fields else None), fields.get("node")
    return None


def _of_summary(entry: ElasticFailure, file: CaseFile, log: LogFacts, cluster: Cluster) -> End:
    evidence = entry.evidence or Evidence(file.path, None, "Root Cause (first observed failure)")
    node = entry.host or cluster.node_of(entry.rank, file)
    code = entry.exit_code if entry.exit_code is not None else 1
    return End(file, log, "elastic_worker_failed", evidence, code, _moment(entry), entry.order, entry.rank, node, None)


def _roots(log: LogFacts) -> list[ElasticFailure]:
    return [entry for entry in log.elastic if entry.is_root and entry.attempt == log.attempt]


def _lead(end: End, timeline: Timeline) -> Lead:
    lead = Lead(Category.RANK_CRASH, end.evidence, end.row, LOW, time=end.time, rank=end.rank, node=end.node)
    lead.step = timeline.first_bad(end.item, end.log, end.evidence)
    if end.rank is not None:
        lead.confidence = MEDIUM
    lead.because.append(
        said(end.evidence, f"the first process to leave ended with code {end.code}: {meaning_of(end.code)}")
    )
    lead.next = [
        "read the standard error of that process: its own words are not in these files",
        ROWS[end.row].advice,
    ]
    lead.details = dict(end.item.symptom.fields) if end.item is not None else {}
    return lead


def _weigh_others(lead: Lead, first: End, case: Case) -> None:
    """Ranks that ended alike within one look of their launchers cannot be told apart."""
    alike = {first.rank} | {
        entry.rank
        for _, log in case.read_by_line()
        for entry in log.elastic
        if entry.attempt == log.attempt and entry.exit_code == first.code and _is_with(entry, first)
    }
    ranks = tuple(sorted(rank for rank in alike if rank is not None))
    if len(ranks) > 1:
        lead.rank = lead.local_rank = None
        lead.suspects, lead.confidence = ranks, LOW
        lead.because.append(f"{few(ranks)} ended alike at the same moment: the launcher cannot tell who was first")


def _is_with(entry: ElasticFailure, first: End) -> bool:
    roots = [root for root in _roots(first.log) if root.rank == first.rank]
    one, other = _moment(entry), _moment(roots[0]) if roots else None
    return one is None or other is None or abs(one - other) <= SAME_MOMENT


def _moment(entry: ElasticFailure) -> float | None:
    if entry.time is None:
        return None
    return datetime.strptime(entry.time, "%Y-%m-%d_%H:%M:%S").replace(tzinfo=UTC).timestamp()


def _code(item: Sighting) -> int:
    fields = item.symptom.fields
    if "exit_code" in fields:
        return int(fields["exit_code"])
    number = fields.get("signal", "")
    return -int(number) if number.isdecimal() else _NAMES.get(number, 1)
