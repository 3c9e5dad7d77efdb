"""Where ranks tell their own losses, a chart shows their mean and how far they lie apart."""

import math
from pathlib import Path

import pytest

from bot.inspect import inspect
from charts import Look
from charts.loss import sketch_loss
from diagnosis.series import AttemptSpan, RunSeries, Series


def loss_of(rank, step):
    """Rank 3 lies above the others."""
    return round(3 - step / 100 + 0.1 * rank, 4)


def run_of(points, attempts=1):
    """A run with these (step, loss)."""
    run = RunSeries("run42", loss=Series("loss"), attempts=tuple(AttemptSpan(number) for number in range(attempts)))
    run.loss.extend((float(step), loss, None) for step, loss in points)
    return run


def bands(sketch):
    """Steps, lowest and highest of the loss panel's band."""
    return [
        (step, low, high)
        for curve in sketch.panels[0].curves
        if curve.low is not None and curve.high is not None
        for step, low, high in zip(curve.x, curve.low, curve.high, strict=True)
    ]


@pytest.mark.parametrize("order", ["step by step", "rank by rank", "in batches"])
def test_ranks_that_differ_are_a_band_however_they_were_read(order):
    """One file with tags, one file each, or a watcher that reads each file a little."""
    if order == "step by step":
        points = [(step, loss_of(rank, step)) for step in range(1, 51) for rank in range(4)]
    elif order == "rank by rank":
        points = [(step, loss_of(rank, step)) for rank in range(4) for step in range(1, 51)]
    else:
        points = [
            (step, loss_of(rank, step))
            for first in range(1, 51, 10)
            for rank in range(4)
            for step in range(first, first + 10)
        ]

    sketch = sketch_loss(run_of(points), Look.LIGHT)

    assert "band: 4 values a step, lowest to highest" in sketch.remarks
    assert bands(sketch) == [
        (step, pytest.approx(loss_of(0, step)), pytest.approx(loss_of(3, step))) for step in range(1, 51)
    ]


def test_one_ranks_nan_is_not_lost_among_the_others():
    """Its cross stands where it was."""
    points = [(step, loss_of(rank, step)) for step in range(1, 51) for rank in range(4)]
    points[41] = (11, math.nan)

    panel = sketch_loss(run_of(points), Look.LIGHT).panels[0]

    assert [flag.x for flag in panel.flags if flag.shape == "X"] == [11.0]


def test_attempts_that_overlap_are_no_ranks():
    """A resumed run tells some steps twice."""
    points = [(step, loss_of(0, step)) for step in range(1, 51)] + [(step, loss_of(1, step)) for step in range(30, 80)]

    sketch = sketch_loss(run_of(points, attempts=2), Look.LIGHT)

    assert not any("band" in remark for remark in sketch.remarks)
    assert bands(sketch) == []


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("differ", [False, True])
def test_inspect_draws_every_rank_that_differs(tmp_path: Path, monkeypatch, differ, bulk):
    """torchtitan prints on every rank; RETURNN prints each rank's own loss."""
    monkeypatch.setattr("bot.log_lines.BULK_FROM", 0 if bulk else 1 << 40)
    log = tmp_path / "train.log"
    log.write_text(
        "".join(
            f"[rank{rank}]:step: {step}  loss: {loss_of(rank * differ, step):.4f}  grad_norm: 1.0  memory: 1.0GiB\n"
            for step in range(1, 61)
            for rank in range(4)
        )
    )

    answer = inspect([log])

    sketch = sketch_loss(answer.series(), Look.LIGHT)
    assert ("band: 4 values a step, lowest to highest" in sketch.remarks) == differ
    assert answer.summary.points == 60 * (4 if differ else 1)
