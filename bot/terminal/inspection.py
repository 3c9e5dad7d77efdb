"""The answer of `inspect` as a person likes to read it: what, where, how sure, why, what to do; then the numbers.

Log text is shown without control characters, so that nothing in a log can move the cursor, colour the screen or
hide what stands before it.
"""

import re
from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.inspect import Answer
from diagnosis.findings import Finding, Severity
from diagnosis.incidents.incident import is_worse
from diagnosis.observations import Category
from diagnosis.own_words import NAME_THEM, sample_of
from diagnosis.redaction import mask
from diagnosis.root_cause import UNKNOWN_END, UNKNOWN_SILENCE, Diagnosis
from diagnosis.root_cause.answer import printed_time
from diagnosis.root_cause.numbers import SPIKES, WORSE_SINCE_RESUME

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]|\x1b\\[[0-9;?]{0,20}[A-Za-z"
    "]?"
)
_STYLE = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
_SIGNED_TITLE = {
    "divergence": "The loss climbs and stays up",
    WORSE_SINCE_RESUME: "The loss is worse since the resume",
    UNKNOWN_END: "It ended in trouble that no rule knows",
    UNKNOWN_SILENCE: "Nobody can tell from these files whether it hung: no step came for long",
}
_TITLE = {
    Category.GPU_OOM: "A GPU ran out of memory",
    Category.HOST_OOM: "The host ran out of memory and a process was killed",
    Category.NAN_INF: "The numbers went NaN or infinite",
    Category.LOSS_SPIKE: "The loss spiked",
    Category.COLLECTIVE_HANG: "The ranks wait for each other",
    Category.NETWORK_FAULT: "The network between ranks failed",
    Category.GPU_HARDWARE: "A GPU is at fault",
    Category.DATALOADER_CRASH: "A data loader died",
    Category.DATALOADER_STALL: "The data does not come",
    Category.STORAGE_STALL: "Storage does not answer",
    Category.DISK_FULL: "A disk or quota is full",
    Category.CHECKPOINT_FAILURE: "A checkpoint could not be saved or loaded",
    Category.RANK_CRASH: "A process crashed",
    Category.PREEMPTED: "It was stopped from outside",
    Category.NODE_LOST: "A node was lost",
    Category.INIT_TIMEOUT: "The ranks did not find each other",
    Category.SLOWDOWN: "Steps became slower",
    Category.NONE: "Nothing is wrong, as far as these files tell",
}
_NOTED = {
    Severity.CRITICAL: ("This is critical, though nothing shows that the run ended of it", "red"),
    Severity.WARNING: ("Nothing stopped it, but look at this", "yellow"),
    Severity.INFO: ("Nothing needs you now; noted", "green"),
}
"""How a headline begins where no cause was found but a detector spoke, with its colour."""
MOST_FILES = 12
FEWEST_UNREAD = 3
"""Fewer lines are no series."""
_QUOTED = 100
"""Characters of the evidence that tell a reason which only quotes it."""
MOST_FINDINGS = 8


def clean(text: str, size: int = 400) -> str:
    """Log text that may stand on a terminal: one line, no control characters, no secrets, not endless."""
    shown = _UNSAFE.sub("·", mask(text).text.replace("\t", "  ").replace("\n", " "))
    return shown if len(shown) <= size else shown[: size - 1] + "…"


def print_answer(answer: Answer, console: Console | None = None) -> None:
    """Print the answer."""
    console = console or Console(highlight=False, soft_wrap=False)
    if answer.blind:
        _print_blind(answer.blind, console)
    else:
        _print_diagnosis(answer, console)
    _print_changes(answer, console)
    _print_numbers(answer, console)
    _print_findings(answer.findings, console)
    _print_files(answer, console)


def _print_blind(reasons: tuple[str, ...], console: Console) -> None:
    """No news from files that say nothing is no good news."""
    console.print(Text("● ", style="yellow").append(f"Cannot tell, because {clean(reasons[0])}", style="bold"))
    _print_list("Nor does the rest help", reasons[1:], console)


def _head(answer: Answer) -> tuple[str, str]:
    """The headline and its colour: never better news than the findings below it."""
    said = answer.diagnosis
    if said.signature in _SIGNED_TITLE:
        return _SIGNED_TITLE[said.signature], "red" if said.category is not Category.NONE else "yellow"
    if said.category is not Category.NONE:
        return _TITLE[said.category], "red"
    if not answer.findings:
        cut = next((file for file in answer.case.files if file.problem and file.lines), None)
        if cut is not None:
            return f"Nothing is wrong up to line {cut.lines:,} of {clean(cut.path, 80)}: {clean(cut.problem)}", "yellow"
        return _TITLE[Category.NONE], "green"
    loudest = answer.findings[0]
    for finding in answer.findings:
        if is_worse(finding.severity, loudest.severity):
            loudest = finding
    words, colour = _NOTED[loudest.severity]
    came_back = " and came back" if loudest.kind in SPIKES and loudest.kind in answer.case.cleared else ""
    return f"{words}: {clean(loudest.text, 160)}{came_back}", colour


def _print_diagnosis(answer: Answer, console: Console) -> None:
    said = answer.diagnosis
    is_fine = said.category is Category.NONE
    title, colour = _head(answer)
    head = Text("● ", style=colour)
    head.append(title, style="bold")
    where = _where(said)
    if where:
        head.append(f" · {where}", style="bold")
    console.print(head)
    facts = [] if is_fine else [f"{said.category}, confidence {said.confidence}"]
    if said.first_bad_step is not None:
        facts.append(f"first bad step {said.first_bad_step:,}")
    moment = printed_time(said.first_bad_time)
    if moment:
        facts.append(moment)
    if facts:
        console.print(Text("  " + " · ".join(facts), style="dim"))
    if said.evidence is not None:
        line = f":{said.evidence.line}" if said.evidence.line is not None else ""
        console.print()
        console.print(Text(f"  {clean(said.evidence.file)}{line}", style="cyan"))
        console.print(Padding(Text(clean(said.evidence.text), style="bold"), (0, 0, 0, 4)))
    _print_list("Because", _reasons(said), console)
    if said.runner_up:
        _print_list("Or else", (said.runner_up,), console)
    _print_list("Next", said.next, console)
    _print_list("Not known", said.unknown, console)


def _reasons(said: Diagnosis) -> list[str]:
    """What speaks for it, beside the line that is shown anyway."""
    shown = " ".join(said.evidence.text.split())[:_QUOTED] if said.evidence is not None else None
    return [why for why in said.because if shown is None or shown not in why]


def _where(said: Diagnosis) -> str:
    """`rank 77 (node10, local 5)`."""
    if said.culprit_rank is None:
        if said.suspects:
            return "one of ranks " + ", ".join(map(str, said.suspects[:8]))
        return clean(said.culprit_node, 80) if said.culprit_node else ""
    local = f"local {said.culprit_local_rank}" if said.culprit_local_rank is not None else ""
    inside = ", ".join(part for part in (clean(said.culprit_node or "", 80), local) if part)
    return f"rank {said.culprit_rank}" + (f" ({inside})" if inside else "")


def _print_list(title: str, items: Iterable[str], console: Console) -> None:
    shown = [clean(item) for item in items]
    if not shown:
        return
    console.print()
    console.print(Text(f"  {title}", style="bold"))
    for item in shown:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=3, justify="right")
        grid.add_column(overflow="fold")
        grid.add_row(Text("–", style="dim"), Text(item))
        console.print(grid)


