import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from charts import Look
from charts.loss import UnknownMetric, sketch_loss
from charts.sketch import Panel, Shape, Sketch
from diagnosis.series import AttemptSpan, Mark, RunSeries
from tests.charts.samples import STARTED, healthy, series_of


def panel(sketch: Sketch, metric: str) -> Panel:
    return next(panel for panel in sketch.panels if panel.metric == metric)


def test_the_title_says_who_and_how_far():
    """Run, last step, last values, in the words people use."""
    series = RunSeries(
        "run42",
        loss=series_of("loss", [41_200, 41_213], [2.4, 2.3131]),
        grad_norm=series_of("grad_norm", [41_213], [0.9]),
        lr=series_of("lr", [41_213], [1e-4]),
    )

    sketch = sketch_loss(series, Look.LIGHT, title_facts=("8 of 8 ranks",))

    assert sketch.title == "run42"
    assert sketch.facts == ("step 41,213", "loss 2.313", "grad norm 0.900", "lr 1.0e-4")
    assert sketch.remarks == ("8 of 8 ranks",)


def test_loss_is_on_top_of_what_else_there_is():
    """Loss first, then grad norm and learning rate where the log has them."""
    whole = healthy()
    bare = RunSeries("run42", loss=whole.loss)

    assert [part.metric for part in sketch_loss(whole, Look.LIGHT).panels] == ["loss", "grad_norm", "lr"]
    assert [part.metric for part in sketch_loss(bare, Look.LIGHT).panels] == ["loss"]
    assert sketch_loss(whole, Look.LIGHT, metric="lr").panels[0].metric == "lr"


def test_a_metric_nobody_logs_is_refused_with_the_ones_there_are():
    """The answer to a wrong argument says what is right."""
    with pytest.raises(UnknownMetric, match=r"No metric `perplexity`; there are loss, grad_norm, lr\."):
        sketch_loss(healthy(), Look.LIGHT, metric="perplexity")


def test_nan_is_a_gap_with_a_mark():
    """The line stops at a NaN, goes on after it, and the cross says which step it was."""
    steps = range(100)
    values = [2.0 + 0.01 * step for step in steps]
    values[50] = math.nan

    loss = panel(sketch_loss(RunSeries("run42", loss=series_of("loss", steps, values)), Look.LIGHT), "loss")

    (curve,) = loss.curves
    assert np.isnan(curve.y[50])
    assert np.isfinite(np.delete(curve.y, 50)).all()
    assert [(flag.shape, flag.says) for flag in loss.flags] == [(Shape.CROSS, "NaN at 50")]


def test_a_log_without_loss_still_shows_what_there_is():
    """The figure says that there is no loss and draws the learning rate."""
    series = RunSeries("run7", lr=series_of("lr", range(10), [1e-4] * 10))

    sketch = sketch_loss(series, Look.LIGHT)

    assert panel(sketch, "loss").words == "no loss in this log"
    assert panel(sketch, "lr").curves
    assert sketch.facts == ("step 9", "lr 1.0e-4")


def test_a_run_without_anything_has_a_picture_too():
    """Nothing to draw is said, not raised."""
    sketch = sketch_loss(RunSeries("only a bar"), Look.DARK)

    assert [part.words for part in sketch.panels] == ["no loss in this log"]
    assert not sketch.axis.ticks


def test_a_run_of_nothing_but_nan_says_so():
    """The panel is shaded and says it in words."""
    series = RunSeries("run7", loss=series_of("loss", range(10), [math.nan] * 10))

    loss = panel(sketch_loss(series, Look.LIGHT), "loss")

    assert loss.words == "every loss here is NaN or Inf"
    assert (loss.shades[0].first, loss.shades[0].last) == (0, 9)
    assert loss.notes[0].says == "NaN × 10"


def test_attempts_are_divided_and_the_overwritten_end_is_pale():
    """A resume from a checkpoint draws a line, and what it overwrote stays visible but steps back."""
    first, second = range(100), range(80, 150)
    series = RunSeries(
        "run42",
        loss=series_of("loss", [*first, *second], [2.0] * 170),
        attempts=(AttemptSpan(1, 0, 99, end="crashed"), AttemptSpan(2, 80, 149)),
    )

    loss = panel(sketch_loss(series, Look.LIGHT), "loss")

    assert [(line.x, line.says) for line in loss.dividers] == [(80, "attempt 2")]
    pale, current = loss.curves
    assert (pale.is_pale, current.is_pale) == (True, False)
    assert np.nanmin(pale.x[np.isfinite(pale.y)]) == 80
    assert np.isnan(current.y[80])


