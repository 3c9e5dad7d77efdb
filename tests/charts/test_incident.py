import math
from dataclasses import replace

from charts import Look
from charts.incident import AFTER, BEFORE, sketch_incident
from diagnosis.series import Mark, RunSeries
from tests.charts.samples import healthy, series_of

NAN = math.nan


def nan_run(bad=41_200, last=41_300):
    steps = range(40_000, last)
    values = [2.0 + 0.01 * (step % 7) if step < bad else NAN for step in steps]
    norms = [0.9 if step < bad - 3 else 4.7 * (step - bad + 4) ** 2 for step in range(40_000, bad)]
    return RunSeries(
        "run42", loss=series_of("loss", steps, values), grad_norm=series_of("grad_norm", range(40_000, bad), norms)
    )


def test_the_steps_around_the_bad_one_are_shown():
    """Enough before it to see what led there, and what came after."""
    sketch = sketch_incident(nan_run(), Look.LIGHT, bad_step=41_200, kind="nonfinite_loss")

    assert sketch.axis.first == 41_200 - BEFORE
    assert 41_200 + AFTER <= sketch.axis.last < 41_200 + AFTER + 20


def test_the_bad_and_the_last_good_step_are_marked_once():
    """Two lines; the NaN's cross speaks for the bad one, so its line is silent."""
    top = sketch_incident(nan_run(), Look.LIGHT, bad_step=41_200).panels[0]

    lines = {line.kind: line.says for line in top.dividers}
    assert lines == {"good": "last good 41,199", "bad": ""}
    assert [flag.says for flag in top.flags if flag.says] == ["NaN from 41,200"]


def test_the_facts_tell_what_happened():
    """What, at which step, from which last good value."""
    facts = sketch_incident(nan_run(), Look.LIGHT, bad_step=41_200, last_good_step=41_199).facts

    assert facts == ("loss NaN at step 41,200", "last good 41,199: 2.040", "at 41,299: NaN")


def test_the_grad_norm_tells_what_led_to_it():
    """The last three norms before the bad step stand beside their curve."""
    sketch = sketch_incident(nan_run(), Look.LIGHT, bad_step=41_200)

    norm = next(panel for panel in sketch.panels if panel.metric == "grad_norm")
    assert norm.notes[0].says == "4.700 → 18.80 → 42.30 before it"


def test_the_whole_run_is_shown_in_small():
    """With the part above it lit, and without words that nobody could read."""
    overview = sketch_incident(nan_run(), Look.LIGHT, bad_step=41_200).overview

    assert overview is not None
    assert (overview.axis.first, overview.axis.last) == (40_000, 41_299)
    assert (overview.first, overview.last) == (41_100, 41_256)
    assert not any(flag.says for flag in overview.panel.flags)


def test_a_short_run_needs_no_second_picture():
    """When the zoom shows nearly all of it, the small picture would be the same again."""
    assert sketch_incident(healthy(60), Look.LIGHT, bad_step=30).overview is None


def test_a_thinned_series_learns_the_bad_value_from_its_mark():
    """The rollup's bucket is finite, the mark says NaN."""
    series = replace(healthy(), marks=(Mark("nonfinite", 500, value=NAN),))
    series.loss.lows.extend(series.loss.values)
    series.loss.highs.extend(series.loss.values)

    assert sketch_incident(series, Look.LIGHT, bad_step=500).facts[0] == "loss NaN at step 500"


def test_a_bad_step_beside_every_point_is_still_marked():
    """A stall or a run without loss has a step that no point belongs to."""
    for series in (healthy(), RunSeries("empty"), RunSeries("lr", lr=series_of("lr", range(9), [1e-4] * 9))):
        sketch = sketch_incident(series, Look.LIGHT, bad_step=5000.0, kind="loss_scale_floor")

        assert sketch.axis.first <= 5000 <= sketch.axis.last
        assert sketch.facts[0] == "loss scale floor at step 5,000"


def test_the_caller_may_tell_the_facts():
    """The incident's own words go before ours."""
    sketch = sketch_incident(nan_run(), Look.LIGHT, bad_step=41_200, title_facts=("loss is NaN", "8 of 8 ranks"))

    assert sketch.facts == ("loss is NaN", "8 of 8 ranks")
