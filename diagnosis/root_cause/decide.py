"""Weighs the explanations against each other and takes one."""

from collections.abc import Iterator, Sequence

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import Sighting
from diagnosis.observations import Category, Evidence, Role
from diagnosis.root_cause import exits, killed, network, numbers, stops
from diagnosis.root_cause import hang as hanging
from diagnosis.root_cause.candidates import Cause, Whose, is_of_others
from diagnosis.root_cause.caught import went_on
from diagnosis.root_cause.cluster import Cluster, is_same_node
from diagnosis.root_cause.errors import causes
from diagnosis.root_cause.hang import Hang
from diagnosis.root_cause.lead import LOW, MEDIUM, Lead, few, said, short
from diagnosis.root_cause.passed import SURVIVED_STEPS
from diagnosis.root_cause.telling import lead_of
from diagnosis.root_cause.timeline import Timeline
from diagnosis.signatures import ROWS, Tier

AFTER_WAIT = 60.0
"""A process killed this long after a wait began did not cause it."""
_EXPLAINED_BY_HARDWARE = frozenset(
    {Category.NETWORK_FAULT, Category.COLLECTIVE_HANG, Category.NAN_INF, Category.NODE_LOST}
)
_CUDA_ROWS = (
    "cublas_failed", "device_assert", "cuda_illegal_access", "cuda_launch_error", "cuda_aftermath", "segfault",
    "elastic_worker_failed", "fatal_signal", "cuda_no_device", "cuda_ecc", "cuda_nvlink", "gpu_vanished",
)  # fmt: skip
"""What a rank prints when its GPU or its host is at fault."""


def decide(case: Case, cluster: Cluster, timeline: Timeline, hang: Hang) -> Lead | None:
    """The explanation that the evidence bears best; None when nothing is wrong."""
    cause = _first_cause(case, cluster, timeline, hang)
    numeric = numbers.nonfinite_lead(case)
    if cause is not None and cause.first.whose is not Whose.OURS:
        # What may be somebody else's explains only an end that nothing else does.
        other = _without_cause(case, cluster, timeline, hang, numeric)
        return other or (None if timeline.is_finished() else lead_of(cause, case, cluster, timeline))
    if cause is not None:
        lead = lead_of(cause, case, cluster, timeline)
        if is_of_others(cause.first):
            _name_by_hints(lead, hang)
        before = timeline.step_before(cause.first.sighting, cause.first.log)
        return _with_wear(_with_numbers(lead, numeric, before), case, cluster)
    return _without_cause(case, cluster, timeline, hang, numeric)


def _without_cause(case: Case, cluster: Cluster, timeline: Timeline, hang: Hang, numeric: Lead | None) -> Lead | None:
    """What numbers, waits and launchers tell where no line tells a cause."""
    if numeric is not None:
        return _with_wear(numeric, case, cluster)
    confirmed = _confirmed(case, cluster, timeline)
    if confirmed is not None:
        return confirmed
    asked = stops.left_when_asked(case, cluster, timeline, hang.waits) if hang.waits.is_established else None
    if asked is not None:
        return asked
    early = _early_finisher(timeline, cluster, hang)
    waiting = hanging.lead_of(hang)
    broken = network.lead_of(case, cluster, timeline) if not timeline.is_finished() else None
    if early is not None and (waiting is None or not waiting.suspects or waiting.suspects == early.suspects):
        return early
    if (
        waiting is not None
        and not waiting.suspects
        and broken is not None
        and waiting.category is Category.COLLECTIVE_HANG
    ):
        broken.because += [sentence for sentence in waiting.because if sentence not in broken.because][:4]
        return broken
    is_bare = waiting is not None and _shows_no_wait(waiting, hang)
    if waiting is not None and not is_bare:
        return _with_own_words(waiting, case, cluster)
    if timeline.is_finished():
        return numbers.spike_lead(case) or numbers.slowdown_lead(case, hang.hints)
    ended = (
        exits.launcher_lead(case, cluster, timeline, hang.waits)
        or stops.stopped_lead(case, cluster, timeline)
        or broken
        or stops.own_lead(case, cluster, timeline)
        or _silent_node(case, cluster, timeline)
    )
    # A loss that was high, or steps that were slow, do not make a run stand.
    return ended or (None if is_bare else numbers.spike_lead(case) or numbers.slowdown_lead(case, hang.hints))


def _shows_no_wait(waiting: Lead, hang: Hang) -> bool:
    """Of a living run only its silence is known: no word of a wait, no hint, and not several ranks that were seen."""
    if hang.case.looked_at is None or waiting.category is not Category.COLLECTIVE_HANG:
        return False
    waits = hang.waits
    is_told = (
        waits.timeouts
        or waits.waiting
        or waits.first
        or waits.watched
        or hang.hints
        or hang.everybody
        or hang.interrupted
    )
    ranks = {one.rank for file in hang.case.of_kind("process_state") for one in file.processes} - {None}
    is_seen = len(ranks) > 1 or bool(hang.gpus) or bool(hang.case.of_kind("stacks"))
    return not is_told and not is_seen and hang.timeline.open_phase(None) is None