def test_steps_that_go_back_are_an_attempt_though_nobody_counted():
    """`inspect` knows no attempts of a log that only goes on at an earlier step."""
    series = RunSeries("run42", loss=series_of("loss", [*range(100), *range(50, 90)], [2.0] * 140))

    assert [line.says for line in panel(sketch_loss(series, Look.LIGHT), "loss").dividers] == ["attempt 2"]


def test_many_attempts_from_one_step_share_one_line():
    """A crash loop is one line with many numbers, not many lines on each other."""
    spans = tuple(AttemptSpan(number, 80.0) for number in range(1, 9))
    series = replace_attempts(healthy(), spans)

    assert [line.says for line in panel(sketch_loss(series, Look.LIGHT), "loss").dividers] == ["attempts 2–8"]


def replace_attempts(series: RunSeries, spans: tuple[AttemptSpan, ...]) -> RunSeries:
    return replace(series, attempts=spans)


def test_the_clock_stands_below_the_steps():
    """Each marked step says what time it was, with the day where it is new."""
    sketch = sketch_loss(healthy(100_001), Look.LIGHT)

    assert [tick.step for tick in sketch.axis.ticks] == ["0", "20k", "40k", "60k", "80k", "100k"]
    assert sketch.axis.ticks[0].clock == "13 May 22:40"
    assert sketch.axis.ticks[1].clock == "14 May 05:53"
    assert sketch.axis.ticks[2].clock == "13:06"


def test_a_resumed_run_tells_the_newest_time_of_a_step():
    """Two attempts passed step 90; the clock there is the second's."""
    steps = [*range(100), *range(50, 150)]
    times = [STARTED + step for step in range(100)] + [STARTED + 86_400 * 10 + step for step in range(100)]
    sketch = sketch_loss(RunSeries("run42", loss=series_of("loss", steps, [2.0] * 200, times)), Look.LIGHT)

    clocks = {tick.step: tick.clock for tick in sketch.axis.ticks}
    assert (clocks["0"], clocks["100"]) == ("13 May", "23 May")


def test_no_time_no_clock():
    """A log without times has no second row."""
    series = RunSeries("run42", loss=series_of("loss", range(10), [2.0] * 10))

    assert not sketch_loss(series, Look.LIGHT).axis.has_clock


def test_zoom_shows_only_its_steps():
    """Curve, marks and scale belong to the part asked for; the facts say which part it is."""
    series = replace(
        healthy(), marks=(Mark("jump", 3, value=9.0, before=2.0), Mark("jump", 1200, value=2.2, before=2.1))
    )

    sketch = sketch_loss(series, Look.LIGHT, zoom=(1300.0, 1000.0))

    loss = panel(sketch, "loss")
    assert (sketch.axis.first, sketch.axis.last) == (1000, 1300)
    assert [flag.x for flag in loss.flags] == [1200]
    assert loss.curves[0].x.min() == 1000
    assert "shown: 1,000–1,300" in sketch.remarks


def test_zoom_beside_the_run_is_said():
    """No point between these steps is an answer."""
    loss = panel(sketch_loss(healthy(100), Look.LIGHT, zoom=(500.0, 600.0)), "loss")

    assert loss.words == "no loss in this log between step 500 and 600"


def test_a_sampled_series_is_labelled():
    """A picture from windows of a log must never pass for the whole."""
    assert sketch_loss(replace(healthy(), is_sampled=True), Look.LIGHT).badge == "sampled"


def test_a_rollup_is_drawn_as_a_band():
    """Means with their exact extremes: the spike inside a bucket is still there."""
    loss = series_of("loss", range(1000), [2.0] * 1000)
    loss.lows.extend([1.9] * 1000)
    loss.highs.extend([2.1] * 999 + [2.35])

    band = panel(sketch_loss(RunSeries("run42", loss=loss), Look.LIGHT), "loss").curves[0]

    assert band.high is not None
    assert np.nanmax(band.high) == 2.35


def test_a_sketch_is_small_whatever_the_run():
    """A hundred thousand points travel to the drawing process as a few kilobytes."""
    assert len(pickle.dumps(sketch_loss(healthy(100_000), Look.LIGHT))) < 100_000


@pytest.mark.parametrize(
    "name", ["a\nb", "$\\frac{1}{$", "长" * 900, "\u202eevil", "", "🔥" * 50, "\ud800"], ids=range(7)
)
def test_hostile_names_become_one_line(name):
    """Whatever a run is called, its title is one line."""
    title = sketch_loss(RunSeries(name), Look.LIGHT).title

    assert title
    assert "\n" not in title
    assert "\u202e" not in title
