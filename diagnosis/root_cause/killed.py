"""Processes that somebody or something killed: exit codes, and what the kernel or the scheduler says of them."""

from collections.abc import Iterator

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import LogFacts, Sighting
from diagnosis.observations import Category, Evidence, Role
from diagnosis.root_cause.candidates import Candidate, Cause, candidate
from diagnosis.root_cause.cluster import Cluster, is_same_node
from diagnosis.root_cause.lead import said, short
from diagnosis.root_cause.passed import DATED, SURVIVED_STEPS, between, is_end_of_grace
from diagnosis.signatures.process_names import is_known_other

CONFIRMING = ("kernel_oom_kill", "kernel_oom_constraint", "user_space_oom_kill", "slurm_oom", "srun_task_oom",
              "batch_memory_limit", "kubernetes_oom", "ray_memory_threshold", "ray_workers_oom")  # fmt: skip
"""Rows that prove that the host ran out of memory, the strongest first."""


ASKING = frozenset({"slurm_cancelled", "agent_got_signal", "sigterm_seen"})
"""Rows with which a job was asked to stop."""

LAUNCHERS_WORD = frozenset(
    {"elastic_worker_failed", "launcher_exit", "shell_killed", "composer_rank_exit", "script_exit", "wrapper_killed",
     "batch_exit", "container_exit", "launcher_rank_ended"}
)  # fmt: skip
"""Rows that show how a process ended, and nothing of why."""


NOTICED_SECONDS = 600.0
"""A launcher sees within this time that one of its processes was killed."""
CLOCKS_SECONDS = 60.0
"""So far may the clocks of a kernel log and of a training log differ."""
_ZONE_STEP = 900.0
WIDEST_ZONES = 26 * 3600.0


def confirmations(case: Case, cluster: Cluster, victim: Candidate) -> list[Candidate]:
    """Every line that proves that this process was ended for lack of memory, the strongest first.

    A kernel ends processes of anybody: what it did on another node, at another time than the victim ended, or to a
    process that is known not to be the job's, proves nothing. Whatever a process calls itself, its number names it,
    and so does, less surely, the moment.
    """
    found = [
        candidate(sighting, file, log, cluster)
        for file, log in case.read_by_line()
        for sighting in log.sightings
        if sighting.symptom.signature in CONFIRMING
    ]
    found = [item for item in found if is_sure(item, victim) or _is_of_that_moment(item, victim)]
    numbered, is_exact = _numbered_by_kernel(case, victim), case.looked_at is not None
    fitting = [item for item in found if item.file.kind != "kernel_log" or _can_be(item, victim, numbered, is_exact)]
    return sorted(fitting, key=lambda item: (CONFIRMING.index(item.name), item.sighting.order))


def is_sure(proof: Candidate, victim: Candidate) -> bool:
    """Whether the name or the number of the process that was ended says that it is the job's."""
    pid, symptom = victim.sighting.symptom.fields.get("pid"), proof.sighting.symptom
    return symptom.role is Role.CONFIRM or (pid is not None and symptom.fields.get("pid") == pid)


def _is_of_that_moment(kernel: Candidate, victim: Candidate) -> bool:
    """A process of any name that is no known other's, ended while the victim ended."""
    if kernel.file.kind != "kernel_log" or is_known_other(kernel.sighting.symptom.fields.get("name", "")):
        return False
    later = between(kernel.time, victim.time) if kernel.time is not None and victim.time is not None else None
    return later is not None and abs(later) <= CLOCKS_SECONDS


def _numbered_by_kernel(case: Case, victim: Candidate) -> frozenset[str]:
    """The job's processes on the victim's node, where the kernel's numbers are known for it and for them."""
    lists = [
        file
        for file in case.of_kind("process_state")
        if file.has_kernel_pids and (None in (file.node, victim.node) or is_same_node(file.node, victim.node))
    ]
    pids = frozenset(str(process.pid) for file in lists for process in file.processes)
    return pids if victim.sighting.symptom.fields.get("pid") in pids else frozenset()


def _can_be(kernel: Candidate, victim: Candidate, numbered: frozenset[str], is_exact: bool) -> bool:
    """`numbered`: pids of the job in the kernel's numbers; `is_exact`: a watcher placed the stamps of the log."""
    pid, killed = victim.sighting.symptom.fields.get("pid"), kernel.sighting.symptom.fields.get("pid")
    if kernel.node is not None and victim.node is not None and not is_same_node(kernel.node, victim.node):
        return False
    if killed is not None and killed in {pid, *numbered}:
        return True
    if killed is not None and numbered:
        return False
    one, two = kernel.time, victim.time
    if one is None or two is None or min(one, two) < DATED:
        return True
    later = two - one
    if -CLOCKS_SECONDS <= later <= NOTICED_SECONDS:
        return True
    if is_exact:
        return False
    # Stamps without a zone may be of another one than ours: whole quarters of an hour tell nothing.
    off = (later + CLOCKS_SECONDS) % _ZONE_STEP
    return abs(later) <= WIDEST_ZONES and off <= 2 * CLOCKS_SECONDS


