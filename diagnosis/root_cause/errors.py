"""Errors that may have started the trouble: one group for each cause, with the rank that shows it first.

The same words from many ranks are one event. Errors that training survived, that came after its end, or that
only say that somebody else is gone are left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from diagnosis.case import Case, CaseFile
from diagnosis.formats.timestamps import Clock
from diagnosis.log_facts import LogFacts, Sighting
from diagnosis.observations import Category, Phase, Role
from diagnosis.root_cause.cluster import Cluster, host_of
from diagnosis.root_cause.lines import is_in_a_text
from diagnosis.root_cause.timeline import Timeline
from diagnosis.signatures import ROWS, Tier

SURVIVED_STEPS = 5
"""Training that told this many new steps after an error has survived it."""
SAME_MOMENT = 2.0
"""Seconds within which clocks of two nodes cannot order two events."""
STALE_SECONDS = 86_400.0
_TALLEST = 80
"""Lines of a traceback above which a stamp is looked for."""
_LONG = 400
"""Lines of the longest traceback that Ray prints."""
DATED = 1e9
"""A time below has no year."""
TEARDOWN_TYPES = (
    "BrokenPipeError", "ConnectionResetError", "ConnectionRefusedError", "EOFError", "ConnectionAbortedError",
    "DistNetworkError", "DistStoreError", "DistBackendError", "ChildFailedError", "SignalException",
    "RendezvousConnectionError", "CancelledError", "BrokenProcessPool", "RemoteDisconnected",
)  # fmt: skip
"""Exceptions that only say that somebody else is gone."""
_ENDS_A_RANK = frozenset({"remote_data_error"})
_OTHER_RANK = re.compile(r"(?i)\b(?:from|on|by) rank[ =:#]{0,2}(\d{1,6})\b")
_EXCEPTION = re.compile(r"(?:Error|Exception)\b")
_CALM = re.compile(r"\b(?:WARN(?:ING)?|INFO|DEBUG|[Ww]arning)\b")
_OF_LAUNCHERS = frozenset({"wrapper_killed"})
"""Rows whose line a launcher's own traceback ends with."""
_PIDS_OF_RANKS = frozenset({"segfault"})
"""Rows whose pid is a rank's own process."""
_ENDS_A_PROCESS = frozenset({Category.GPU_OOM, Category.RANK_CRASH})
_HARD = frozenset({Category.GPU_HARDWARE, Category.DISK_FULL, Category.CHECKPOINT_FAILURE, Category.GPU_OOM,
                   Category.HOST_OOM, Category.STORAGE_STALL, Category.NODE_LOST})  # fmt: skip


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


def causes(case: Case, cluster: Cluster, timeline: Timeline, role: Role = Role.ROOT) -> list[Cause]:
    """Everything of this role that may have started it, the most likely first."""
    found = [item for item in candidates(case, cluster, (role,)) if not _is_noise(item, timeline)]
    groups: dict[tuple[str, str], Cause] = {}
    for item in sorted(found, key=_place):
        key = (str(item.category), _words(item))
        if key in groups:
            groups[key].candidates.append(item)
        else:
            groups[key] = Cause(item, [item])
    for cause in groups.values():
        if cause.category is Category.NODE_LOST and cause.first.node is None:
            cause.first = next((item for item in cause.candidates if item.node is not None), cause.first)
    return order(_without_consequences(groups.values()), cluster)


def _without_consequences(groups: Iterable[Cause]) -> list[Cause]:
    """A device-side assert is the NaN check's that raised it; who waited for a start, waited for those that failed."""
    found = list(groups)
    found = [cause for cause in found if not any(_kept_it_from_starting(other, cause) for other in found)]
    checks = {
        (item.file.path, item.sighting.attempt)
        for cause in found
        for item in cause.candidates
        if item.name == "collective_nan_check"
    }
    return [
        cause
        for cause in found
        if cause.first.name != "device_assert" or (cause.first.file.path, cause.first.sighting.attempt) not in checks
    ]


