"""The explanation that one telling line gives: what happened, on which rank and node, at which step."""

from diagnosis.case import Case
from diagnosis.log_facts import Sighting
from diagnosis.observations import Category
from diagnosis.root_cause import killed, stops
from diagnosis.root_cause.at_work import is_of_a_loader, is_of_a_save, skipped_before
from diagnosis.root_cause.candidates import Candidate, Cause, Whose, is_of_others, speaks_of_another
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.errors import SAME_MOMENT
from diagnosis.root_cause.lead import HIGH, LOW, MEDIUM, Lead, few, said, short
from diagnosis.root_cause.timeline import Timeline
from diagnosis.signatures import ROWS
from diagnosis.signatures.xid import xid_of

_TOLD_BY_ONE = frozenset({"coordination_barrier", "coordination_unhealthy", "coordination_task_lost"})
"""Rows that one process prints of the tasks it watches over."""
_SHARED = frozenset({"loss_scale_floor"})
"""Rows that tell of a number which all ranks have in common, whoever printed it."""
_NO_RANK = frozenset({Category.PREEMPTED, Category.INIT_TIMEOUT, Category.LOSS_SPIKE, Category.SLOWDOWN})
"""Categories that are nobody's fault, whoever printed them."""


def lead_of(cause: Cause, case: Case, cluster: Cluster, timeline: Timeline) -> Lead:
    """The explanation that a telling line gives."""
    first = cause.first
    symptom = first.sighting.symptom
    found = ROWS[symptom.signature]
    lead = Lead(
        cause.category, symptom.evidence, symptom.signature, HIGH, time=first.time, details=dict(symptom.fields)
    )
    lead.because.append(said(symptom.evidence, short(_sentence(first))))
    lead.step = _step(cause, timeline)
    lead.node = _node(cause)
    if not is_of_others(first):
        _name_rank(lead, cause, cluster)
    if first.name == "loader_exception":
        _open_worker(lead, first)
    elif is_of_a_loader(first):
        lead.category = Category.DATALOADER_CRASH
        lead.because.append("it was raised while a batch was fetched")
    elif is_of_a_save(first, timeline):
        lead.category = Category.CHECKPOINT_FAILURE
        lead.because.append("it was raised while a checkpoint was saved")
    elif (skipped := skipped_before(first)) is not None:
        _tell_skips(lead, skipped, first, timeline)
    if cause.category is Category.HOST_OOM:
        _weigh_kill(lead, cause, case, cluster)
    if first.whose is Whose.UNKNOWN:
        _doubt_whose(lead)
    elif first.whose is Whose.LIKELY:
        lead.confidence = min(lead.confidence, MEDIUM)
        lead.because.append(
            "it fits the run's last step if the kernel log's clock is of another time zone: assumed here"
        )
    elif first.file.kind == "kernel_log" and first.sighting.symptom.time is None and lead.rank is None:
        # Seconds since the machine was started do not tell whether it was then.
        lead.confidence = min(lead.confidence, MEDIUM)
    sender = stops.trace_sender(case)
    if sender is not None:
        lead.because.append(said(sender, "the supervisor saw this part fail first and ended the others"))
    lead.next.append(found.advice)
    if symptom.signature == "xid" and symptom.fields["xid"].isdecimal():
        _explain_xid(lead, int(symptom.fields["xid"]))
    return lead


def _tell_skips(lead: Lead, skipped: Sighting, first: Candidate, timeline: Timeline) -> None:
    """It gave up on numbers that had long been wrong: they are the cause, where they began."""
    symptom = skipped.symptom
    lead.category, lead.evidence, lead.signature = Category.NAN_INF, symptom.evidence, symptom.signature
    lead.time, lead.step = skipped.time, timeline.first_bad(skipped, first.log, symptom.evidence)
    lead.because.insert(0, said(symptom.evidence, short(symptom.evidence.text.strip())))
    lead.next.append(ROWS[symptom.signature].advice)


def _doubt_whose(lead: Lead) -> None:
    """It may be of anybody: nobody is named for it."""
    lead.rank = lead.local_rank = lead.node = None
    lead.suspects, lead.confidence = (), LOW
    lead.because.append("nothing in the files tells whether that has to do with this run")
    lead.runner_up = "it was somebody else's, and why this run ended is not in these files"


def _explain_xid(lead: Lead, number: int) -> None:
    """What the number means and what to do, instead of where to look it up."""
    xid = xid_of(number)
    lead.because.append(said(lead.evidence, f"Xid {number}: {xid.meaning}"))
    lead.next[-1:] = [xid.action, "find the GPU by the bus id in the line, and the process by its pid"]


