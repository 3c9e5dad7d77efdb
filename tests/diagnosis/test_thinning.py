"""Thinning: bounded, and never blurring what matters."""

import math
import random

import pytest

from diagnosis.thinning import RunThinner, Thinner


def filled(values, buckets=16):
    thinner = Thinner(buckets)
    for step, value in enumerate(values, start=1):
        thinner.add(step, value, float(step))
    return thinner


def test_few_points_stay_exact():
    """As many points as buckets are given back as they were."""
    series = filled([3.0, 2.0, 1.0]).series("loss")

    assert list(series.values) == [3.0, 2.0, 1.0]
    assert list(series.steps) == [1.0, 2.0, 3.0]
    assert not series.is_thinned


@pytest.mark.parametrize("count", [17, 100, 1_000, 33_333])
def test_a_long_series_is_bounded_and_keeps_first_last_and_extremes(count):
    """One high point among thousands is exactly there."""
    values = [2.0 + random.Random(step).random() for step in range(count)]
    values[count // 2], values[count // 3] = 99.5, -7.25

    thinner = filled(values)
    series = thinner.series("loss")

    assert len(series) <= 18
    assert (series.values[0], series.values[-1]) == (values[0], values[-1])
    assert (series.steps[0], series.steps[-1]) == (1.0, float(count))
    assert (max(series.highs), min(series.lows)) == (99.5, -7.25)
    assert sum(bucket.count for bucket in thinner.buckets()) == count
    assert list(series.steps) == sorted(series.steps)


def test_a_bucket_knows_where_its_extremes_stood():
    """For a zoom or a mark."""
    thinner = filled([2.0] * 40 + [9.0] + [2.0] * 60)

    highest = max(thinner.buckets(), key=lambda bucket: bucket.highest)
    assert (highest.highest, highest.highest_step) == (9.0, 41.0)


def test_nonfinite_points_are_marks_and_no_values():
    """A line with a hole, and a mark in it."""
    thinner = RunThinner("run42")
    for step, loss in enumerate([2.0, math.nan, 2.1, math.inf], start=1):
        thinner.add(step, loss=loss, grad_norm=1.0, lr=1e-4, time=float(step))

    series = thinner.series()

    assert list(series.loss.values) == [2.0, 2.1]
    assert [(mark.step, mark.metric, mark.kind) for mark in series.marks] == [
        (2, "loss", "nonfinite"),
        (4, "loss", "nonfinite"),
    ]
    assert len(series.grad_norm) == len(series.lr) == 4


def test_an_odd_number_of_buckets_is_refused():
    """Neighbours are joined in pairs."""
    with pytest.raises(ValueError, match="even number"):
        Thinner(7)
