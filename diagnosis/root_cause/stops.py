"""Runs that somebody stopped, and lines that usually follow and here are the first."""

import re

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import LogFacts, Sighting
from diagnosis.observations import Category, Evidence, Phase
from diagnosis.root_cause.candidates import Candidate, candidate
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.lead import LOW, MEDIUM, Lead, said
from diagnosis.root_cause.passed import GRACE_SECONDS, SURVIVED_STEPS
from diagnosis.root_cause.timeline import Timeline
from diagnosis.root_cause.waits import TIMEOUTS, Waits
from diagnosis.signatures import ROWS

SIGNALLED = ("agent_got_signal", "sigterm_seen", "slurm_cancelled", "loader_worker_terminated")
OWN = ("checkpoint_unexpected_pos", "loader_worker_exited", "remote_data_error", "cuda_oom_corrupted", "cuda_aftermath",
       "nccl_watchdog_stuck", "spawn_child_failed", "nccl_cuda_failure")  # fmt: skip
"""Rows that may start a trouble of the rank that prints them."""
OTHERS = ("store_unreachable", "store_waits_for_rank0", "hccl_connect_timeout", "rendezvous_lost", "ray_worker_died",
          "ray_task_failed",
          "store_connection_lost", "coordination_ended", "nccl_error_raised", "nccl_error_kind",
          "hccl_call_failed", "python_aborted", "gloo_peer_closed")  # fmt: skip
"""Rows that may be all there is, but speak of somebody else."""
_ASKED = frozenset({-15, -2, -1})
"""Exit codes of workers that a signal asked to stop."""
_GOES_ON = re.compile(
    r"(?i)\b(?:continu(?:e|es|ing)|ignor(?:ed|ing)|bypass(?:ed|ing)|keep(?:s|ing)? (?:on )?training)\b"
)
"""What a process says that was only asked to save."""
_BELOW = 10
"""Lines below `ActorDiedError` on which Ray says where the actor was."""


def stopped_lead(case: Case, cluster: Cluster, timeline: Timeline) -> Lead | None:
    """A signal from outside, where nothing explains it; who sent it, as far as the files tell."""
    found = [
        (file, log, item)
        for file, log in _newest(case)
        for item in log.all_of(*SIGNALLED)
        if item.attempt == log.attempt and not _trained_on(item, log)
    ]
    interrupts = [
        (file, log, item)
        for file, log in _newest(case)
        for item in log.all_of("python_exception")
        if item.attempt == log.attempt and item.symptom.category is Category.PREEMPTED
    ]
    chosen = min(found or interrupts, key=lambda entry: (entry[2].time or float("inf"), entry[2].order), default=None)
    if chosen is None:
        return _told_by_launcher(case, timeline)
    file, log, item = chosen
    evidence = item.symptom.evidence
    lead = Lead(Category.PREEMPTED, evidence, item.symptom.signature, MEDIUM, time=item.time)
    lead.node = item.symptom.fields.get("node") or cluster.node_of_file(file)
    lead.step = timeline.first_bad(item, log, evidence)
    lead.because.append(said(evidence, _what(item)))
    lead.because.append("no error of the training comes before it")
    return lead


def _trained_on(item: Sighting, log: LogFacts) -> bool:
    """Steps came after it, and it was no end: it said so, they came for long, or a checkpoint was loaded first."""
    if item.steps_after < SURVIVED_STEPS:
        return False
    last = log.last_told.time if log.last_told is not None else None
    is_long = last is not None and item.time is not None and last - item.time > GRACE_SECONDS
    was_resumed = any(
        passage.order > item.order and passage.mark.phase is Phase.LOADING and passage.mark.begins
        for passage in log.passages
    )
    return is_long or was_resumed or _GOES_ON.search(item.symptom.evidence.text) is not None


def _told_by_launcher(case: Case, timeline: Timeline) -> Lead | None:
    """Only torchrun's summary is left, and all that it tells is that its workers were asked to stop."""
    entries = [(log, entry) for _, log in _newest(case) for entry in log.elastic if entry.attempt == log.attempt]
    first = next((entry for _, entry in entries if entry.is_root and entry.evidence is not None), None)
    if first is None or first.evidence is None or any(entry.exit_code not in _ASKED for _, entry in entries):
        return None
    evidence = first.signal_evidence or first.evidence
    lead = Lead(Category.PREEMPTED, evidence, "elastic_worker_failed", MEDIUM, node=first.host)
    lead.step = timeline.first_bad(None, None, evidence)
    lead.because = [said(evidence, "all workers were asked to stop from outside (SIGTERM), and none failed by itself")]
    return lead


