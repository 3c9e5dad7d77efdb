"""Utilisation, power, memory and process read together."""

import math

import pytest

from diagnosis.gpu_reading import GpuState, Pattern, newest_window, read_gpu, read_node, steady_since
from diagnosis.observations import GpuSample

GIB = 1 << 30


def rows(util, power=None, *, index=0, used=60 * GIB, limit=700.0, pids=None, problem=None, count=6):
    utils = util if isinstance(util, list) else [util] * count
    return [
        GpuSample(
            "n1",
            index,
            100.0 + 10 * place,
            utilization_percent=value,
            power_watts=power,
            power_limit_watts=limit,
            memory_used_bytes=used,
            pids=pids,
            problem=problem,
        )
        for place, value in enumerate(utils)
    ]


@pytest.mark.parametrize(
    ("samples", "state"),
    [
        (rows(100, 640), GpuState.COMPUTING),
        (rows(100, 110), GpuState.SPINNING),
        (rows(100, 300), GpuState.BUSY),
        (rows(100, None), GpuState.BUSY),
        (rows(100, 120, limit=None), GpuState.SPINNING),
        (rows(100, 400, limit=None), GpuState.BUSY),
        (rows(0, 80), GpuState.IDLE),
        (rows(0, 80, used=300 << 20), GpuState.EMPTY),
        (rows(0, 80, pids=()), GpuState.EMPTY),
        (rows(0, 80, used=None), GpuState.IDLE),
        (rows([0, 90, 0, 95, 3, 88], 300), GpuState.MIXED),
        (rows([70, 80, 90, 60, 75, 88], 400), GpuState.COMPUTING),
        (rows(None, None), GpuState.UNKNOWN),
        (rows([None, None, None, 100, 100], 110), GpuState.UNKNOWN),
        (rows(None, None, problem="GPU is lost"), GpuState.LOST),
        ([], GpuState.UNKNOWN),
    ],
)
def test_one_gpu(samples, state):
    assert read_gpu(samples).state is state


def test_the_learnt_idle_power_moves_the_line():
    samples = rows(100, 150, limit=400.0)
    assert read_gpu(samples, idle_watts=60.0).state is not GpuState.SPINNING
    assert read_gpu(samples, idle_watts=120.0).state is GpuState.SPINNING


def node(*states, missing=()):
    kinds = {
        "work": (95, 640.0, 60 * GIB),
        "spin": (100, 110.0, 60 * GIB),
        "idle": (0, 80.0, 60 * GIB),
        "empty": (0, 70.0, 1 << 20),
        "dark": (None, None, None),
    }
    samples = {}
    for index, state in enumerate(states):
        util, power, used = kinds[state]
        samples[index] = rows(util, power, index=index, used=used)
    return read_node(samples, node="n1", missing=missing)


@pytest.mark.parametrize(
    ("states", "pattern", "odd"),
    [
        (["spin"] * 7 + ["idle"], Pattern.FEW_IDLE, (7,)),
        (["idle"] + ["spin"] * 7, Pattern.FEW_IDLE, (0,)),
        (["spin"] * 6 + ["idle", "empty"], Pattern.FEW_IDLE, (6, 7)),
        (["spin"] * 4 + ["idle"] * 4, Pattern.UNCLEAR, ()),
        (["spin"] * 8, Pattern.ALL_SPIN, ()),
        (["idle"] * 8, Pattern.ALL_IDLE, ()),
        (["empty"] * 8, Pattern.ALL_EMPTY, ()),
        (["work"] * 8, Pattern.WORKING, ()),
        (["work"] * 7 + ["idle"], Pattern.WORKING, ()),
        (["dark"] * 8, Pattern.NO_DATA, ()),
        (["spin"] * 3 + ["dark"] * 4 + ["idle"], Pattern.FEW_IDLE, (7,)),
    ],
)
def test_a_node(states, pattern, odd):
    reading = node(*states)
    assert (reading.pattern, reading.odd) == (pattern, odd)
    assert reading.sentence()


def test_a_gpu_that_is_no_longer_listed_is_lost():
    reading = node(*["work"] * 7, missing=[7])
    assert (reading.pattern, reading.odd) == (Pattern.LOST, (7,))
    assert reading.sentence() == "GPU 7 is lost on n1"


def test_the_sentence_counts():
    assert node(*["spin"] * 7, "idle").sentence() == "7 GPUs on n1 stay at 100 % at low power while GPU 7 is at 0 %"


def test_the_window_has_at_least_three_samples():
    samples = rows(0, count=10)
    assert [sample.time for sample in newest_window(samples, 15)] == [170.0, 180.0, 190.0]
    assert len(newest_window(samples, 55)) == 6
    assert newest_window([]) == []


def test_the_window_takes_samples_without_time():
    samples = [GpuSample("n", 0, math.nan, utilization_percent=0.0) for _ in range(5)]
    assert len(newest_window(samples)) == 5


def test_since_when_it_stays():
    assert steady_since(rows([40, 100, 100, None, 100])) == 110.0
    assert steady_since(rows([0, 0, 100, 100])) == 120.0
    assert steady_since(rows([100, 100, 50])) is None
    assert steady_since(rows([None, None])) is None


@pytest.mark.parametrize(("failed", "state"), [(2, GpuState.COMPUTING), (3, GpuState.LOST)])
def test_a_gpu_of_which_the_driver_tells_errors_only_is_lost(failed, state):
    """`[Unknown Error]` instead of every value, several times in a row; once or twice may be chance."""
    errors = rows(None, None, used=None, problem="Unknown Error", count=failed)

    assert read_gpu([*rows(100, 400), *errors]).state is state