def _print_changes(answer: Answer, console: Console) -> None:
    if answer.diagnosis.category is not Category.NONE:
        _print_list("What changed around it", (change.line for change in answer.changes), console)


def _print_numbers(answer: Answer, console: Console) -> None:
    facts = answer.summary.loss()
    console.print()
    if not facts["points"]:
        console.print(Text("  No training loss was read.", style="dim"))
        _print_unread(answer, console)
        _print_own_words(answer, console)
        return
    bad = f", {facts['nonfinite']:,} of them not finite" if facts["nonfinite"] else ""
    steps = "" if facts["last_step"] is None else f" · steps {facts['first_step']:,} to {facts['last_step']:,}"
    points = f"{facts['points']:,} loss point{_s(facts['points'])}"
    console.print(Text(f"  {points}{bad}{steps} · {_short(facts['first'])} → {_short(facts['last'])}"))
    jump = facts["largest_jump"]
    if jump is not None:
        at = f" at step {jump['step']:,}" if jump["step"] is not None else ""
        console.print(Text(f"  largest change {_short(jump['from'])} → {_short(jump['to'])}{at}", style="dim"))
    if facts["skipped_steps"]:
        console.print(Text(f"  {facts['skipped_steps']:,} optimizer steps skipped", style="dim"))
    if len(answer.attempts) > 1:
        ends = ", ".join(f"{span.number + 1}: {span.end}" for span in answer.attempts[-6:])
        console.print(Text(f"  {len(answer.attempts)} attempts ({ends})", style="dim"))
    _print_unread(answer, console)


