"""What nobody needs any more goes: Redis stays as large as the runs people care for."""

import time

import pytest
from redis import Redis

from diagnosis.series import Mark
from registry import Place, StreamId, keys, upkeep
from registry.broom import MOST_MARKS, Retention
from registry.dead_letters import MOST_LETTERS
from tests.registry.values import samples

DAY = 86_400


@pytest.fixture
def client(redis_url):
    return Redis.from_url(redis_url)


async def test_a_run_nobody_heard_of_for_half_a_year_is_forgotten(registry, client):
    """With its numbers and its incidents; a younger one stays whole."""
    for run in ("old", "young"):
        await registry.runs.see(run)
        await registry.series.claim_writer(run, "w1")
        await registry.series.append(run, 0, samples([1.0, 2.0]))
        await registry.incidents.save(f"of-{run}", run, {}, timeline={"e": 1})
    client.zadd(keys.RUNS, {"old": time.time() - 181 * DAY})

    swept = await registry.broom.sweep()

    assert swept.runs == ("old",)
    assert [key for key in client.keys("*") if b"old" in key] == []
    assert set(await registry.incidents.all_open()) == {"of-young"}
    assert len((await registry.series.whole("young")).loss) == 2


async def test_beyond_the_most_runs_the_longest_idle_go(registry, client):
    """None of the last day, however many there are."""
    now = time.time()
    for age, run in enumerate(("today", "yesterday", "last week", "last month")):
        await registry.runs.see(run)
        client.zadd(keys.RUNS, {run: now - (0, 1.5, 7, 30)[age] * DAY})

    assert (await registry.broom.sweep(Retention(most_runs=3))).runs == ("last month",)
    assert (await registry.broom.sweep(Retention(most_runs=1))).runs == ("last week", "yesterday")
    await registry.runs.see("also today")
    assert (await registry.broom.sweep(Retention(most_runs=1))).runs == ()


async def test_nothing_is_forgotten_where_people_want_to_keep_all(registry, client):
    """0 means never and without limit."""
    await registry.runs.see("old")
    client.zadd(keys.RUNS, {"old": 1.0})

    assert (await registry.broom.sweep(Retention(runs_seconds=0, most_runs=0))).runs == ()


async def test_a_run_that_restarts_all_the_time_keeps_its_newest_attempts(registry, client):
    """Each attempt has a rollup of its own; the oldest of a crash loop go, and the rest is drawn as before."""
    await registry.runs.see("run42")
    await registry.series.claim_writer("run42", "w1")
    for attempt in range(8):
        await registry.series.append("run42", attempt, samples([float(attempt), 1.0], first=attempt * 10))
        await registry.runs.begin_attempt("run42", attempt)

    swept = await registry.broom.sweep(Retention(rollups_per_run=3))

    assert swept.attempts == 5
    assert sorted(await registry.series.stored("run42")) == [5, 6, 7]
    assert len([key for key in client.keys("*") if b":roll:" in key]) == 3
    assert len(await registry.runs.attempts("run42")) == 8
    assert await registry.series.append("run42", 7, samples([1.5], first=90))


async def test_marks_and_dead_letters_are_bounded(registry, client):
    """The oldest go first: those of the earliest attempts, and the earliest letters."""
    await registry.runs.see("run42")
    await registry.series.mark("run42", [Mark("jump", 1.0, None, 9.0)])
    client.hset(keys.run("run42", "marks"), mapping={f"0:nonfinite:loss:{n}": "x" for n in range(MOST_MARKS)})
    client.zadd(keys.DEAD, {"w1": time.time(), "w9": 1.0})
    letters = {f"e1:{n}": f'{{"at": {n}}}' for n in range(MOST_LETTERS + 3)}
    client.hset(keys.dead("w1"), mapping=letters)

    swept = await registry.broom.sweep()

    assert swept.small_things == 5
    assert len((await registry.series.whole("run42")).marks) == 1
    assert "e1:2" not in await registry.ledger.dead_letters("w1")
    assert "e1:3" in await registry.ledger.dead_letters("w1")


async def test_a_sweep_with_nothing_to_do_says_so(registry):
    """Empty is false."""
    assert not await registry.broom.sweep()


async def test_one_bot_sweeps_once_an_hour(registry, client, monkeypatch):
    """The first turn sweeps, the next ones do not, an hour later it is due again."""
    await registry.runs.see("old")
    for expected in (("old",), ()):
        client.zadd(keys.RUNS, {"old": 1.0})
        assert (await registry.upkeep.turn()).swept.runs == expected

    monkeypatch.setattr(upkeep, "SWEEP_EVERY_SECONDS", 0.0)
    assert (await registry.upkeep.turn()).swept.runs == ("old",)


async def test_a_dead_letter_is_kept_for_90_days(registry, client):
    """Then it goes by itself."""
    stream = StreamId("w1", "e1")
    await registry.events.publish_all(stream, [(1, "", b"junk")])
    (event,) = await registry.events.read({stream: 0})

    await registry.ledger.bury(event, "unreadable")

    assert 89 * DAY < client.ttl(keys.dead("w1")) <= 90 * DAY
    assert (await registry.ledger.state(event)).place == Place(note="dead letter: unreadable")
