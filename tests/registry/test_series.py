"""Series in Redis: exact where it matters, one writer, refilled after any loss."""

import asyncio
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from diagnosis.series import Mark
from registry import RegistryAway, connect, keys
from registry.series import TAIL_POINTS
from tests.counts import examples
from tests.registry.values import RUN, f32, sample, samples


async def write(registry, losses, *, attempt=1, size=50, first=0):
    assert await registry.series.claim_writer(RUN, "w1")
    chunk = samples(losses, first)
    for start in range(0, len(chunk), size):
        assert await registry.series.append(RUN, attempt, chunk[start : start + size])


async def test_a_short_run_is_exact(registry):
    """Every point as it was printed, to 32 bits, the last one fully; nothing is thinned."""
    losses = [3 - n / 100 for n in range(137)]

    await write(registry, losses, size=7)

    whole = await registry.series.whole(RUN)
    assert list(whole.loss.values[:-1]) == [f32(loss) for loss in losses[:-1]]
    assert whole.loss.values[-1] == losses[-1]
    assert list(whole.loss.steps) == list(range(137))
    assert not whole.loss.is_thinned
    assert whole.loss.times[5] == pytest.approx(1.7e9 + 5, abs=1e-3)
    assert whole.step_kind == "printed"


async def test_a_long_run_keeps_its_extremes(registry):
    """However long it is, the highest and the lowest loss are in the picture, exact, and it fits."""
    losses = [2 + math.sin(n / 50) / 10 for n in range(20_000)]
    losses[777], losses[888] = 55.5, 0.001

    await write(registry, losses, size=1000)

    whole = await registry.series.whole(RUN)
    assert max(whole.loss.highs) == f32(55.5)
    assert min(whole.loss.lows) == f32(0.001)
    assert len(whole.loss) <= 2040 + TAIL_POINTS + 1
    assert (whole.loss.steps[0], whole.loss.steps[-1]) == (0, 19_999)
    assert (whole.loss.values[0], whole.loss.values[-1]) == (losses[0], losses[-1])
    assert list(whole.loss.steps) == sorted(whole.loss.steps)
    assert list(whole.loss.values[-100:-1]) == [f32(loss) for loss in losses[-100:-1]]


async def test_the_newest_points_are_exact(registry):
    """What people zoom into is not a mean."""
    await write(registry, [float(n) for n in range(1000)])

    newest = await registry.series.newest(RUN, 25)

    assert list(newest.loss.values) == [float(n) for n in range(975, 1000)]


async def test_metrics_that_are_not_printed_are_not_drawn(registry):
    """A line without grad norm has no grad norm, also when its neighbours have one."""
    await registry.series.claim_writer(RUN, "w1")
    await registry.series.append(
        RUN, 1, [sample(1, 2.0), sample(2, 1.9, grad_norm=0.5), sample(3, None, lr=1e-4), sample(4, 1.8)]
    )

    whole = await registry.series.whole(RUN)

    assert [len(whole.loss), len(whole.grad_norm), len(whole.lr)] == [3, 1, 1]
    assert list(whole.grad_norm.steps) == [2]


async def test_every_non_finite_point_has_a_mark(registry):
    """NaN and infinities of any metric stay visible at any zoom, with their step and time."""
    await registry.series.claim_writer(RUN, "w1")
    await registry.series.append(
        RUN, 1, [sample(n, 2.0, grad_norm=math.inf if n == 40 else 1.0, time=1e9 + n) for n in range(50)]
    )
    await registry.series.append(RUN, 1, [sample(50, math.nan, time=1e9 + 50)])
    await registry.series.append(RUN, 1, samples([1.0] * 5000, first=51))

    whole = await registry.series.whole(RUN)

    assert [(mark.metric, mark.step, repr(mark.value), mark.time) for mark in whole.marks] == [
        ("grad_norm", 40.0, "inf", 1e9 + 40),
        ("loss", 50.0, "nan", 1e9 + 50),
    ]


async def test_a_run_that_stays_nan_does_not_fill_redis(registry, redis_url):
    """Ten thousand NaN in a row are their first eight, their end and their count."""
    await write(registry, [1.0, *[math.nan] * 10_000], size=1000)

    whole = await registry.series.whole(RUN)

    assert Redis.from_url(redis_url).hlen(keys.run(RUN, "marks")) == 9
    assert [mark.step for mark in whole.marks] == [1, 2, 3, 4, 5, 6, 7, 8, 10_000]
    assert whole.marks[-1].text == "10,000 in a row since step 1"
    assert math.isnan(whole.loss.values[-1])


