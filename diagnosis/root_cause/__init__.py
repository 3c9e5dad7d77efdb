"""Why did it stop: one explanation of a run's evidence, with the rank and node it names only when it can.

The order of the rules:

1. telling lines of role root, the earliest first, hardware and memory before exceptions before signals
   (`errors.py`); their envelopes are opened; what was survived or came after the end (`passed.py`) and what is about
   somebody else (`belongs.py`, `left_out.py`) is left out, and what a rank was at tells the kind (`at_work.py`);
2. numbers that went bad before any of them (`numbers.py`);
3. what kernel, scheduler and launcher say of killed processes (`killed.py`, `stops.py`);
4. a rank that finished early; a run that waits, and who it waits for (`hang.py`): the watchdog's counters,
   flight recorder, stacks, process states, GPUs, last lines, each a hint with a weight;
5. the network (`network.py`), a stop from outside, a launcher's bare word;
6. a spike, a slowdown; or nothing.
"""

from diagnosis import loss_advice
from diagnosis.advice import advice_for
from diagnosis.case import Case, CaseFile
from diagnosis.findings import Severity
from diagnosis.instructions import MOST_STEPS, without_repeats
from diagnosis.observations import Category
from diagnosis.root_cause import hang as hanging
from diagnosis.root_cause.answer import Confidence, Diagnosis
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.decide import decide
from diagnosis.root_cause.hang import Hang
from diagnosis.root_cause.last_words import unknown_end
from diagnosis.root_cause.lead import WORDS, Lead, said, short
from diagnosis.root_cause.left_out import leave_out
from diagnosis.root_cause.numbers import WORSE_SINCE_RESUME
from diagnosis.root_cause.timeline import Timeline

__all__ = ["UNKNOWN_END", "UNKNOWN_SILENCE", "Confidence", "Diagnosis", "diagnose"]

UNKNOWN_END = "unknown_end"
"""The signature of a diagnosis that only knows that a log ends in trouble."""

UNKNOWN_SILENCE = "unknown_silence"
"""The signature of a diagnosis that only knows that no step came for long before a log ended."""

_SILENT = (
    "Look whether the run still lives, and take `py-spy dump --nonblocking` of every rank while it does.",
    "Read the end of every other log, the scheduler's word and the kernel log of each node.",
)
_UNKNOWN = (
    "Read the lines around it, and the same moment in the logs of other ranks.",
    "Read how each process ended: its standard error, the scheduler's word, the kernel log of its node.",
)
_NOBODYS = frozenset(
    {
        Category.PREEMPTED,
        Category.INIT_TIMEOUT,
        Category.LOSS_SPIKE,
        Category.SLOWDOWN,
        Category.NODE_LOST,
        Category.NAN_INF,
    }
)
"""Categories in which no rank is looked for."""
_CLEAR = 7
"""A hint of this weight shows that ranks wait, lawfully or not."""
_KEPT = 12
_RECORDS = (".json", ".jsonl", ".csv", ".tsv")
"""What a framework writes beside its log."""


def diagnose(case: Case) -> Diagnosis:
    """The one explanation the evidence bears best; category none when nothing is wrong."""
    timeline = Timeline(case)
    leave_out(case, timeline)
    cluster = Cluster(case)
    hang = hanging.gather(case, cluster, timeline)
    lead = decide(case, cluster, timeline, hang)
    unknown = tuple(_not_seen(case, cluster, lead))
    if lead is None:
        return _nothing(case, timeline, hang, unknown)
    words: Confidence = WORDS[lead.confidence]  # type: ignore[assignment]
    return Diagnosis(
        category=lead.category,
        confidence=words,
        culprit_rank=lead.rank,
        culprit_node=lead.node,
        culprit_local_rank=lead.local_rank if lead.local_rank is not None else cluster.local_rank_of(lead.rank),
        suspects=lead.suspects if len(lead.suspects) > 1 else (),
        first_bad_step=lead.step,
        first_bad_time=lead.time,
        evidence=lead.evidence,
        signature=lead.signature,
        because=tuple(dict.fromkeys(lead.because))[:_KEPT],
        next=tuple(without_repeats([*lead.next, *_advice(lead)], MOST_STEPS)),
        unknown=unknown,
        runner_up=lead.runner_up,
        details=lead.details,
    )


def _advice(lead: Lead) -> tuple[str, ...]:
    """What to do about a category; a loss that stays up asks for more than a spike."""
    if lead.signature == WORSE_SINCE_RESUME:
        return loss_advice.RESUMED
    return loss_advice.advice_for(lead.signature) if lead.signature == "divergence" else advice_for(lead.category)


