"""What a replay found, for a person: one line for each thing that would have been said, then a table by day."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.replay import Posted, Replayed
from bot.terminal.inspection import clean
from diagnosis.root_cause.answer import printed_time
from diagnosis.wording import whole

_STYLE = {"opens a thread": "bold red", "reply": "yellow", "over": "green", "edit": "dim", "quiet": "dim"}
_SHOWN = frozenset({"opens a thread", "reply", "over"})


def print_replay(done: Replayed, *, everything: bool = False, console: Console | None = None) -> None:
    """Print what would have been posted; `everything`: and what would not."""
    console = console or Console(highlight=False, soft_wrap=True)
    if done.blind:
        console.print(Text(f"Cannot tell, because {clean(done.blind[0])}"))
        for reason in done.blind[1:]:
            console.print(Text(f"  – {clean(reason)}"))
        return
    shown = [one for one in done.posted if everything or one.what in _SHOWN]
    for one in shown:
        _print_one(one, console)
    if shown:
        console.print()
    console.print(_days(done))
    left_out = len(done.posted) - len(shown)
    if left_out:
        more = "1 more only edits a thread or is" if left_out == 1 else f"{left_out} more only edit a thread or are"
        console.print(Text(f"{more} kept quiet: --all shows {'it' if left_out == 1 else 'them'}", style="dim"))
    threads = len(done.pages)
    said = f"{threads} thread{'' if threads == 1 else 's'}" if threads else "no thread"
    console.print(f"{done.points:,} loss points: {said} would have been opened")
    for what in done.unread:
        console.print(Text(f"Not read: {clean(what)}", style="yellow"))


def _print_one(one: Posted, console: Console) -> None:
    head = Text(f"{printed_time(one.time) or '':19}  ")
    head.append(f"{one.what:14}", style=_STYLE.get(one.what, ""))
    if one.finding is not None:
        step = "" if one.finding.step is None else f"step {whole(one.finding.step)}"
        head.append(f"  {one.finding.kind} ({one.finding.severity})  {step}", style="bold")
    console.print(head)
    console.print(Text(f"{'':21}{clean(one.text)}"))
    if one.finding is None:
        return
    if one.finding.rule:
        console.print(Text(f"{'':21}rule: {clean(one.finding.rule)}", style="dim"))
    for line in one.finding.evidence[:1]:
        console.print(Text(f"{'':21}{clean(line.file, 80)}:{line.line}  {clean(line.text, 160)}", style="dim"))


def _days(done: Replayed) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("day", "threads", "critical", "replies", "kept quiet", "marks"):
        table.add_column(name, justify="left" if name == "day" else "right")
    for day, counts in done.by_day().items():
        table.add_row(day, *(str(counts[name]) for name in ("threads", "critical", "replies", "quiet", "marks")))
    return table