def _open_worker(lead: Lead, first: Candidate) -> None:
    """What a loader's worker raised stands under `Original Traceback`."""
    told = first.sighting.symptom
    for raised in first.log.raised:
        inner = raised.exception
        is_original = "original" in raised.opened.fields and raised.opened.origin.rank == told.origin.rank
        if not is_original or inner is None or (raised.opened.evidence.line or 0) <= (told.evidence.line or 0):
            continue
        lead.evidence = inner.evidence
        lead.because.insert(0, said(inner.evidence, f"in a loader worker: {short(inner.evidence.text.strip())}"))
        if inner.category not in {Category.RANK_CRASH, Category.NONE}:
            lead.category, lead.signature = inner.category, inner.signature
        return


def _node(cause: Cause) -> str | None:
    """Where it happened: not where somebody waited for it, or only told of it."""
    first = cause.first
    named = first.sighting.symptom.fields.get("node")
    if "peer" in first.sighting.symptom.fields:
        told = {
            (item.sighting.symptom.fields.get("peer"), item.file.path, item.rank)
            for item in cause.candidates
            if item.node
        }
        peers = {peer for peer, _, _ in told}
        return peers.pop() if len(peers) == 1 and len(told) > 1 else None
    if is_of_others(first) or first.name in _TOLD_BY_ONE or cause.category is Category.INIT_TIMEOUT:
        return named
    rivals = {item.node for item in cause.candidates if item.node is not None and _is_as_early(item, first)}
    return first.node if len(rivals) < 2 else None


def _is_as_early(one: Candidate, first: Candidate) -> bool:
    """Without a rank, and no clock tells that it came later."""
    is_later = one.time is not None and first.time is not None and abs(one.time - first.time) > SAME_MOMENT
    return one.rank is None and not is_later


def _step(cause: Cause, timeline: Timeline) -> int | None:
    first = cause.first
    iteration = first.sighting.symptom.fields.get("iteration")
    if iteration is not None:
        return int(iteration)
    named = timeline.step_in(first.sighting.symptom.evidence)
    if cause.category is Category.NAN_INF and named is not None:
        return named
    if cause.category is Category.INIT_TIMEOUT:
        return None if timeline.has_steps else 0
    return timeline.first_bad(first.sighting, first.log, first.sighting.symptom.evidence)


def _sentence(found: Candidate) -> str:
    whose = f"rank {found.rank}: " if found.rank is not None else ""
    return f"{whose}{found.sighting.symptom.evidence.text.strip()}"


def _name_rank(lead: Lead, cause: Cause, cluster: Cluster) -> None:
    """The rank that shows the cause, where exactly one does."""
    if cause.category in _NO_RANK or cause.first.name in _SHARED:
        return
    ranks = cause.ranks or _ranks_beside(cause, cluster)
    if len(ranks) > 1:
        ranks = _clearly_first(cause) or ranks
    if len(ranks) == 1:
        lead.rank = ranks[0]
    elif len(ranks) > 1:
        lead.suspects = ranks
        lead.confidence = MEDIUM
        lead.because.append(f"{few(ranks)} show the same, and nothing tells which was first")
        nodes = {cluster.node_of(rank) for rank in ranks}
        lead.node = nodes.pop() if len(nodes) == 1 else None
        return
    elif cause.first.file.kind != "kernel_log" and cause.category is not Category.NAN_INF:
        rank, evidence, _ = killed.launcher_says(cause, cluster)
        if rank is not None and evidence is not None:
            lead.rank = rank
            lead.confidence = min(lead.confidence, MEDIUM)
            lead.because.append(
                said(evidence, f"the launcher saw rank {rank} fail first, and nobody else failed by itself")
            )
    if lead.rank is not None:
        lead.suspects = (lead.rank,)
        is_told = cause.first.sighting.symptom.origin.rank not in {None, lead.rank}
        own = None if is_told or cause.first.name in _TOLD_BY_ONE else cause.first.file
        lead.node = cluster.node_of(lead.rank, own) or lead.node
        lead.local_rank = cluster.local_rank_of(lead.rank)


