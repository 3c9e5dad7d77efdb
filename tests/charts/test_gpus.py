import io
import math

import numpy as np
import pytest
from PIL import Image

from charts import Look, draw_gpus
from charts.figures.gpu_rows import build_figure
from charts.gpus import MOST_ROWS, sketch_gpus
from diagnosis.observations import GpuSample
from tests.charts.samples import STARTED

STOP = STARTED + 300


def readings(node="node10", gpu=0, *, after=(100.0, 190.0), every=10, problem=None, until=600):
    """One GPU that is busy, then reads `after`."""
    for second in range(0, until, every):
        used, watts = (98.0, 650.0) if STARTED + second < STOP else after
        is_broken = problem is not None and STARTED + second >= STOP
        yield GpuSample(
            node,
            gpu,
            STARTED + second,
            utilization_percent=None if is_broken else used,
            power_watts=None if is_broken else watts,
            power_limit_watts=700.0,
            problem=problem if is_broken else None,
        )


def cluster(nodes, idle=()):
    return [
        sample
        for node in range(nodes)
        for gpu in range(8)
        for sample in readings(f"node{node:02}", gpu, after=(0.0, 90.0) if (node, gpu) in idle else (100.0, 190.0))
    ]


def test_one_row_for_each_gpu():
    """With its rank where that is known, and its last reading."""
    sketch = sketch_gpus(cluster(1, {(0, 3)}), Look.LIGHT, stopped_at=STOP, ranks={("node00", 3): 27})

    assert [row.name for row in sketch.rows][2:5] == ["GPU 2", "rank 27 · GPU 3", "GPU 4"]
    assert [row.reading for row in sketch.rows][2:5] == ["100 % · 190 W", "0 % · 90 W", "100 % · 190 W"]
    assert sketch.facts == ("8 GPUs on node00",)


def test_the_gpu_that_left_first_stands_out():
    """Seven spin in a collective, one idles: that one is marked."""
    rows = sketch_gpus(cluster(1, {(0, 3)}), Look.LIGHT, stopped_at=STOP).rows

    assert [row.is_odd for row in rows] == [False, False, False, True, False, False, False, False]


def test_a_big_run_shows_what_differs_and_one_row_for_the_rest():
    """Not a wall: the odd ones, then all others with their spread."""
    sketch = sketch_gpus(cluster(16, {(10, 5), (3, 0)}), Look.LIGHT, stopped_at=STOP)

    assert [row.name for row in sketch.rows] == ["node03 GPU 0", "node10 GPU 5", "126 others"]
    summary = sketch.rows[-1]
    assert summary.bands is not None
    assert summary.reading == "100 % · 190 W"
    assert sketch.facts == ("128 GPUs on 16 nodes",)


def test_a_big_run_where_half_differ_still_fits():
    """The rows are bounded however many differ."""
    idle = {(node, gpu) for node in range(16) for gpu in range(3)}

    assert len(sketch_gpus(cluster(16, idle), Look.LIGHT, stopped_at=STOP).rows) <= MOST_ROWS


def test_a_lost_gpu_says_what_the_driver_said():
    """Where the readings ended, in the driver's words, first among those that differ."""
    samples = [*cluster(3), *readings("node02", 7, problem="GPU is lost\n")]
    samples = [sample for sample in samples if (sample.node, sample.gpu_index) != ("node02", 7) or sample.problem]

    row = sketch_gpus(samples, Look.LIGHT, stopped_at=STOP).rows[0]

    assert (row.name, row.reading, row.problem_at) == ("node02 GPU 7", "GPU is lost", STOP)


def test_a_pause_in_the_sampling_is_a_gap():
    """No line is drawn through minutes nobody measured, and a GPU that fell silent says so."""
    samples = [sample for sample in readings() if not STARTED + 100 < sample.time < STARTED + 200]

    row, silent = sketch_gpus([*samples, *readings(gpu=1, until=200)], Look.LIGHT).rows

    assert np.isnan(row.utilisation).sum() == 1
    assert silent.reading == "no reading"


def test_what_the_driver_does_not_support_is_left_out():
    """A MIG slice has power but no utilisation: that is no idle GPU."""
    samples = [
        GpuSample("node00", gpu, STARTED + second, power_watts=200.0, power_limit_watts=700.0)
        for gpu in range(2)
        for second in range(10)
    ]

    rows = sketch_gpus(samples, Look.LIGHT).rows

    assert [row.reading for row in rows] == ["200 W", "200 W"]
    assert not any(row.is_odd for row in rows)


def test_the_stop_goes_through_all_rows():
    """One line, with its time."""
    canvas = build_figure(sketch_gpus(cluster(1), Look.LIGHT, stopped_at=STOP))

    assert [word.words for word in canvas.words if word.gid == "stop"] == ["stopped 22:45:00"]
    assert sum(artist.get_gid() == "power" for artist in canvas.figure.get_children()) == 8


@pytest.mark.parametrize("look", Look)
@pytest.mark.parametrize(
    "samples",
    [
        [],
        [GpuSample("node00", 0, STARTED)],
        [GpuSample("node00", 0, math.nan)],
        [
            GpuSample(
                "a" * 300 + "\n$", 0, STARTED, utilization_percent=math.inf, power_watts=math.nan, problem="$\\a{" * 90
            )
        ],
        cluster(2, {(1, 1)}),
    ],
    ids=["nothing", "no readings", "no time", "nonsense", "sixteen"],
)
def test_any_samples_give_a_picture(samples, look):
    """Also none, and also nonsense."""
    with Image.open(io.BytesIO(draw_gpus(samples, look, stopped_at=STOP, title="run\n42"))) as image:
        assert image.size[0] == 1000
        assert image.size[1] <= 1100