def _print_unread(answer: Answer, console: Console) -> None:
    """How many lines nobody understood that may hold metrics, with one of them."""
    for file, _ in answer.case.logs():
        lines = file.unmatched
        if lines.count >= FEWEST_UNREAD and lines.samples:
            sample = clean(lines.samples[0], 120)
            console.print(
                Text(f"  {lines.count:,} lines looked like metrics but were not read, such as: {sample}", style="dim")
            )


def _print_own_words(answer: Answer, console: Console) -> None:
    """A line that may tell a loss in words that nobody else uses, and the way to have it read."""
    if answer.diagnosis.category is not Category.NONE:
        return
    for file, _ in answer.case.logs():
        line = sample_of(file.tail) if file.kind == "training_log" else None
        if line is not None:
            console.print()
            console.print(Text(f"  {clean(file.path)}, a line of it", style="cyan"))
            console.print(Padding(Text(clean(line), style="bold"), (0, 0, 0, 4)))
            _print_list("Next", (NAME_THEM,), console)
            return


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _short(value: float | str | None) -> str:
    return f"{value:.4g}" if isinstance(value, float | int) else str(value)


def _print_findings(findings: list[Finding], console: Console) -> None:
    """The loudest of each kind, oldest first; how many more there are is said."""
    seen = Counter(finding.kind for finding in findings)
    loudest: dict[str, Finding] = {}
    for finding in findings:
        if finding.kind not in loudest or is_worse(finding.severity, loudest[finding.kind].severity):
            loudest[finding.kind] = finding
    shown = list(loudest.values())[:MOST_FINDINGS]
    if not shown:
        return
    console.print()
    console.print(Text("  Findings", style="bold"))
    for finding in shown:
        more = f" (and {seen[finding.kind] - 1} more)" if seen[finding.kind] > 1 else ""
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=3)
        grid.add_column(width=9)
        grid.add_column(overflow="fold")
        grid.add_row("", Text(str(finding.severity), style=_STYLE[finding.severity]), Text(clean(finding.text) + more))
        console.print(grid)


def _print_files(answer: Answer, console: Console) -> None:
    files = answer.case.files
    if not files:
        return
    table = Table(box=None, padding=(0, 2, 0, 2), show_edge=False, header_style="dim")
    for name in ("file", "what it is", "rank", "node", "lines"):
        table.add_column(name, overflow="fold", justify="right" if name == "lines" else "left")
    for file in files[:MOST_FILES]:
        ranks = _ranks(file.ranks)
        what = file.kind.replace("_", " ") + (f" ({file.dialect})" if file.dialect else "")
        table.add_row(
            clean(file.path, 80), clean(file.problem or what, 60), ranks, clean(file.node or "", 40), f"{file.lines:,}"
        )
    console.print()
    console.print(table)
    if len(files) > MOST_FILES:
        console.print(Text(f"    and {len(files) - MOST_FILES} more files", style="dim"))


def _ranks(ranks: tuple[int, ...]) -> str:
    if not ranks:
        return ""
    if len(ranks) > 2 and ranks[-1] - ranks[0] + 1 == len(ranks):
        return f"{ranks[0]}–{ranks[-1]}"
    return ", ".join(map(str, ranks[:6])) + (" …" if len(ranks) > 6 else "")
