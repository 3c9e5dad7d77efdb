import io
import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from charts import Look, draw_loss
from charts.figures.canvas import WIDTH, Canvas
from charts.figures.sheet import HEIGHT, build_figure
from charts.incident import sketch_incident
from charts.look import palette_of
from charts.loss import sketch_loss
from diagnosis.series import AttemptSpan, Mark, RunSeries
from tests.charts.samples import healthy, series_of
from tests.counts import examples

NAN = math.nan


def troubled() -> RunSeries:
    """A run with everything a chart can mark."""
    series = healthy(3000)
    series.loss.values[1500] = 9.0
    for step in range(2900, 3000):
        series.loss.values[step] = NAN
    return replace(
        series,
        marks=(
            Mark("spike", 1500, value=9.0, before=2.1),
            Mark("jump", 1500, value=9.0, before=2.1),
            Mark("warning", 2897, value=2.1, text="grad norm leads"),
            Mark("jump", 40, value=5.0, before=7.0),
        ),
        attempts=(AttemptSpan(1, 0), AttemptSpan(2, 1000)),
        is_sampled=True,
    )


def artists(canvas: Canvas, gid: str) -> list:
    return [artist for artist in canvas.figure.get_children() if (artist.get_gid() or "") == gid]


def words(canvas: Canvas) -> list[str]:
    return [word.words for word in canvas.words]


def test_everything_that_is_marked_is_drawn():
    """Curve, band, cross, shade, spike, warning, attempt and badge are there, each as itself."""
    canvas = build_figure(sketch_loss(troubled(), Look.LIGHT))

    for gid in (
        *("curve:loss", "band:loss", "curve:grad_norm", "curve:lr", "flag:nonfinite", "shade:nonfinite"),
        *("flag:spike", "flag:warning", "divider:attempt", "flag:extreme"),
    ):
        assert artists(canvas, gid), gid
    assert {"run42", "NaN from 2,900", "attempt 2", "sampled", "NaN × 100", "step", "time"} <= set(words(canvas))


def test_marks_differ_by_shape():
    """Cross, triangle, diamond and square, for whoever sees no colours."""
    canvas = build_figure(sketch_loss(troubled(), Look.LIGHT))

    kinds = ("nonfinite", "spike", "warning", "jump")
    shapes = {artists(canvas, f"flag:{kind}")[0].get_marker() for kind in kinds}

    assert shapes == {"X", "^", "s", "D"}


@pytest.mark.parametrize("look", Look)
def test_the_png_lies_on_the_paper_of_its_slack(look):
    """A PNG of the size we say, whose corners are exactly Slack's background."""
    with Image.open(io.BytesIO(draw_loss(troubled(), look))) as image:
        assert (image.format, image.size) == ("PNG", (WIDTH, HEIGHT))
        corner = "#{:02x}{:02x}{:02x}".format(*image.convert("RGB").getpixel((0, 0)))

    assert corner == palette_of(look).paper


@pytest.mark.parametrize("look", Look)
def test_inks_can_be_read_on_their_paper(look):
    """Every colour that carries words has a contrast of at least 3 : 1, plain text 7 : 1 (WCAG, large text)."""
    palette = palette_of(look)

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, two: str) -> float:
        low, high = sorted((luminance(one), luminance(two)))
        return (high + 0.05) / (low + 0.05)

    assert all(contrast(colour, palette.paper) >= 3 for colour in palette.inks.values())
    assert contrast(palette.inks["text"], palette.paper) >= 7


NAMES = {
    "plain": "run42",
    "long": "x" * 500,
    "broken formula": "run $\\frac{a}{",
    "formula": "$x^2$",
    "chinese": "一二三" * 60,
    "hebrew": "שלום עולם",
    "emoji": "🔥🔥",
    "marks": "a\u0300\u0301\u0302" * 30,
    "format": "%s {0}",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_name_breaks_the_picture(name):
    """Formulas are not formulas, and no title leaves the picture."""
    canvas = build_figure(sketch_loss(replace(troubled(), run=name), Look.LIGHT, title_facts=[name]))

    assert canvas.png()
    for word in canvas.words:
        assert word.box.left >= 0
        assert word.box.right <= WIDTH
        assert word.box.bottom >= 0
        assert word.box.top <= HEIGHT


def test_lesser_facts_make_room_for_the_callers():
    """Whole facts go, the learning rate first; step, loss and what the caller says stay readable."""
    remarks = ("all 512 ranks", "still running", "since 03:12")

    canvas = build_figure(sketch_loss(healthy(), Look.LIGHT, title_facts=remarks))

    (line,) = [word.words for word in canvas.words if word.gid == "facts"]
    assert line == "step 1,999 · loss 2.116 · all 512 ranks · still running · since 03:12"


def assert_no_words_overlap(canvas: Canvas) -> None:
    for one, other in combinations(canvas.words, 2):
        assert not one.box.overlaps(other.box), (one, other)


@pytest.mark.parametrize("steps", [3, 30, 300, 41_213, 1_000_000], ids=str)
def test_no_words_lie_on_each_other(steps):
    """Labels of axes, marks, attempts and notes keep apart at any length of the run."""
    points = min(steps, 5000)
    stride = max(steps // points, 1)
    series = healthy(points)
    every = RunSeries(
        "run42",
        loss=series_of("loss", range(0, points * stride, stride), series.loss.values, series.loss.times),
        grad_norm=series_of("grad_norm", range(0, points * stride, stride), series.grad_norm.values),
        lr=series.lr if stride == 1 else series_of("lr", [], []),
        marks=tuple(Mark("jump", float(at * stride), value=9.0 - at, before=1.0) for at in range(min(points, 12))),
        attempts=tuple(AttemptSpan(number, float(number * stride)) for number in range(1, 12)),
    )

    assert_no_words_overlap(build_figure(sketch_loss(every, Look.LIGHT)))
    assert_no_words_overlap(build_figure(sketch_incident(every, Look.LIGHT, bad_step=steps // 2, kind="loss_spike")))


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40),
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=40),
)
@settings(max_examples=examples(25))
def test_any_numbers_give_a_picture(values, steps):
    """Whatever a log holds, something is drawn."""
    length = min(len(values), len(steps))
    loss = series_of("loss", steps[:length], values[:length], [value * 1e3 for value in values[:length]])

    picture = draw_loss(RunSeries("run42", loss=loss, lr=loss), Look.DARK)

    assert picture.startswith(b"\x89PNG")