def _ranks_beside(cause: Cause, cluster: Cluster) -> tuple[int, ...]:
    """Ranks told on the same line by another row, or by the exception that a kernel assertion led to."""
    first = cause.first
    failed = first.sighting.symptom.fields.get("failed")
    if failed is not None:
        return tuple(sorted({int(part) for part in failed.replace(",", " ").split()}))
    same_line = {
        cluster.rank_of(item, first.file)
        for found in cause.candidates
        for item in found.log.sightings
        if item.symptom.evidence.line == found.sighting.symptom.evidence.line
    }
    if first.name in {"coordination_unhealthy", "coordination_barrier"}:
        same_line |= _listed_below(first)
    if first.name in {"nccl_cuda_oom", "nccl_cuda_failure"}:
        same_line |= _raised_for_cuda(first)
    if first.name in {"collective_nan_check", "device_assertion"}:
        same_line |= {
            cluster.rank_of(item, first.file)
            for item in first.log.all_of("device_assert")
            if item.attempt == first.sighting.attempt
        }
    return tuple(sorted(rank for rank in same_line if rank is not None and not speaks_of_another(first.sighting, rank)))


def _raised_for_cuda(first: Candidate) -> set[int | None]:
    """The one rank to which NCCL threw what CUDA had told it."""
    thrown = {
        item.symptom.origin.rank
        for item in first.log.all_of("nccl_error_raised")
        if item.attempt == first.sighting.attempt and "cuda" in item.symptom.fields["kind"].lower()
    }
    return thrown if len(thrown) == 1 else set()


def _listed_below(first: Candidate) -> set[int | None]:
    """The tasks that stand one by one on the lines below."""
    place = first.sighting.symptom.evidence.line or 0
    listed: set[int | None] = set()
    for item in first.log.all_of("coordination_task"):
        if item.symptom.evidence.line == place + 1:
            place += 1
            listed.add(int(item.symptom.fields["rank"]))
    return listed


def _clearly_first(cause: Cause) -> tuple[int, ...]:
    """One rank said it so long before the others that no clock can be wrong about it."""
    times: dict[int, float] = {}
    for found in cause.candidates:
        time = found.sighting.symptom.time
        if found.rank is None or time is None:
            return ()
        times[found.rank] = min(time, times.get(found.rank, time))
    ordered = sorted(times.items(), key=lambda item: item[1])
    return (ordered[0][0],) if len(ordered) > 1 and ordered[1][1] - ordered[0][1] > SAME_MOMENT else ()


def _weigh_kill(lead: Lead, cause: Cause, case: Case, cluster: Cluster) -> None:
    """A kill is an out-of-memory kill for sure only when kernel, scheduler or runtime say so."""
    proofs = killed.confirmations(case, cluster, cause.first)
    own_words = cause.first.name in {"ray_task_oom", "host_allocation_failed"}
    lead.because += [
        sentence for sentence in killed.why_killed(case, cluster, cause.first) if sentence not in lead.because
    ]
    if proofs:
        lead.confidence = HIGH if any(killed.is_sure(proof, cause.first) for proof in proofs) else MEDIUM
        told = {proof.node for proof in proofs if proof.node is not None}
        lead.node = lead.node or (told.pop() if len(told) == 1 else None)
        lead.details |= proofs[0].sighting.symptom.fields
        if not own_words:
            lead.evidence = proofs[0].sighting.symptom.evidence
        if proofs[0].rank is not None and lead.rank in {None, proofs[0].rank}:
            lead.rank, lead.suspects = proofs[0].rank, (proofs[0].rank,)
        return
    if own_words or list(killed.cgroup_kills(case)):
        return
    lead.confidence = LOW
    victim = cause.first.file
    has_kernel_log = killed.reads_kernel_log(case, cluster, lead.node, victim)
    has_counter = killed.counts_kills(case, victim)
    if not has_kernel_log:
        counter = ": it alone" if has_counter else ", or the cgroup's oom_kill counter: they alone"
        lead.next.insert(0, f"read the kernel log of its node (dmesg){counter} can confirm it")
    if not has_kernel_log and not has_counter:
        lead.runner_up = "somebody's kill -9, or the scheduler: without the kernel log this cannot be told apart"
        return
    is_loader = cause.first.name == "loader_worker_killed"
    lead.category = Category.DATALOADER_CRASH if is_loader else Category.RANK_CRASH
    if has_kernel_log:
        lead.because.append(
            "the kernel log is here and shows no out-of-memory kill of it: somebody or something else killed it"
        )
    else:
        lead.because.append("the memory group's counter tells of no kill by the kernel; the kernel log was not read")
        lead.runner_up = "the kernel ended it for lack of memory: without the kernel log this cannot be ruled out"
