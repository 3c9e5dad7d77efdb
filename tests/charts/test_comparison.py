import numpy as np

from charts import Look
from charts.look import Ink
from charts.loss import sketch_loss
from diagnosis.series import RunSeries
from tests.charts.samples import healthy, series_of


def run(name, steps, values):
    return RunSeries(name, loss=series_of("loss", steps, values))


def test_two_runs_lie_on_one_axis():
    """Both curves, told apart by colour and dashes, named in the panel."""
    one, two = run("run42", range(100), [2.0] * 100), run("run40", range(50, 150), [2.5] * 100)

    sketch = sketch_loss(one, Look.LIGHT, vs=two)

    top = sketch.panels[0]
    assert {(curve.ink, curve.is_dashed) for curve in top.curves} == {(Ink.LOSS, False), (Ink.OTHER, True)}
    assert [note.says.split(" ")[-1] for note in top.notes] == ["run42", "run40"]
    assert (sketch.axis.first, sketch.axis.last) == (0, 149)
    assert sketch.title == "run42 against run40"


def test_the_difference_is_taken_at_the_same_step():
    """Runs that log at other steps are compared where both have been, by interpolation."""
    one, two = run("a", range(0, 100, 10), [3.0] * 10), run("b", range(5, 65, 10), np.linspace(1, 2, 6))

    sketch = sketch_loss(one, Look.LIGHT, vs=two)

    difference = next(panel for panel in sketch.panels if panel.metric == "difference")
    curve = difference.curves[-1]
    assert curve.x.tolist() == [10, 20, 30, 40, 50]
    assert np.allclose(curve.y, [1.9, 1.7, 1.5, 1.3, 1.1])
    assert sketch.facts == ("+1.1 at step 50, the last they share",)


def test_runs_without_a_common_step_say_so():
    """There is no difference to draw, and the chart is drawn all the same."""
    sketch = sketch_loss(run("a", range(10), [1.0] * 10), Look.LIGHT, vs=run("b", range(50, 60), [1.0] * 10))

    assert "no step in common" in [panel.words for panel in sketch.panels]


def test_a_run_against_nothing_is_the_run():
    """The other run may have no loss at all."""
    sketch = sketch_loss(healthy(), Look.LIGHT, vs=RunSeries("empty"))

    assert sketch.panels[0].curves
    assert sketch.facts[0] == "step 1,999"