def cgroup_kills(case: Case) -> Iterator[tuple[CaseFile, Evidence, int]]:
    """Counters of control groups that show a kill."""
    for file in case.of_kind("cgroup"):
        if file.cgroup is not None and file.cgroup.kills > 0:
            yield file, Evidence(file.path, file.cgroup.line, file.cgroup.text), file.cgroup.kills


def reads_kernel_log(case: Case, cluster: Cluster, node: str | None, victim: CaseFile) -> bool:
    """True when the kernel log of that node is there (of any, where the node is not known): its silence tells."""
    if victim.is_of_another_day:
        return False
    nodes = [cluster.node_of_file(file) for file in case.of_kind("kernel_log")]
    return any(node is None or name is None or is_same_node(name, node) for name in nodes)


def counts_kills(case: Case, victim: CaseFile) -> bool:
    """True when a control group's counter is there: it knows of the kills in that group, not of the node's."""
    return not victim.is_of_another_day and any(file.cgroup is not None for file in case.of_kind("cgroup"))


def is_asked_for(found: Candidate) -> bool:
    """A kill that the job's own launcher announced, or that followed a cancellation: no out-of-memory."""
    before = [item for item in found.log.sightings if item.order < found.sighting.order]
    pid = found.sighting.symptom.fields.get("pid")
    for item in before:
        if item.symptom.signature == "elastic_forced_exit" and item.symptom.fields.get("pid") == pid:
            return True
        if item.symptom.signature in ASKING and is_end_of_grace(item, found.sighting):
            return True
    return False


def launcher_says(cause: Cause, cluster: Cluster) -> tuple[int | None, Evidence | None, str]:
    """The rank that a launcher saw fail first, where its word can be trusted for this cause.

    It can, when exactly one process of the file failed by itself and its code fits: 1 for an exception, the
    signal for a kill. It cannot for -6 after the watchdog: that names a random victim.
    """
    found = cause.first
    roots = [entry for entry in found.log.elastic if entry.is_root and entry.attempt == found.sighting.attempt]
    if len(roots) == 1 and roots[0].rank is not None and roots[0].exit_code not in {None, -15}:
        entry = roots[0]
        is_exception = found.sighting.raised is not None or cause.category is not Category.HOST_OOM
        fits = entry.exit_code == 1 if is_exception else entry.exit_code not in {1, -6}
        is_alone = _only_one_failed(found.log, found.sighting.attempt) and not _others_raised(cause)
        if fits and entry.evidence is not None and is_alone:
            return entry.rank, entry.evidence, entry.host or ""
    workers = [item for item in found.log.all_of("elastic_worker_failed") if item.attempt == found.sighting.attempt]
    if len(workers) == 1 and workers[0].symptom.fields["exit_code"] == "1" and found.sighting.raised is not None:
        rank = cluster.by_local(int(workers[0].symptom.fields["local_rank"]), found.file.path, found.file)
        others = cluster.size > 1 or int(workers[0].symptom.fields["local_rank"]) > 0
        if rank is not None and others and _only_one_raised(found.log, found.sighting):
            return rank, workers[0].symptom.evidence, ""
    return None, None, ""


def _others_raised(cause: Cause) -> bool:
    """Whether other words without a rank end tracebacks of the same attempt: any of them may be that process's."""
    found = cause.first
    own = {id(item.sighting) for item in cause.candidates}
    return any(
        item.raised is not None
        and not (item.raised.is_launcher or item.raised.is_chained)
        and id(item) not in own
        and item.attempt == found.sighting.attempt
        and item.symptom.origin.rank is None
        and item.symptom.category is not Category.PREEMPTED
        and item.steps_after < SURVIVED_STEPS
        for item in found.log.sightings
    )


def _only_one_failed(log: LogFacts, attempt: int) -> bool:
    failed = [entry for entry in log.elastic if entry.attempt == attempt and entry.exit_code not in {None, -15, -9}]
    return len({entry.rank for entry in failed}) <= 1


def _only_one_raised(log: LogFacts, own: Sighting) -> bool:
    """No other traceback of the file could belong to the process that failed."""
    raised = [item for item in log.raised if not item.is_launcher and not item.is_chained]
    return len(raised) == 1 and own.raised is not None


def why_killed(case: Case, cluster: Cluster, victim: Candidate) -> list[str]:
    """Sentences that prove or support an out-of-memory kill."""
    told = [
        said(item.sighting.symptom.evidence, short(item.sighting.symptom.evidence.text))
        for item in confirmations(case, cluster, victim)[:3]
    ]
    told += [
        said(evidence, f"the control group counts {kills} out-of-memory kill(s)")
        for _, evidence, kills in cgroup_kills(case)
    ]
    return told