def _kept_it_from_starting(other: Cause, cause: Cause) -> bool:
    """Whether one is a rank's own failure, and the other only the wait of the ranks that it left alone."""
    if cause.category is not Category.INIT_TIMEOUT or other.category in {Category.INIT_TIMEOUT, Category.PREEMPTED}:
        return False
    one, two = other.first, cause.first
    if one.file is two.file and one.rank == two.rank:
        return one.sighting.order < two.sighting.order
    return one.time is None or two.time is None or one.time <= two.time + SAME_MOMENT


def candidates(case: Case, cluster: Cluster, roles: Iterable[Role] = (Role.ROOT,)) -> Iterator[Candidate]:
    """Every sighting of these roles with its rank and node."""
    wanted = frozenset(roles)
    for file, log in case.read_by_line():
        for sighting in log.sightings:
            if sighting.symptom.role in wanted or (Role.ROOT in wanted and _ended_its_rank(sighting)):
                yield candidate(sighting, file, log, cluster)


def _ended_its_rank(sighting: Sighting) -> bool:
    """A line that is mostly survived or follows from something, and here is what a traceback ended with."""
    return sighting.symptom.signature in _ENDS_A_RANK and sighting.raised is not None and sighting.steps_after == 0


def candidate(sighting: Sighting, file: CaseFile, log: LogFacts, cluster: Cluster) -> Candidate:
    """A sighting with whatever can be known of its rank and node."""
    rank = _rank_of(sighting, file, log, cluster)
    node = _node_in(sighting) or _node_of_worker(sighting, rank, log) or _node_of(sighting, rank, file, cluster)
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


def order(groups: Iterable[Cause], cluster: Cluster) -> list[Cause]:
    """By time where clocks can tell, then by what the line is, then by how few ranks say it."""
    ordered: list[Cause] = []
    for cause in groups:
        place = next(
            (number for number, other in enumerate(ordered) if _goes_before(cause, other, cluster)), len(ordered)
        )
        ordered.insert(place, cause)
    return ordered


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
    rank = cluster.rank_of(sighting, file)
    if rank is not None and speaks_of_another(sighting, rank):
        return None
    if rank is None and sighting.symptom.signature in _PIDS_OF_RANKS and "pid" in fields:
        return cluster.by_pid(int(fields["pid"]), fields.get("node"))
    return rank if rank is not None else _rank_of_worker(sighting, log, cluster)


def speaks_of_another(sighting: Sighting, rank: int) -> bool:
    """`[rank0]: error gathered from rank 3: CUDA out of memory`: who prints it may only pass it on."""
    named = _OTHER_RANK.search(sighting.symptom.evidence.text)
    return named is not None and int(named[1]) != rank


def _rank_of_worker(sighting: Sighting, log: LogFacts, cluster: Cluster) -> int | None:
    """The worker whose traceback Ray's driver printed: its pid stands where that traceback begins."""
    task = ray_task_of(sighting, log)
    if task is None or "pid" not in task.symptom.fields:
        return None
    pid, node = int(task.symptom.fields["pid"]), task.symptom.fields.get("node")
    by_node = cluster.by_pid(pid, node) if node is not None else None
    return by_node if by_node is not None else cluster.by_pid(pid)


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


def _is_noise(found: Candidate, timeline: Timeline) -> bool:
    sighting = found.sighting
    if sighting.steps_after >= SURVIVED_STEPS and found.file.kind != "kernel_log":
        return True
    if sighting.steps_after and _is_only_mentioned(found):
        return True
    if sighting.attempt < found.log.attempt and found.log.last_told is not None:
        return True  # a later attempt of the same log went on
    if found.file.kind == "kernel_log" and _is_stale(sighting.symptom.time, timeline.first_time):
        return True
    if _is_of_another_run(found, timeline) or _went_on_to_the_end(found):
        return True
    if is_in_a_text(sighting) or timeline.went_on_without(found.log, found.time, SURVIVED_STEPS):
        return True
    raised = sighting.raised
    if found.name in _OF_LAUNCHERS:
        return timeline.is_finished()
    if raised is not None and (raised.is_launcher or (raised.is_chained and _follows_better(found))):
        return True
    if found.name == "python_exception":
        if not found.file.ends_whole and (sighting.symptom.evidence.line or 0) >= found.file.lines:
            return True  # cut: what it would have said is not known
        kind = (sighting.symptom.fields.get("type") or sighting.symptom.fields.get("type2") or "").rsplit(".", 1)[-1]
        if kind in TEARDOWN_TYPES or (raised is not None and raised.is_communication):
            return True
    return timeline.is_finished() and found.category not in _HARD