def _name_by_hints(lead: Lead, hang: Hang) -> None:
    """Who the line speaks of, not who printed it."""
    lead.rank, lead.local_rank, lead.suspects, lead.confidence = None, None, (), MEDIUM
    lead.because = [sentence for sentence in lead.because if "nothing tells which was first" not in sentence]
    chosen, agreeing, against = hanging.choose(hang.hints)
    if chosen is not None and chosen.weight >= 5 and not against:
        hanging.name(lead, chosen, agreeing, against, hang)
        lead.evidence = chosen.evidence


def _first_cause(case: Case, cluster: Cluster, timeline: Timeline, hang: Hang) -> Cause | None:
    found = [cause for cause in causes(case, cluster, timeline) if not _came_after(cause, hang)]
    if not found:
        return None
    first = found[0]
    if first.first.file.kind == "kernel_log":
        spoken = next((cause for cause in found if cause.first.file.kind != "kernel_log"), None)
        if spoken is not None and not _explains(first, spoken):
            return spoken
    return first


def _explains(kernel: Cause, spoken: Cause) -> bool:
    """Whether what the kernel says can be behind what a rank says."""
    if spoken.category in _EXPLAINED_BY_HARDWARE or spoken.first.name in _CUDA_ROWS:
        return True
    storage = {Category.STORAGE_STALL, Category.DATALOADER_STALL, Category.CHECKPOINT_FAILURE}
    return kernel.category is spoken.category or (
        kernel.category is Category.STORAGE_STALL and spoken.category in storage
    )


def _was_asked_before(cause: Cause) -> bool:
    """Its job had been asked to stop: what a rank then raises is its farewell."""
    first = cause.first
    signals = [
        item
        for item in first.log.all_of("agent_got_signal", "sigterm_seen")
        if item.attempt == first.sighting.attempt and item.symptom.origin.rank in {None, first.rank}
    ]
    return bool(signals) and all(
        any(_is_soon_after(item, found.sighting) for item in signals) and found.log is first.log
        for found in cause.candidates
    )


def _is_soon_after(signal: Sighting, raised: Sighting) -> bool:
    """Before the process had trained on for long."""
    return signal.order < raised.order and raised.steps_before - signal.steps_before < SURVIVED_STEPS


def _came_after(cause: Cause, hang: Hang) -> bool:
    """Killed, aborted or raised by a rank that had long been waiting: a consequence of the wait."""
    first = cause.first
    if first.name in killed.LAUNCHERS_WORD and killed.is_asked_for(first):
        return True
    if first.name == "python_exception" and _was_asked_before(cause):
        return True
    began = hang.waits.began
    is_late = (
        began is not None
        and first.sighting.symptom.time is not None
        and first.sighting.symptom.time > began + AFTER_WAIT
    )
    if is_late and first.tier in {Tier.SIGNAL, Tier.LAUNCHER}:
        return True
    if first.name == "python_exception" and cause.ranks and set(cause.ranks) <= hang.waits.waiting.keys():
        waited = hang.waits.waiting[cause.ranks[0]]
        is_before = (waited.line or 0) < (first.sighting.symptom.evidence.line or 0)
        # Who told steps and then waited as the others did had survived what it raised before.
        return waited.file == first.file.path and (is_before or went_on(first.sighting, first.log))
    return False


def _with_numbers(lead: Lead, numeric: Lead | None, before: int | None) -> Lead:
    """A NaN that came first explains a crash; a crash about NaN takes its step from the numbers."""
    if numeric is None:
        return lead
    if lead.category is Category.NAN_INF:
        if numeric.step is not None and (lead.step is None or numeric.step < lead.step or before is None):
            lead.step, lead.time = numeric.step, numeric.time if numeric.time is not None else lead.time
        lead.because += numeric.because
        return lead
    is_earlier = numeric.step is not None and before is not None and numeric.step <= before
    if _is_printed_before(lead, numeric):
        # A buffer may hold steps back, but what is printed first is told first.
        lead.step = numeric.step if lead.step is not None and is_earlier else lead.step
        lead.because += [f"printed after it: {text}" for text in numeric.because[:1]]
        return lead
    if not is_earlier or lead.category in {Category.GPU_HARDWARE, Category.GPU_OOM, Category.HOST_OOM}:
        lead.because += numeric.because[:1]
        return lead
    later = "came later: " if _is_printed_before(numeric, lead) else "was "
    numeric.because.append(f"what ended the run {later}{lead.because[0]}")
    return numeric