async def test_marks_of_detectors_are_kept_once(registry):
    """The same jump found again after a restart is one mark."""
    jump = Mark("jump", 5.0, 1.0, 9.0, 2.0)
    for _ in range(2):
        await registry.series.mark(RUN, [jump])
    await registry.series.mark(RUN, [])

    assert (await registry.series.whole(RUN)).marks == (jump,)


async def test_attempts_are_kept_apart(registry):
    """A restart that goes back in steps draws both attempts, in order."""
    await write(registry, [3.0, 2.0, 1.0], attempt=1)
    await write(registry, [2.5, 1.5], attempt=2, first=1)

    whole = await registry.series.whole(RUN)

    assert list(whole.loss.values) == [3.0, 2.0, 1.0, 2.5, 1.5]
    assert await registry.series.stored(RUN) == {1: (3, 2), 2: (2, 2)}


async def test_ranks_that_print_the_same_count_once(registry):
    """Eight ranks that print one loss are one point."""
    await registry.series.claim_writer(RUN, "w1")
    await registry.series.append(RUN, 1, [sample(step, math.nan if step == 2 else 1.0) for step in (1, 1, 2, 2, 1, 3)])

    assert list((await registry.series.whole(RUN)).loss.steps) == [1, 2, 3]


@pytest.mark.parametrize("step", [0, -1, 1 << 32, (1 << 63) - 1, 1 << 70, None])
async def test_steps_of_any_size(registry, step):
    """Samples, tokens or nothing as step: what a chart can show is kept."""
    await registry.series.claim_writer(RUN, "w1")
    await registry.series.append(RUN, 1, [sample(step, 1.0)])

    whole = await registry.series.whole(RUN)

    assert list(whole.loss.steps) == [float(min(step or 0, (1 << 63) - 1))]


async def test_lines_without_steps_are_counted(registry):
    """A log that prints no step gets the order of its lines."""
    await registry.series.claim_writer(RUN, "w1")
    await registry.series.append(RUN, 1, [sample(None, loss) for loss in (3.0, 3.0, 2.0)])

    assert list((await registry.series.whole(RUN)).loss.steps) == [0, 1, 2]


async def test_one_watcher_writes(registry, redis_url):
    """The second is told so and writes nothing, until the first is gone."""
    other = connect(redis_url, "other")
    await write(registry, [3.0])

    assert not await other.series.claim_writer(RUN, "w2")
    assert not await other.series.append(RUN, 1, samples([9.0], first=1))
    Redis.from_url(redis_url).delete(keys.run(RUN, "writer"))
    assert await other.series.claim_writer(RUN, "w2")
    assert await other.series.append(RUN, 1, samples([2.0], first=1))

    assert not await registry.series.append(RUN, 1, samples([9.0], first=1))
    assert list((await registry.series.whole(RUN)).loss.values) == [3.0, 2.0]
    await other.aclose()


async def test_a_restarted_watcher_goes_on(registry, redis_url):
    """Rollup, tail and streaks continue, and lines it reads again from its bookmark count once."""
    losses = [5 + math.sin(n) for n in range(5000)]
    await write(registry, losses[:3333], size=100)
    again = connect(redis_url, "again")

    await write(again, losses[3300:], first=3300, size=99)

    whole = await again.series.whole(RUN)
    undisturbed = connect(redis_url, "undisturbed")
    Redis.from_url(redis_url).flushall()
    await write(undisturbed, losses, size=5000)
    expected = await undisturbed.series.whole(RUN)
    for column in ("steps", "times", "lows", "highs"):
        assert getattr(whole.loss, column) == getattr(expected.loss, column)
    assert list(whole.loss.values) == pytest.approx(list(expected.loss.values), rel=1e-5)
    for one in (again, undisturbed):
        await one.aclose()


async def test_a_flushed_redis_is_refilled_from_memory(registry, redis_url):
    """The writer notices, and the whole rollup and the newest points are there again."""
    losses = [5 + math.sin(n) for n in range(3000)]
    await write(registry, losses[:2990])
    Redis.from_url(redis_url).flushall()

    await write(registry, losses[2990:], first=2990)

    whole = await registry.series.whole(RUN)
    assert max(whole.loss.highs) == f32(max(losses))
    assert (whole.loss.steps[0], whole.loss.steps[-1]) == (0, 2999)
    assert list(whole.loss.values[-500:-1]) == [f32(loss) for loss in losses[-500:-1]]


