"""Rollups and packed points against the exact data they stand for."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import rollup as rollup_module
from registry.points import PER_BLOB, Point, pack, unpack
from registry.rollup import BUCKET_BYTES, Rollup, buckets_of
from tests.registry.values import f32

value = st.one_of(
    st.none(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-100, 100),
    st.sampled_from([math.nan, math.inf, 1e300, -1e300, 1e-300, 0.0]),
)
point = st.builds(
    Point,
    step=st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(0, 10_000),
    time=st.floats(0, 4e9) | st.just(math.nan),
    loss=value,
    grad_norm=value,
    lr=value,
)


def same(one: float | None, other: float | None) -> bool:
    """Equal, where NaN equals NaN."""
    return repr(one) == repr(other)


def stored(value: float | None) -> float | None:
    """What 32 bits keep of a value: a finite one stays finite."""
    if value is None or not math.isfinite(value):
        return value
    return f32(max(-3.4028234663852886e38, min(3.4028234663852886e38, value)))


@given(st.lists(point, max_size=60), st.integers(0, 1000), st.integers(0, 50))
def test_packed_points_come_back(points, attempt, position):
    """Steps of any size exactly, values to 32 bits, None told from NaN, times to the millisecond."""
    blobs = unpack(pack(attempt, position, points))

    back = [one for blob in blobs for one in blob.points]
    assert [one.step for one in back] == [one.step for one in points]
    for one, other in zip(back, points, strict=True):
        assert all(same(a, stored(b)) for a, b in zip(one.metrics, other.metrics, strict=True))
    at = position
    for blob in blobs:
        assert (blob.attempt, blob.position) == (attempt, at)
        assert blob.position // PER_BLOB == (blob.position + len(blob) - 1) // PER_BLOB
        at += len(blob)


@given(st.lists(st.floats(0, 3600), min_size=1, max_size=10), st.floats(1e9, 4e9))
def test_times_of_neighbours_are_exact_to_a_millisecond(gaps, start):
    """Within an hour a blob keeps times far finer than any log prints them."""
    points = [Point(n, start + gap, 1.0, None, None) for n, gap in enumerate(sorted(gaps))]

    (blob,) = unpack(pack(0, 0, points))

    assert all(abs(a.time - b.time) < 1e-3 for a, b in zip(blob.points, points, strict=True))


@given(st.binary(max_size=300))
def test_no_blob_hurts_the_reader(data):
    """Bytes that are no blob are left out."""
    assert all(len(blob) <= 255 for blob in unpack([data]))


def test_a_point_costs_about_24_bytes():
    """What 10,000 runs may cost in memory rests on this."""
    points = [Point(n, 1e9 + n, 1.0, 1.0, 1.0) for n in range(1000)]

    assert sum(map(len, pack(0, 0, points))) / 1000 < 25
    assert BUCKET_BYTES == 64


@given(points=st.lists(point, min_size=1, max_size=200), cuts=st.lists(st.integers(0, 200), max_size=5))
def test_a_rollup_tells_the_truth_about_every_bucket(points, cuts):
    """Whatever was rolled up, in one life or in several: extremes exact, counts exact, means close, never a lie."""
    most, rollup_module.MOST_BUCKETS = rollup_module.MOST_BUCKETS, 8
    try:
        rollup = Rollup()
        for at, one in enumerate(points):
            if at in cuts:
                rollup = Rollup(rollup.count, rollup.width, rollup.whole())
                assert rollup.is_sound
            rollup.add(one)
    finally:
        rollup_module.MOST_BUCKETS = most

    buckets = buckets_of(rollup.whole(), 8)
    assert rollup.count == len(points)
    assert len(buckets.last_steps) == -(-len(points) // rollup.width) <= 8
    for index, (step, time) in enumerate(zip(buckets.last_steps, buckets.last_times, strict=True)):
        group = points[index * rollup.width : (index + 1) * rollup.width]
        assert step == float(group[-1].step)
        assert same(time, group[-1].time)
        for metric, spreads in enumerate(buckets.metrics):
            spread = (spreads.counts[index], spreads.lows[index], spreads.highs[index], spreads.means[index])
            _assert_true(spread, [one.metrics[metric] for one in group])


def _assert_true(spread, values):
    count, low, high, mean = spread
    there = [value for value in values if value is not None]
    finite = [value for value in there if math.isfinite(value)]
    assert count == len(finite)
    if finite:
        assert low == stored(min(finite))
        assert high == stored(max(finite))
        slack = 1e-5 * max(abs(low), abs(high))
        assert low - slack <= mean <= high + slack
    else:
        assert math.isnan(mean) == bool(there)


def test_a_million_points_stay_in_2040_buckets():
    """Flat size at any length: the width doubles."""
    rollup = Rollup()
    for n in range(100_000):
        rollup.add(Point(n, math.nan, float(n % 7), None, None))

    assert rollup.width == 64
    assert len(rollup.whole()) <= 2040 * BUCKET_BYTES
    assert buckets_of(rollup.whole(), 5).metrics[0].highs == (6.0,) * 5


def test_only_what_changed_is_written():
    """A flush touches the buckets since the last one; after a doubling all of them."""
    rollup = Rollup()
    for n in range(100):
        rollup.add(Point(n, math.nan, 1.0, None, None))
    rollup.is_written()
    assert rollup.changes() is None

    rollup.add(Point(100, math.nan, 1.0, None, None))
    offset, data = rollup.changes()
    assert (offset, len(data)) == (100 * BUCKET_BYTES, BUCKET_BYTES)

    rollup.is_written()
    for n in range(101, 2049):
        rollup.add(Point(n, math.nan, 1.0, None, None))
    offset, data = rollup.changes()
    assert (offset, len(data)) == (0, 1025 * BUCKET_BYTES)


@pytest.mark.parametrize(("count", "width", "size"), [(10, 1, 9), (10, 1, 11), (1, 0, 1), (5, 2, 2)])
def test_a_cut_rollup_is_recognised(count, width, size):
    """Bytes that do not fit their count are not gone on with."""
    assert not Rollup(count, width, bytes(size * BUCKET_BYTES)).is_sound


@given(points=st.lists(point, min_size=1, max_size=300), cuts=st.lists(st.integers(0, 300), max_size=5))
def test_points_rolled_up_together_are_as_one_by_one(points, cuts):
    """However many come at once, the bytes are the same."""
    most, rollup_module.MOST_BUCKETS = rollup_module.MOST_BUCKETS, 8
    alone, together = Rollup(), Rollup()
    ends = [0, *sorted(cuts), len(points)]
    try:
        for one in points:
            alone.add(one)
        for start, stop in pairwise(ends):
            together.add_all(points[start:stop])
    finally:
        rollup_module.MOST_BUCKETS = most

    assert (alone.count, alone.width, alone.whole()) == (together.count, together.width, together.whole())