def _is_printed_before(one: Lead, other: Lead) -> bool:
    """Whether the line of one stands above the other's in the same file."""
    first, second = one.evidence, other.evidence
    is_same = first.file == second.file and first.line is not None and second.line is not None
    return is_same and (first.line or 0) < (second.line or 0)


def _with_wear(lead: Lead, case: Case, cluster: Cluster) -> Lead:
    """A NaN beside memory faults of a GPU on the same node: suspect the GPU."""
    files = case.of_kind("kernel_log", "nvidia_smi") if lead.category is Category.NAN_INF else []
    for file in files:
        node = cluster.node_of_file(file)
        if lead.node is not None and node is not None and not is_same_node(lead.node, node):
            continue
        worn = list(_faults(file))
        if worn and (lead.node is not None or lead.rank is not None or len(files) == 1):
            evidence, count = worn[0][0], sum(times for _, times in worn)
            lead.because.insert(
                0, said(evidence, f"the GPU driver of {node or 'this node'} reports memory faults, {count} times")
            )
            lead.category, lead.evidence, lead.signature = Category.GPU_HARDWARE, evidence, "nan_beside_gpu_fault"
            lead.node = lead.node or node
            lead.confidence = MEDIUM
            lead.next.insert(0, "run the same step on another node: if the NaN is gone it was the GPU")
            return lead
    return lead


def _faults(file: CaseFile) -> Iterator[tuple[Evidence, int]]:
    """Memory faults of a GPU that a kernel log or nvidia-smi reports, and how often."""
    for item in file.log.sightings if file.log is not None else ():
        if item.symptom.category is Category.GPU_HARDWARE and item.symptom.role in {Role.CONTEXT, Role.ROOT}:
            yield item.symptom.evidence, item.count
    for note in file.smi.notes if file.smi is not None else ():
        if note.what in {"ecc", "remapped"}:
            yield Evidence(file.path, note.line, note.text), 1


def _confirmed(case: Case, cluster: Cluster, timeline: Timeline) -> Lead | None:
    """Only those speak of it that usually confirm: the scheduler, the kernel, a worker's last line."""
    if timeline.is_finished():
        return None
    for cause in causes(case, cluster, timeline, Role.CONFIRM):
        # A kernel ends processes of anybody, but a GPU of the node is the run's.
        if cause.first.file.kind != "kernel_log" or cause.ranks or cause.category is Category.GPU_HARDWARE:
            return lead_of(cause, case, cluster, timeline)
    return None


def _with_own_words(lead: Lead, case: Case, cluster: Cluster) -> Lead:
    """The one rank that did not wait may have said why, in words that alone would prove nothing."""
    words = stops.own_words(case, cluster, lead.rank) if lead.rank is not None else None
    if words is not None and lead.category is Category.COLLECTIVE_HANG:
        symptom = words.sighting.symptom
        lead.category, lead.evidence, lead.signature = symptom.category, symptom.evidence, symptom.signature
        lead.because.insert(0, said(symptom.evidence, f"rank {lead.rank}: {short(symptom.evidence.text.strip())}"))
        lead.next.insert(0, ROWS[symptom.signature].advice)
    return lead


def _early_finisher(timeline: Timeline, cluster: Cluster, hang: Hang) -> Lead | None:
    """One rank says it is done while the others wait or break: its data was shorter, or it left the loop."""
    done = timeline.early_finishers()
    if not done or not (hang.waits.is_established or hang.waits.falling):
        return None
    ranks = tuple(sorted(done))
    mark = done[ranks[0]]
    category = Category.COLLECTIVE_HANG if hang.waits.is_established else Category.RANK_CRASH
    lead = Lead(category, mark.evidence, "finished_early", MEDIUM, time=mark.time, suspects=ranks)
    lead.rank = ranks[0] if len(ranks) == 1 else None
    lead.node = cluster.node_of(lead.rank) if lead.rank is not None else None
    lead.local_rank = cluster.local_rank_of(lead.rank)
    lead.step = timeline.first_bad(None, None)
    lead.because = [said(mark.evidence, f"{few(ranks)} said it is done while the others still trained")]
    lead.next = ["give every rank the same number of batches: drop the last ones, pad, or use DDP's Join"]
    return lead


def _silent_node(case: Case, cluster: Cluster, timeline: Timeline) -> Lead | None:
    found = network.silent_node(case, cluster)
    if found is None:
        return None
    node, sentence = found
    line = next((file for file in case.files if cluster.node_of_file(file) == node and file.tail), None)
    if line is None or line.log is None:
        return None
    newest: Sequence[str] = line.tail

    lead = Lead(Category.NODE_LOST, Evidence(line.path, line.lines, newest[-1]), "silent_node", LOW, node=node)
    lead.because, lead.step = [sentence], timeline.first_bad(None, None)
    lead.next = ["find out whether the node is alive: ping, its console, the scheduler's view of it"]
    return lead
