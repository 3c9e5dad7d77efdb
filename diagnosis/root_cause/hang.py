"""A run that waits: whether it does, for which rank, and what that rank was doing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnosis.case import Case
from diagnosis.gpu_reading import Pattern
from diagnosis.log_facts import LogFacts
from diagnosis.observations import Category, Evidence, Phase
from diagnosis.root_cause import gpus as gpu_evidence
from diagnosis.root_cause import lines, moments, ras, stops
from diagnosis.root_cause import waits as waiting
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.gpus import NodeGpus
from diagnosis.root_cause.lead import HIGH, LOW, MEDIUM, Hint, Lead, said, short
from diagnosis.root_cause.timeline import Timeline
from diagnosis.root_cause.waits import Waits

SILENT_PACES = 20.0
"""A last step this many usual steps ago is a wait, where something else shows it too."""
SILENT_SECONDS = 120.0
ENDLESS_SECONDS = 900.0
"""GPUs that stay at 100 % for this long without a break, where the log tells no time."""
GONE_ON_SECONDS = 60.0
"""A log that told more this long after the newest sample went on."""
MOVED_SECONDS = 1700.0
"""A log that seems this much ahead of a dump may only be in another zone."""

_CATEGORY_OF_PHASE = {
    Phase.SAVING: Category.CHECKPOINT_FAILURE,
    Phase.TOKENISING: Category.DATALOADER_STALL,
    Phase.LOADING: Category.DATALOADER_STALL,
}


@dataclass(slots=True)
class Hang:
    """What was gathered before anything is concluded."""

    case: Case
    cluster: Cluster
    timeline: Timeline
    waits: Waits
    gpus: list[NodeGpus]
    hints: list[Hint]
    everybody: Hint | None
    interrupted: Lead | None


def gather(case: Case, cluster: Cluster, timeline: Timeline) -> Hang:
    """Every hint at a rank that did not wait like the others."""
    waits = waiting.read_waits(case, cluster)
    gpus = gpu_evidence.read_gpus(case, cluster)
    hints = [
        *waiting.hints(waits, case, cluster),
        *moments.process_hints(case, cluster),
        *moments.minority_hints(case, cluster),
        *moments.recorder_hints(case),
        *ras.hints(case, cluster),
        *gpu_evidence.hints(gpus, cluster),
        *gpu_evidence.snapshot_hints(case, cluster),
    ]
    looks = [*moments.stack_hints(case, cluster), *lines.hints(case)]
    hints += [hint for hint in looks if not hint.ranks or not waits.joined.issuperset(hint.ranks)]
    everybody = moments.is_everybody_elsewhere(case, cluster)
    return Hang(case, cluster, timeline, waits, gpus, hints, everybody, _interrupted(case, timeline))


def lead_of(hang: Hang) -> Lead | None:
    """The explanation of a hang, or None when nothing shows one."""
    shown = _what_shows_it(hang)
    if shown is None:
        return None
    chosen, agreeing, against = choose(hang.hints)
    lead = _begin(hang, shown)
    if chosen is not None:
        name(lead, chosen, agreeing, against, hang)
    else:
        lead.confidence = LOW
        nameless = max((hint for hint in hang.hints if not hint.ranks), key=lambda hint: hint.weight, default=None)
        if nameless is not None:
            lead.evidence, lead.node, lead.confidence = nameless.evidence, nameless.node, MEDIUM
            if nameless.category is not None:
                chosen = nameless
        state = waiting.common_state(hang.waits)
        if state is not None:
            lead.because.append(state)
            lead.next.insert(
                0, "suspect the network or a GPU: run nccl-tests over these nodes, read port counters and kernel logs"
            )
    _classify(lead, chosen, hang)
    if chosen is not None and "file lock" in chosen.because:
        lead.next.insert(
            0, "find who holds the lock: lslocks on its node; end that process, or give each rank its own file"
        )
    lead.because += [hint.because for hint in hang.hints if hint.because not in lead.because][:6]
    lead.because += _how_silent(hang) if not lead.because else []
    return lead


def _how_silent(hang: Hang) -> list[str]:
    """For how long nothing but other lines was told, where nothing else shows the wait."""
    sentence = how_silent(hang)
    return [sentence] if sentence is not None else []


def how_silent(hang: Hang) -> str | None:
    """For how long the log went on after its last step; None where no times tell it."""
    last, pace, end = hang.timeline.last, hang.timeline.usual_pace, hang.timeline.last_time
    if last is None or last.time is None or end is None:
        return None
    usual = f", where a step took {pace:.3g} s" if pace is not None else ""
    looked_at = hang.case.looked_at
    if looked_at is not None and looked_at - last.time >= 1.0:
        return said(last.evidence, f"no step for {looked_at - last.time:.0f} s, after step {last.step:,}{usual}")
    if end - last.time < 1.0:
        return said(last.evidence, f"the log ends with step {last.step:,}{usual}")
    return said(
        last.evidence, f"no step in the last {end - last.time:.0f} s of the log, after step {last.step:,}{usual}"
    )


def is_silent(hang: Hang) -> bool:
    """Whether other lines go on long after the last step."""
    last, pace, end = hang.timeline.last, hang.timeline.usual_pace, hang.timeline.last_time
    if last is None or last.time is None or end is None or pace is None:
        return False
    return end - last.time >= max(SILENT_SECONDS, SILENT_PACES * pace) and not _may_save(hang)


def choose(hints: Sequence[Hint]) -> tuple[Hint | None, list[Hint], list[Hint]]:
    """The strongest hint, narrowed by others that share a rank with it; those that agree, those that do not."""
    ranked = sorted((hint for hint in hints if hint.ranks), key=lambda hint: (-hint.weight, len(hint.ranks)))
    if not ranked:
        return None, [], []
    best = ranked[0]
    ranks = set(best.ranks)
    agreeing, against = [], []
    for hint in ranked[1:]:
        common = ranks & set(hint.ranks)
        if common:
            agreeing.append(hint)
            if hint.weight >= 4:
                ranks = common
        elif hint.weight >= max(6, best.weight - 1):
            against.append(hint)
    narrowed = tuple(sorted(ranks))
    category = best.category or next((hint.category for hint in agreeing if hint.category is not None), None)
    node = best.node or next((hint.node for hint in agreeing if hint.node is not None), None)
    return replace(best, ranks=narrowed, node=node, category=category), agreeing, against


def _what_shows_it(hang: Hang) -> Evidence | None:
    """The line that shows that the run waits; None when it does not, or may lawfully."""
    if hang.timeline.is_finished() and (not hang.waits.timeouts or hang.timeline.is_over):
        return None
    if hang.waits.first is not None:
        return hang.waits.first
    if hang.waits.waiting:
        return next(iter(hang.waits.waiting.values()))
    if hang.waits.watched is not None:
        return hang.waits.watched
    saving = Category.CHECKPOINT_FAILURE
    strong = [hint for hint in hang.hints if hint.weight >= 7 and hint.category is not saving]
    if _went_on(hang):
        stopped = [hint for hint in strong if hint.weight >= 9 and "stopped" in hint.because]
        return stopped[0].evidence if stopped else None
    if strong and not _may_save(hang):
        return strong[0].evidence
    if hang.everybody is not None and hang.everybody.category is not saving and not _may_save(hang):
        return hang.everybody.evidence
    if hang.interrupted is not None:
        return hang.interrupted.evidence
    return _frozen_gpus(hang) or _silence(hang)


def _went_on(hang: Hang) -> bool:
    """The log tells steps after the moment that the evidence shows, or the run is known to make progress."""
    if hang.case.looked_at is not None and not hang.case.is_stalled:
        return True
    recorded, last = moments.newest_record(hang.case), hang.timeline.last
    if moments.recorder_moved(hang.case):
        return True
    if recorded is None or last is None or last.time is None:
        return False
    pace = hang.timeline.usual_pace or 1.0
    return max(5.0, 5 * pace) < last.time - recorded < MOVED_SECONDS


def _may_save(hang: Hang) -> bool:
    """A save or an evaluation that began and has not lasted long may lawfully hold everybody up."""
    found = hang.timeline.open_phase(None)
    if found is None or hang.case.is_stalled:
        return False
    _, passage = found
    ends = [gpus.table.newest_time for gpus in hang.gpus if gpus.table.newest_time is not None]
    recorded = moments.newest_record(hang.case)
    newest = max([*ends, *([recorded] if recorded is not None else []), hang.timeline.last_time or 0.0])
    return passage.time is None or newest - passage.time < 600.0


def _frozen_gpus(hang: Hang) -> Evidence | None:
    """GPUs that stay at 0 % or at 100 % while the log says nothing more."""
    if not hang.gpus or not all(node.is_frozen for node in hang.gpus):
        return None
    last = hang.timeline.last_time
    for node in hang.gpus:
        pattern = node.reading.pattern
        newest = node.table.newest_time
        if last is not None and newest is not None and GONE_ON_SECONDS < last - newest < MOVED_SECONDS:
            return None
        begin = last if last is not None else node.frozen_since
        allowed = SILENT_SECONDS if last is not None else ENDLESS_SECONDS
        is_late = begin is not None and newest is not None and newest - begin > allowed
        if pattern in {Pattern.FEW_IDLE, Pattern.ALL_IDLE, Pattern.ALL_SPIN, Pattern.LOST} or (
            pattern is Pattern.ALL_BUSY and is_late
        ):
            return node.evidence(next(iter(node.table.readings)))
    return None


def _silence(hang: Hang) -> Evidence | None:
    """A run that is known to stand; or other lines go on long after the last step and something shows a wait."""
    last = hang.timeline.last
    if last is None or (not hang.case.is_stalled and not is_silent(hang)):
        return None
    return last.evidence if hang.case.is_stalled or _is_shown(hang) else None


def _is_shown(hang: Hang) -> bool:
    """A line speaks of waiting, somebody stopped it, a rank differs, or what had begun has not ended."""
    is_told = any(
        item.symptom.category is Category.COLLECTIVE_HANG and item.attempt == log.attempt and not item.steps_after
        for _, log in hang.case.logs()
        for item in log.sightings
    )
    stopped = any(log.all_of(*stops.SIGNALLED) or _is_interrupted(log) for _, log in hang.case.read_by_line())
    return is_told or stopped or bool(hang.hints) or hang.timeline.open_phase(None) is not None


def _is_interrupted(log: LogFacts) -> bool:
    return any(item.symptom.category is Category.PREEMPTED for item in log.all_of("python_exception"))


def _interrupted(case: Case, timeline: Timeline) -> Lead | None:
    """Somebody pressed Ctrl-C: where the main thread stood then is a stack."""
    for file, log in case.logs():
        for raised in log.raised:
            exception = raised.exception
            if exception is None or not exception.evidence.text.strip().lstrip("[").split("]")[-1].strip(
                ": "
            ).startswith("KeyboardInterrupt"):
                continue
            if not raised.passes("dataloader.py", "DataLoader") or raised.passes("__del__"):
                continue
            frame = raised.frames[0]
            evidence = raised.opened.evidence
            number = frame.line
            source = file.line(number + 1) if number is not None else None
            if source is not None and number is not None:
                evidence = Evidence(file.path, number + 1, source)
            lead = Lead(
                Category.DATALOADER_STALL, evidence, "interrupted_in_loader", MEDIUM, rank=exception.origin.rank
            )
            lead.because.append(
                said(evidence, f"when it was interrupted, the main thread waited for data: {short(evidence.text, 80)}")
            )
            lead.step = timeline.first_bad(None, None)
            return lead
    return None


def _begin(hang: Hang, shown: Evidence) -> Lead:
    lead = Lead(Category.COLLECTIVE_HANG, shown, "collective_hang", MEDIUM)
    lead.time = hang.waits.began
    if lead.time is None and hang.timeline.last is not None:
        lead.time = hang.timeline.last.time
    waits = hang.waits.timeouts
    if waits:
        first = waits[0]
        operation = f" in {first.operation}" if first.operation else ""
        number = f" number {first.sequence}" if first.sequence is not None else ""
        lead.because.append(
            said(first.evidence, f"{len({wait.rank for wait in waits})} rank(s) timed out{operation}{number}")
        )
    for node in hang.gpus:
        if node.reading.pattern not in {Pattern.NO_DATA, Pattern.UNCLEAR, Pattern.WORKING}:
            row = node.evidence(node.reading.odd[0] if node.reading.odd else next(iter(node.table.readings)))
            lead.because.append(said(row, node.reading.sentence()))
    return lead


def name(lead: Lead, chosen: Hint, agreeing: list[Hint], against: list[Hint], hang: Hang) -> None:
    """Put the suspect, or the suspects, into a lead, with what agrees and what does not."""
    lead.evidence = chosen.evidence
    lead.because.insert(0, chosen.because)
    lead.suspects = chosen.ranks
    if against:
        lead.confidence = LOW
        lead.runner_up = against[0].because
        lead.because.append(f"other evidence disagrees: {against[0].because}")
    else:
        strong = chosen.weight >= 8 or any(hint.weight >= 6 for hint in agreeing)
        lead.confidence = HIGH if strong and (agreeing or chosen.weight >= 9) else MEDIUM
        if len(chosen.ranks) == 1:
            lead.rank = chosen.ranks[0]
    nodes = {hang.cluster.node_of(rank) for rank in chosen.ranks}
    lead.node = nodes.pop() if len(nodes) == 1 else None
    lead.node = lead.node or chosen.node
    lead.local_rank = hang.cluster.local_rank_of(lead.rank)


def _classify(lead: Lead, chosen: Hint | None, hang: Hang) -> None:
    """What kind of wait it is, and at which step."""
    phase = hang.timeline.open_phase(hang.waits.began, chosen.ranks if chosen is not None else ())
    lead.step = hang.timeline.first_bad(None, None, lead.evidence)
    if chosen is not None and chosen.category is not None:
        lead.category = chosen.category
        _at_evaluation(lead, hang)
        return
    if phase is not None and phase[1].mark.phase in _CATEGORY_OF_PHASE:
        file, passage = phase
        lead.category = _CATEGORY_OF_PHASE[passage.mark.phase]
        lead.evidence = lines.newest_redraw(file, passage.mark)
        lead.signature = f"stuck_{passage.mark.phase}"
        lead.time = passage.time if passage.time is not None else lead.time
        lead.because.insert(
            0,
            said(lead.evidence, f"{_doing(passage.mark.phase)} had begun when the wait began, and did not end"),
        )
        done = hang.timeline.step_before(None, None)
        if passage.mark.phase is Phase.SAVING:
            lead.step = passage.mark.step if passage.mark.step is not None else done
        elif done is None:
            lead.step = 0
        return
    if hang.everybody is not None and hang.everybody.category is not None and chosen is None:
        lead.category, lead.evidence = hang.everybody.category, hang.everybody.evidence
        lead.because.insert(0, hang.everybody.because)
    elif hang.interrupted is not None and (chosen is None or chosen.weight < 8):
        lead.category, lead.evidence = hang.interrupted.category, hang.interrupted.evidence
        lead.because[:0] = hang.interrupted.because
        lead.rank = lead.rank if lead.rank is not None else hang.interrupted.rank
    elif chosen is None and any(node.reading.pattern is Pattern.ALL_IDLE for node in hang.gpus):
        lead.category = Category.DATALOADER_STALL
        lead.confidence = LOW
    _at_evaluation(lead, hang)


def _at_evaluation(lead: Lead, hang: Hang) -> None:
    """Stuck inside an evaluation: it belongs to the step that had just completed."""
    done = hang.timeline.step_before(None, None)
    for file in hang.case.of_kind("stacks"):
        if any("evaluat" in frame.function.lower() for stack in file.stacks for frame in stack.frames):
            lead.step = done if done is not None else lead.step
            return
    phase = hang.timeline.open_phase(hang.waits.began)
    if phase is not None and phase[1].mark.phase is Phase.EVALUATING:
        lead.step = phase[1].mark.step if phase[1].mark.step is not None else done


def _doing(phase: Phase) -> str:
    return {
        Phase.SAVING: "saving a checkpoint",
        Phase.TOKENISING: "tokenising the dataset",
        Phase.LOADING: "loading",
        Phase.EVALUATING: "an evaluation",
    }.get(phase, str(phase))