def _nothing(case: Case, timeline: Timeline, hang: Hang, unknown: tuple[str, ...]) -> Diagnosis:
    """No rule speaks; whether that means that all is well."""
    end = unknown_end(case) if case.looked_at is None and not timeline.is_finished() else None
    if end is not None:
        told = said(end, f"a log ends in words of trouble that no rule knows: “{short(end.text.strip())}”")
        return Diagnosis(
            Category.NONE, "low", evidence=end, signature=UNKNOWN_END, because=(told,), next=_UNKNOWN, unknown=unknown
        )
    if case.looked_at is None and not timeline.is_finished() and hanging.is_silent(hang):
        silent = hanging.how_silent(hang) or ""
        because = (silent, "nothing shows that ranks wait: these files cannot tell whether it hung")
        return Diagnosis(
            Category.NONE,
            "low",
            evidence=timeline.last.evidence if timeline.last is not None else None,
            signature=UNKNOWN_SILENCE,
            because=because,
            next=_SILENT,
            unknown=unknown,
        )
    sure: Confidence = "high" if timeline.is_finished() else "medium" if timeline.has_steps else "low"
    return Diagnosis(Category.NONE, sure, because=_healthy(case, timeline, hang), unknown=unknown)


def _healthy(case: Case, timeline: Timeline, hang: Hang) -> tuple[str, ...]:
    if timeline.is_finished():
        over = "training is over: every rank that told steps had come to its end"
        hung = next(iter(hang.waits.waiting.values()), hang.waits.first)
        return (over, said(hung, "what timed out after it was the teardown")) if hung is not None else (over,)
    waits = [f"{hint.because}: no trouble unless it lasts" for hint in hang.hints if hint.weight >= _CLEAR][:2]
    last = timeline.last
    if last is None:
        return tuple(waits)
    errors = "no error in the files" if waits else "no error and no wait in the files"
    if any(finding.severity is Severity.CRITICAL for finding in case.findings):
        errors = "nothing shows that the run ended of it"
    return (f"{errors}; the newest step is {last.step:,}", *waits)


def unread(case: Case) -> list[str]:
    """What of these files nobody has read: of files that were cut, of words in another encoding, of lines too long."""
    told = list(case.unread[:_KEPT])
    told += [f"{file.path}: {file.problem}" for file in case.files if file.problem and file.kind != "unknown"][:4]
    told += [_of_long_lines(file) for file in case.files if file.unmatched.cut][:4]
    return told + _of_several_runs(case)


def _not_seen(case: Case, cluster: Cluster, lead: Lead | None) -> list[str]:
    """What would have helped and is not there."""
    is_live = case.looked_at is not None
    told = unread(case)
    if lead is None and not is_live:
        return told
    category = lead.category if lead is not None else Category.COLLECTIVE_HANG
    hangs = {Category.COLLECTIVE_HANG, Category.DATALOADER_STALL, Category.STORAGE_STALL, Category.NETWORK_FAULT}
    kernel = hangs | {Category.HOST_OOM, Category.GPU_HARDWARE, Category.RANK_CRASH, Category.NODE_LOST}
    if category in kernel and not case.of_kind("kernel_log"):
        told.append(f"no kernel log{'' if is_live else ' is among the files'} (Xid, out-of-memory kills, NFS)")
    if category in hangs:
        told += _no_looks(case, is_live=is_live)
    seen = {rank for file in case.files for rank in file.ranks}
    missing = [rank for rank in cluster.ranks if rank not in seen]
    if missing and len(seen) > 1:
        told.append(f"no log of {len(missing)} rank(s), the first is rank {missing[0]}")
    if lead is not None and lead.rank is None and lead.category not in _NOBODYS:
        told.append(_which_rank(lead, is_live=is_live, is_hang=lead.category in hangs))
    return told


def _of_long_lines(file: CaseFile) -> str:
    """How many lines of a file were cut."""
    first = f"line {file.unmatched.first_cut}"
    lines = f"{first} is" if file.unmatched.cut == 1 else f"{file.unmatched.cut} lines, the first is {first}, are"
    return f"{file.path}: {lines} longer than 64 KiB: what stands behind that was not read"


def _of_several_runs(case: Case) -> list[str]:
    """One run prints in one style, so logs in several are rarely of one; a watcher was told whose they are."""
    logs: dict[str, str] = {}
    for file in case.files:
        is_log = file.kind == "training_log" and not file.path.endswith(_RECORDS)
        if is_log and file.dialect and file.log is not None and file.log.last_step is not None:
            logs.setdefault(file.dialect, file.path)
    if case.looked_at is not None or len(logs) < 2:
        return []
    (first, one), (second, another) = list(logs.items())[:2]
    styles = f"{one} ({first}) and {another} ({second})"
    return [f"{styles} were read as logs of one run; if they are of two, look at each by itself"]


def _which_rank(lead: Lead, *, is_live: bool, is_hang: bool) -> str:
    """Why no rank is named."""
    if lead.suspects:
        return "which of the suspects was first"
    if is_hang:
        return f"which rank: nothing {'that the nodes told' if is_live else 'in the files'} tells the ranks apart"
    return "which rank: neither the line nor its file names one"


def _no_looks(case: Case, *, is_live: bool) -> list[str]:
    """The looks at GPUs and processes that a hang calls for."""
    where = "" if is_live else " among the files"
    told = []
    if not case.of_kind("gpu_samples", "nvidia_smi"):
        told.append("no GPU readings" if is_live else "no GPU samples are among the files")
    if is_live and not case.of_kind("process_state"):
        told.append("no process states")
    if not case.of_kind("stacks", "flight_recorder"):
        told.append(f"no stacks and no flight-recorder dumps{' are' if where else ''}{where}")
    return told
