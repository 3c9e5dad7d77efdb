import math

import pytest

from charts.columns import columns_of
from charts.marks import MOST_FLAGS, MOST_WORDS, flags_of_extremes, flags_of_marks, notes_of
from charts.scales import Scale
from charts.sketch import Shape
from diagnosis.series import Mark, Series
from tests.charts.samples import series_of
from tests.charts.test_holes import holes

LINE = columns_of(series_of("loss", range(1000), [2.0] * 1000))


def test_kinds_differ_by_shape():
    """Whoever cannot tell the colours tells the shapes."""
    marks = [Mark(kind, step, value=3.0, before=1.0) for step, kind in enumerate(("jump", "spike", "warning", "stall"))]

    shapes = {flag.kind: flag.shape for flag in flags_of_marks(marks, LINE, 0, 999)}

    assert len(set(shapes.values())) == 4


def test_only_the_largest_speak():
    """Three words at most, for the largest, and never two beside each other."""
    marks = [Mark("jump", step, value=float(step), before=0.0) for step in range(0, 1000, 10)]

    flags = flags_of_marks(marks, LINE, 0, 999)

    said = [flag for flag in flags if flag.says]
    assert len(flags) == MOST_FLAGS
    assert len(said) == MOST_WORDS
    assert max(flag.x for flag in said) == 990
    assert all(abs(one.x - two.x) > 39 for one in said for two in said if one is not two)


def test_a_spike_speaks_for_its_jump():
    """One step, one mark: the one that tells more."""
    marks = [Mark("jump", 5, value=9.0, before=2.0), Mark("spike", 5, value=9.0, before=2.0)]

    (flag,) = flags_of_marks(marks, LINE, 0, 999)

    assert (flag.kind, flag.says) == ("spike", "9.000 at 5")


def test_a_mark_without_a_value_lies_on_the_curve():
    """A finding knows its step, the curve its height; without either it stands at the edge."""
    on_curve, at_edge = flags_of_marks([Mark("stall", 7), Mark("stall", 7.5)], LINE, 0, 999)

    assert {on_curve.y, at_edge.y} == {2.0, math.inf}


@pytest.mark.parametrize("step", [None, -1, 1000])
def test_marks_out_of_view_are_not_drawn(step):
    """Nor are marks without a step."""
    assert not flags_of_marks([Mark("jump", step, value=3.0, before=1.0)], LINE, 0, 999)


def test_a_clipped_extreme_is_said():
    """What does not fit keeps its value and its step, at the edge it left by."""
    columns = columns_of(series_of("loss", range(4), [11.0, 2.0, 2.0, -40.0]))

    above, below = flags_of_extremes(columns, Scale(0.0, 4.0))

    assert (above.shape, above.says) == (Shape.ABOVE, "11.00 at 0")
    assert (below.shape, below.says) == (Shape.BELOW, "−40.00 at 3")
    assert not flags_of_extremes(columns, Scale(-50.0, 12.0))


def test_notes_count_what_is_in_view():
    """How many of each kind, with their marks as the key."""
    marks = [Mark("jump", 1, value=3.0), Mark("jump", 2, value=3.0), Mark("grad_norm_lead", 3), Mark("jump", 2000)]

    notes = notes_of(holes([1, math.nan, 1]), marks, 0, 999)

    assert [note.says for note in notes] == ["NaN", "2 jumps", "1 grad norm lead"]
    assert len({note.shape for note in notes}) == 3


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("loss_spike", "spike at 31,219"),
        ("divergence", "climbs and stays at 31,219"),
        ("grad_norm_lead", "grad norm leads at 31,219"),
        ("rank_crash", "rank crash"),
    ],
)
def test_a_findings_sentence_is_too_long_for_a_chart(kind, says):
    """It would lose its middle; a few words and the step say where to look."""
    mark = Mark(kind, 31_219, value=5.1, text="loss spikes from 2.3 at step 31,218 to 5.1 and is not back")

    (flag,) = flags_of_marks([mark], columns_of(Series("loss")), 0, 40_000)

    assert flag.says == says


def test_a_nan_is_said_once():
    """The cross at its first step and the shade tell it; its finding adds nothing to the picture."""
    mark = Mark("nonfinite_loss", 5, text="loss is NaN since its first step")

    assert flags_of_marks([mark], columns_of(Series("loss")), 0, 10) == ()