async def test_samples_wait_while_redis_is_away(victim):
    """What could not be written goes with the next append, once."""
    registry = connect(victim.url, "test", call_seconds=3.0)
    await write(registry, [1.0, 2.0, 3.0])
    victim.kill()
    with pytest.raises(RegistryAway):
        await registry.series.append(RUN, 1, samples([4.0], first=3))
    victim.start()
    await write(registry, [5.0], first=4)
    victim.pause()
    with pytest.raises(RegistryAway):
        await registry.series.append(RUN, 1, samples([6.0], first=5))
    victim.resume()
    await asyncio.sleep(0.1)

    await write(registry, [7.0], first=6)

    assert list((await registry.series.whole(RUN)).loss.values) == [1, 2, 3, 4, 5, 6, 7]
    await registry.aclose()


async def test_a_tail_that_expired_begins_anew(registry, redis_url):
    """After a week of silence the rollup is there and the exact points begin again."""
    await write(registry, [1.0, 2.0, 3.0])
    Redis.from_url(redis_url).delete(keys.run(RUN, "tail"))

    await write(registry, [4.0], first=3)

    assert list((await registry.series.whole(RUN)).loss.values) == [1, 2, 3, 4]
    assert list((await registry.series.newest(RUN, 10)).loss.values) == [4]


async def test_the_tail_is_bounded_and_ends_by_itself(registry, redis_url):
    """Only the newest points are kept exact, for a week after the last write."""
    await write(registry, [float(n) for n in range(6000)], size=1000)
    client = Redis.from_url(redis_url)

    assert client.llen(keys.run(RUN, "tail")) <= TAIL_POINTS // 10 + 1
    assert 0 < client.ttl(keys.run(RUN, "tail")) <= keys.WEEK
    assert client.ttl(keys.roll(RUN, 1)) == -1


async def test_a_damaged_series_starts_again(registry, redis_url):
    """Notes or bytes that do not fit together cost the old picture, not the new points."""
    await write(registry, [1.0, 2.0, 3.0])
    client = Redis.from_url(redis_url)
    client.set(keys.roll(RUN, 1), b"short")
    client.hset(keys.run(RUN, "marks"), "x", "junk")
    client.hset(keys.run(RUN, "series"), "7", "junk")

    again = connect(redis_url, "again")
    await write(again, [4.0], first=3)

    assert list((await again.series.whole(RUN)).loss.values) == [4.0]
    await again.aclose()


async def test_an_unknown_run_is_an_empty_series(registry):
    """Nothing stored, nothing drawn."""
    whole = await registry.series.whole("never")

    assert (len(whole.loss), whole.marks, whole.attempts) == (0, (), ())
    assert len((await registry.series.newest("never", 10)).loss) == 0
    assert await registry.series.stored("never") == {}


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
async def test_whole_never_loses_an_extreme(redis_url, data):
    """Any sequence of appends, restarts and losses of the tail shows each finite extreme and each point's step once."""
    client = Redis.from_url(redis_url)
    client.flushall()
    losses: list[float] = []
    registry = connect(redis_url, "w")
    for _ in range(data.draw(st.integers(1, 8))):
        act = data.draw(st.sampled_from(["append", "append", "append", "restart", "expire"]))
        if act == "append":
            chunk = data.draw(
                st.lists(st.floats(-1e6, 1e6, width=32) | st.just(math.nan), min_size=1, max_size=30)
            ) * data.draw(st.sampled_from([1, 1, 40]))
            await write(registry, chunk, first=len(losses), size=len(chunk))
            losses += chunk
        elif act == "restart":
            await registry.aclose()
            registry = connect(redis_url, "w")
        else:
            client.delete(keys.run(RUN, "tail"))

    whole = (await registry.series.whole(RUN)).loss
    finite = [loss for loss in losses if math.isfinite(loss)]
    lows, highs = (whole.lows, whole.highs) if whole.is_thinned else (whole.values, whole.values)
    if finite:
        assert min(low for low in lows if math.isfinite(low)) == min(finite)
        assert max(high for high in highs if math.isfinite(high)) == max(finite)
    assert len(set(whole.steps)) == len(whole.steps)
    if not whole.is_thinned:
        assert len(whole.values) == len(losses)
    await registry.aclose()


async def test_a_mark_that_is_told_again_with_other_surroundings_is_the_same(registry):
    """A watcher that was restarted may know less of what changed around it."""
    mark = Mark("jump", 60.0, None, 9.5, 2.5, changes=("learning rate: 1.0e-4 → 0.5 at step 60 (a.log:60)",))
    await write(registry, [2.5] * 60)

    await registry.series.mark(RUN, [mark])
    await registry.series.mark(RUN, [Mark("jump", 60.0, None, 9.5, 2.5)])

    whole = await registry.series.whole(RUN)
    assert len([one for one in whole.marks if one.kind == "jump"]) == 1