def _is_only_mentioned(found: Candidate) -> bool:
    """In a line that is no exception: settings before the first step, or a warning, and steps came after it."""
    text = found.sighting.symptom.evidence.text
    is_calm = not found.sighting.steps_before or _CALM.search(text) is not None
    is_raised = found.sighting.raised is not None or _EXCEPTION.search(text) is not None
    return found.category is Category.GPU_OOM and is_calm and not is_raised


def _is_of_another_run(found: Candidate, timeline: Timeline) -> bool:
    """Its log ended more than a day before the first step of another one: what is left of an earlier run."""
    return found.file.kind != "kernel_log" and _is_stale(found.log.last_time, timeline.newest_beginning)


def _went_on_to_the_end(found: Candidate) -> bool:
    """The same process said later that its training is over: it survived the words, or only printed them."""
    sighting = found.sighting
    facts = found.log.ranks.get(sighting.symptom.origin.rank)
    return (
        found.file.kind != "kernel_log"
        and sighting.symptom.category in _ENDS_A_PROCESS
        and facts is not None
        and any(
            passage.mark.phase is Phase.FINISHED and passage.attempt == sighting.attempt
            for passage in facts.marks
            if passage.order > sighting.order
        )
    )


def _is_stale(time: float | None, first: float | None) -> bool:
    """A kernel's line from more than a day before the first step, where both tell a date with its year."""
    return time is not None and first is not None and DATED < time < first - STALE_SECONDS


def _follows_better(found: Candidate) -> bool:
    """The first exception of a chain is in the file too."""
    own = found.sighting
    return any(
        other is not own and other.order < own.order and other.symptom.origin.rank == own.symptom.origin.rank
        and other.symptom.role is Role.ROOT and other.attempt == own.attempt
        for other in found.log.sightings
    )  # fmt: skip


def _words(found: Candidate) -> str:
    """What makes two lines the same event: the row, and for exceptions their type and first words."""
    fields = found.sighting.symptom.fields
    if found.name == "python_exception":
        kind = fields.get("type") or fields.get("type2") or ""
        message = fields.get("message") or fields.get("message2") or ""
        letters = "".join(character if character.isalpha() else " " for character in message[:80])
        return f"{kind.rsplit('.', 1)[-1]} {' '.join(letters.split()[:6])}"
    if found.name == "xid":
        return f"xid {fields.get('xid')} {found.node}"
    if found.category is Category.HOST_OOM:
        return "host oom"
    return found.name if found.category is Category.RANK_CRASH else str(found.category)


def _place(found: Candidate) -> tuple[float, str, int]:
    return (found.time if found.time is not None else float("inf"), found.file.path, found.sighting.order)


def _goes_before(cause: Cause, other: Cause, cluster: Cluster) -> bool:
    one, two = cause.first, other.first
    if one.file is two.file and one.sighting.attempt == two.sighting.attempt and _is_one_stream(one, two):
        return one.sighting.order < two.sighting.order if one.tier == two.tier else _by_kind(cause, other, cluster)
    is_kernel = "kernel_log" in {one.file.kind, two.file.kind}
    if one.time is not None and two.time is not None and not is_kernel and abs(one.time - two.time) > SAME_MOMENT:
        return one.time < two.time
    return _by_kind(cause, other, cluster)


def _is_one_stream(one: Candidate, two: Candidate) -> bool:
    """Lines of one rank stand in their order; a file that merges ranks does not keep it."""
    return one.sighting.symptom.origin.rank == two.sighting.symptom.origin.rank


def _by_kind(cause: Cause, other: Cause, cluster: Cluster) -> bool:
    one, two = cause.first, other.first
    if one.tier != two.tier:
        return one.tier < two.tier
    many = cluster.size
    rare = [bool(item.ranks) and (len(item.ranks) <= 4 or len(item.ranks) * 3 <= many) for item in (cause, other)]
    if rare[0] != rare[1]:
        return rare[0]
    return one.sighting.order < two.sighting.order if one.file is two.file else False
