"""`runwatch inspect --chart OUT.png`: the loss of the files at hand, drawn as /loss draws it."""

from pathlib import Path

from bot.inspect import Answer
from charts import Look, draw_loss
from diagnosis.errors import Mistake
from diagnosis.series import Mark, RunSeries


def write_chart(answer: Answer, out: Path) -> None:
    """Write a PNG of the loss that was read, with its jumps and findings.

    Raises:
        Mistake: The picture cannot be written there.
    """
    series = answer.series()
    if answer.case.files:
        series.run = answer.case.files[0].path
    found = (
        Mark(one.kind, one.step, metric="grad_norm" if "grad_norm" in one.kind else "loss", text=one.text)
        for one in answer.findings
        if one.step is not None
    )
    series.marks = (*series.marks, *found)
    write_series(series, out)


def write_series(series: RunSeries, out: Path) -> None:
    """Write a PNG of these series.

    Raises:
        Mistake: The picture cannot be written there.
    """
    try:
        out.write_bytes(draw_loss(series, Look.LIGHT))
    except OSError as refused:
        raise Mistake(f"Cannot write {out}: {refused.strerror}.") from refused
