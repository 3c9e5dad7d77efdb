"""The first picture of a big log in a terminal: how much of it was seen, the curve in letters, first and last value."""

from rich.console import Console
from rich.text import Text

from bot.first_look import FirstLook
from bot.terminal.inspection import clean
from bot.terminal.plot import plot
from charts.words import say_step, say_value


def print_first_look(look: FirstLook, seconds: float, console: Console | None = None) -> None:
    """Print what was seen, and that it is not all."""
    console = console or Console(highlight=False, soft_wrap=True)
    share = look.bytes_read / max(1, look.size)
    seen = "the whole file" if look.is_whole else f"{look.windows:,} windows, {share:.1%} of {look.size / 1e9:.2f} GB"
    head = Text(f"{clean(look.series.run, 80)} · {look.points:,} loss points", style="bold")
    head.append(f" · {'' if look.is_whole else 'sampled: '}{seen}, in {seconds:.1f} s", style="dim")
    console.print(head)
    loss = look.series.loss
    if not len(loss):
        console.print("Cannot tell: no training loss in what was read.")
        return
    first, last = (loss.steps[0], loss.values[0]), (loss.steps[-1], loss.values[-1])
    console.print(
        f"loss {say_value(first[1])} at step {say_step(first[0])} → {say_value(last[1])} at {say_step(last[0])}"
    )
    bad = sum(mark.kind == "nonfinite" and mark.metric == "loss" for mark in look.series.marks)
    if bad:
        console.print(Text(f"{bad:,} of these points are not finite", style="red"))
    for line in plot(loss):
        console.print(Text(line))
    if not look.is_whole:
        console.print(Text("What lies between the windows was not read; without --sample all of it is.", style="dim"))
