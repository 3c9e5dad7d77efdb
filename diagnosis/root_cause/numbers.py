"""What the numbers say: NaN, a loss scale at its floor, a spike, steps that became slower for good."""

from diagnosis.case import Case
from diagnosis.findings import Finding, Severity
from diagnosis.log_facts import LogFacts
from diagnosis.observations import Category, Evidence
from diagnosis.pace import Shift
from diagnosis.resumed import SINCE_RESUME
from diagnosis.root_cause.lead import HIGH, LOW, MEDIUM, Hint, Lead, said

NONFINITE = (
    "nonfinite_loss",
    "nonfinite_grad_norm",
    "loss_vanished",
    "loss_zero",
    "nan_counter",
    "overflow_streak",
    "loss_scale_floor",
)
WORSE_SINCE_RESUME = "worse_since_resume"
SPIKES = ("loss_spike", "sustained_spike", "divergence")


def nonfinite_lead(case: Case) -> Lead | None:
    """The first non-finite number that did not go away, or its disguise."""
    found = [
        item
        for item in case.findings
        if item.kind in NONFINITE
        and item.evidence
        and item.severity is not Severity.INFO
        and item.kind not in case.cleared
    ]
    if not found:
        return None
    first = min(found, key=_when)
    strongest = max(found, key=lambda item: (item.severity is Severity.CRITICAL, -_when(item)[0]))
    if strongest.severity is not Severity.CRITICAL:
        return None
    lead = _lead(first, Category.NAN_INF, HIGH)
    lead.because += [
        said(item.evidence[0], item.text) for item in found[:6] if item is not first and item.kind != first.kind
    ]
    return lead


def spike_lead(case: Case) -> Lead | None:
    """A loss that climbs and stays; else the first spike that is worth a word."""
    found = [
        item for item in case.findings if item.kind in SPIKES and item.evidence and item.severity is not Severity.INFO
    ]
    if not found:
        return None
    climbs = [item for item in found if item.kind == "divergence" and item.kind not in case.cleared]
    if climbs:
        return _climb_lead(climbs[-1], found, case)
    first = min(found, key=_when)
    lead = _lead(first, Category.LOSS_SPIKE, MEDIUM)
    if first.kind == "divergence":
        lead.signature = "loss_spike"
    _name_resume(lead)
    lead.because = _told(first)
    is_over = first.kind in case.cleared
    lead.because.append("it recovered by itself" if is_over else "it had not recovered when the log ended")
    lead.because += _led_up(case)
    return lead


def _climb_lead(climb: Finding, found: list[Finding], case: Case) -> Lead:
    """From the first point above the level that was left, which a spike may have told before the climb was sure."""
    began = min((item for item in found if item is climb or _begins(item, climb)), key=_when)
    lead = _lead(began, Category.LOSS_SPIKE, HIGH)
    lead.signature, lead.details = climb.kind, dict(climb.details)
    _name_resume(lead)
    # The line is that of the step since which it stays, not of the best level.
    stays, _, after = climb.text.partition(", after ")
    lead.because = [said(climb.evidence[0], stays)]
    if after:
        lead.because.append(f"the best level before it was {after}")
    if began is not climb:
        lead.because += _told(began)
    lead.because.append("it had not recovered when the log ended")
    lead.because += _led_up(case)
    return lead


def _name_resume(lead: Lead) -> None:
    """A loss that is worse since a resume asks for other steps than one that climbs in the middle of a run."""
    if lead.details.get("since") == SINCE_RESUME:
        lead.signature = WORSE_SINCE_RESUME


def _begins(spike: Finding, climb: Finding) -> bool:
    """Whether a spike lies between the best level that a climb left and the climb."""
    best = climb.details.get("best_step", "").replace(",", "")
    if spike.kind == climb.kind or spike.step is None or climb.step is None or not best.isdigit():
        return False
    return int(best) < spike.step <= climb.step


def _told(spike: Finding) -> list[str]:
    """A spike's sentence beside the line of its peak where it names the peak, and where the spike began."""
    first, *later = spike.evidence
    peak = spike.details.get("peak_step")
    if not later or spike.step is None or peak in {None, f"{spike.step:,}"} or f"step {peak}" not in spike.text:
        return [said(first, spike.text)]
    return [said(later[0], spike.text), said(first, f"the first point above is that of step {spike.step:,}")]


def _led_up(case: Case) -> list[str]:
    return [
        said(item.evidence[0], item.text) for item in case.findings if item.kind == "grad_norm_lead" and item.evidence
    ][:1]


def slowdown_lead(case: Case, hints: list[Hint]) -> Lead | None:
    """Steps that take longer from some step on; a rank only where two kinds of evidence, or many looks, agree on it."""
    shift, log = _largest_shift(case)
    if shift is None or log is None:
        finding = next((item for item in case.findings if item.kind == "slowdown" and item.evidence), None)
        if finding is None:
            return None
        lead = _lead(finding, Category.SLOWDOWN, MEDIUM)
        _name_straggler(lead, hints)
        return lead
    evidence = shift.first.evidence
    text = f"steps take {shift.after:.3g} s since step {shift.first.step:,}, "
    text += f"{shift.ratio:.2f} times the {shift.before:.3g} s before"
    lead = Lead(
        Category.SLOWDOWN, evidence, "slower_steps", MEDIUM, step=shift.first.step, because=[said(evidence, text)]
    )
    if not _name_straggler(lead, hints) and shift.ratio < 1.15:
        lead.confidence = LOW
    _throttled(lead, case)
    return lead


def _name_straggler(lead: Lead, hints: list[Hint]) -> bool:
    """The one rank that everybody waits for again and again."""
    named = [hint for hint in hints if hint.weight >= 7 and len(hint.ranks) == 1]
    is_sure = len(named) >= 2 or any(hint.looks for hint in named)
    if not is_sure or len({hint.ranks for hint in named}) != 1:
        return False
    lead.rank, lead.node = named[0].ranks[0], named[0].node
    lead.suspects = named[0].ranks
    lead.because += [hint.because for hint in named]
    return True


def _throttled(lead: Lead, case: Case) -> None:
    """A GPU that slows itself down, where exactly one node's report shows one."""
    found = [
        (file, note)
        for file in case.of_kind("nvidia_smi")
        for note in (file.smi.notes if file.smi is not None else ())
        if note.what == "throttled"
    ]
    for file, note in found[:3]:
        evidence = Evidence(file.path, note.line, note.text)
        gpu = f"GPU {note.bus}" if note.bus is not None else "a GPU"
        lead.because.append(said(evidence, f"{gpu} slows itself down: {note.text.strip()}"))
    nodes = {file.node for file, _ in found}
    if len(nodes) == 1:
        lead.node = lead.node or nodes.pop()


def _largest_shift(case: Case) -> tuple[Shift | None, LogFacts | None]:
    best: tuple[Shift | None, LogFacts | None] = (None, None)
    for _, log in case.logs():
        shift = log.pace.shift()
        if shift is not None and (best[0] is None or shift.ratio > best[0].ratio):
            best = (shift, log)
    return best


def _lead(finding: Finding, category: Category, confidence: int) -> Lead:
    evidence: Evidence = finding.evidence[0]
    return Lead(
        category,
        evidence,
        finding.kind,
        confidence,
        step=finding.step,
        time=finding.time,
        because=[said(evidence, finding.text)],
        details=dict(finding.details),
    )


def _when(finding: Finding) -> tuple[float, float]:
    step = float(finding.step) if finding.step is not None else float("inf")
    return (step, finding.time if finding.time is not None else float("inf"))