def left_when_asked(case: Case, cluster: Cluster, timeline: Timeline, waits: Waits) -> Lead | None:
    """A rank was asked to stop and left, and the others waited for it: stopped from outside, and nobody's fault."""
    for file, log in _newest(case):
        timeouts = [item.order for item in log.all_of(*TIMEOUTS)]
        for item in log.all_of("agent_got_signal", "sigterm_seen"):
            rank = cluster.rank_of(item, file)
            is_first = all(item.order < order for order in timeouts)
            if item.attempt != log.attempt or rank is None or rank in waits.waiting or not is_first:
                continue
            if item.time is not None and waits.ended is not None and item.time > waits.ended:
                continue
            evidence = item.symptom.evidence
            lead = Lead(Category.PREEMPTED, evidence, item.symptom.signature, MEDIUM, time=item.time)
            lead.step = timeline.first_bad(item, log, evidence)
            lead.because = [said(evidence, f"rank {rank} was asked to stop from outside (SIGTERM), and left")]
            lead.because.append(f"{len(waits.waiting)} rank(s) then waited for it in a collective")
            return lead
    return None


def own_lead(case: Case, cluster: Cluster, timeline: Timeline) -> Lead | None:
    """A line that usually follows from something else, and here is the first thing anybody said."""
    found = [
        candidate(item, file, log, cluster)
        for file, log in _newest(case)
        for item in log.all_of(*OWN, *OTHERS)
        if item.attempt == log.attempt and item.steps_after == 0
    ]
    first = min(
        found, key=lambda item: (item.name in OTHERS, item.time or float("inf"), item.sighting.order), default=None
    )
    if first is None or timeline.is_finished():
        return None
    symptom = first.sighting.symptom
    lead = Lead(symptom.category, symptom.evidence, symptom.signature, LOW, time=first.time)
    if first.name in OWN:
        lead.confidence = MEDIUM
        lead.rank = first.rank if len({item.rank for item in found if item.name == first.name}) == 1 else None
        lead.node = first.node
    elif first.name in {"ray_worker_died", "ray_task_failed"}:
        lead.node = symptom.fields.get("node") or _place_of_actor(first) or first.node
    lead.step = timeline.first_bad(first.sighting, first.log, symptom.evidence)
    lead.because = [said(symptom.evidence, "nothing earlier is in the files")]
    if first.name == "python_aborted" and first.rank is not None:
        lead.because.append("an abort alone names nobody: the watchdog ends whoever waits")
    lead.next = [ROWS[symptom.signature].advice]
    return lead


def _place_of_actor(first: Candidate) -> str | None:
    """The address that stands on one of the lines below the word that an actor died."""
    line = first.sighting.symptom.evidence.line or 0
    for item in first.log.all_of("ray_actor_place"):
        if "node" in item.symptom.fields and 0 < (item.symptom.evidence.line or 0) - line <= _BELOW:
            return item.symptom.fields["node"]
    return None


def own_words(case: Case, cluster: Cluster, rank: int) -> Candidate | None:
    """What one rank said of its own loader, data or files, before it went or stopped."""
    for file, log in _newest(case):
        for item in log.all_of(*OWN[:4]):
            found = candidate(item, file, log, cluster)
            if found.rank == rank and item.attempt == log.attempt and item.steps_after == 0:
                return found
    return None


def _newest(case: Case) -> list[tuple[CaseFile, LogFacts]]:
    return list(case.read_by_line())


def _what(item: Sighting) -> str:
    fields = item.symptom.fields
    if item.symptom.signature == "slurm_cancelled":
        return "the scheduler cancelled it without giving a reason: scancel, or a task that ended"
    number = fields.get("signal") or fields.get("number")
    if number in {"1", "SIGHUP"}:
        return "the terminal it was started from closed (SIGHUP)"
    if item.symptom.signature == "python_exception":
        name = (fields.get("type") or "").rsplit(".", 1)[-1]
        return "somebody interrupted it (Ctrl-C)" if name == "KeyboardInterrupt" else "it was asked to stop (SIGTERM)"
    return "it was asked to stop from outside (SIGTERM)"


def trace_sender(case: Case) -> Evidence | None:
    """The line of a supervisor that says that one of its parts failed first."""
    for _, log in case.read_by_line():
        for item in log.all_of("supervisor_child_failed"):
            if item.symptom.fields.get("exit_code") not in {"0", "-15"}:
                return item.symptom.evidence
    return None
