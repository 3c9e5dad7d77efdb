"""A clock that is set, while a run is followed or between two watchers, moves nothing of what is said about it."""

import asyncio
import json
import os
import time

import pytest

from registry import connect
from tests.watcher.conftest import until
from tests.watcher.following import Follower, append, lines
from watcher import boot
from watcher.agent import Agent
from watcher.bookmarks import Bookmarks, _with_sum
from watcher.identity import FileId, Place
from watcher.node_clock import NodeClock
from watcher.pieces import Chunk
from watcher.progress import Progress
from watcher.spool import Spool

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
NOW = 1_800_000_000.0
JUMPS = pytest.mark.parametrize("jump", [-600.0, DAY, -DAY], ids=["ten minutes back", "a day on", "a day back"])
SOON = 120.0
"""A test takes less; a false silence is ten minutes at least."""


@JUMPS
def test_the_difference_follows_a_clock_that_is_set(monkeypatch, jump):
    """What was three seconds ahead is so much more ahead at once, until it is measured anew."""
    clock, real = NodeClock(), time.time
    clock.measured(3.0)

    monkeypatch.setattr(time, "time", lambda: real() + jump)

    assert clock.ahead_seconds == pytest.approx(3.0 + jump, abs=1.0)
    assert time.time() - clock.ahead_seconds == pytest.approx(real() - 3.0, abs=1.0)
    clock.measured(3.0 + jump)
    assert clock.ahead_seconds == pytest.approx(3.0 + jump, abs=1.0)


@JUMPS
def test_the_next_watcher_knows_the_difference_before_it_is_measured(monkeypatch, jump):
    """A clock that was set while no watcher ran is known by the one that goes on in the same boot."""
    clock, real = NodeClock(), time.time
    clock.measured(3.0)
    kept = json.loads(json.dumps(clock.kept()))
    monkeypatch.setattr(time, "time", lambda: real() + jump)

    after = NodeClock()
    after.resume(kept)

    assert after.is_known
    assert after.ahead_seconds == pytest.approx(3.0 + jump, abs=1.0)


@pytest.mark.parametrize("kept", [None, {"boot": "of another time", "ahead": DAY, "wall_minus_steady": 0.0}])
def test_what_was_kept_in_another_boot_is_not_believed(kept):
    """The clock that nobody sets begins anew with each boot."""
    clock = NodeClock()

    clock.resume(kept)

    assert not clock.is_known
    assert NodeClock().kept() is None


AGES = {
    "as the clocks say": (2 * HOUR, 0.0, None, 2 * HOUR),
    "a clock that is a little off": (2 * HOUR, 5.0, None, 2 * HOUR),
    "written just now": (30.0, 0.0, None, 0.0),
    "a clock that was always a day ahead": (2 * HOUR, DAY, None, 2 * HOUR),
    "a clock that was always a day behind": (2 * HOUR, -DAY, None, 2 * HOUR),
    "set a day on since it was written": (DAY + 5.0, DAY, None, 0.0),
    "set a day back since it was written": (5.0 - DAY, -DAY, None, 0.0),
    "set a day on, two hours after it was written": (DAY + 2 * HOUR, DAY, None, 2 * HOUR),
    "set a day back, two hours after it was written": (2 * HOUR - DAY, -DAY, None, 2 * HOUR),
    "set an hour on since it was written": (HOUR + 5.0, HOUR, None, 0.0),
    "in the future on every clock": (-2 * HOUR, 0.0, None, 0.0),
    "not there half a minute ago": (3 * DAY, 0.0, 30.0, 0.0),
    "not there five minutes ago, whatever the clocks say": (DAY, 0.0, 5 * MINUTE, 0.0),
    "not there three hours ago": (2 * HOUR, 0.0, 3 * HOUR, 2 * HOUR),
    "set a day on within the three hours": (DAY + 2 * HOUR, DAY, 3 * HOUR, 2 * HOUR),
    "set right, a day back, within the three hours": (2 * HOUR - DAY, 0.0, 3 * HOUR, 0.0),
    "set right, a day on, within the three hours": (DAY + 2 * HOUR, 0.0, 3 * HOUR, 0.0),
}
"""Age by this node's clock, how far that is ahead, how long ago nothing lay there; the age that is told."""


def chunk(age, unread_seconds=None):
    return Chunk("a.log", 1, 0, b"x\n", Place(FileId(1, 1), 2, 1), NOW - age, unread_seconds=unread_seconds)


@pytest.mark.parametrize("told", AGES)
def test_the_age_of_what_is_read_is_the_youngest_that_all_clocks_allow(told):
    """A time of change alone proves nothing; a bound on the steady clock does, and two clocks that agree do."""
    age, ahead, unread_seconds, expected = AGES[told]
    clock = NodeClock()
    clock.measured(ahead)

    written = clock.written(chunk(age, unread_seconds), NOW)

    assert NOW - written == pytest.approx(expected, abs=1.0)


def test_before_any_other_clock_is_known_silence_is_counted_from_now():
    """One clock alone cannot tell that it was set."""
    assert NodeClock().written(chunk(DAY), NOW) == NOW


def test_what_was_noted_before_the_clock_was_known_moves_when_it_is():
    """A watcher that starts while Redis is away takes its clock for right, and corrects that once."""
    clock, progress = NodeClock(), Progress()
    progress.facts["last_progress"] = NOW

    progress.move(clock.measured(DAY))
    progress.move(clock.measured(DAY + 1))

    assert progress.facts["last_progress"] == pytest.approx(NOW - DAY, abs=1.0)


@pytest.mark.parametrize("off", [-DAY, DAY], ids=["a day behind", "a day ahead"])
def test_bytes_that_come_while_we_look_are_young_whatever_their_file_says(tmp_path, off):
    """A file server whose clock is off makes nothing old that was not there a moment ago."""
    log = tmp_path / "train.log"
    log.write_bytes(lines(0, 10))
    follower = Follower(log).poll(2)
    append(log, lines(10, 20))
    os.utime(log, (time.time() + off, time.time() + off))

    follower.now += 7.0
    batch = follower.tail.poll()

    (piece,) = [piece for piece in batch.pieces if piece.data]
    assert piece.unread_seconds == pytest.approx(7.0)


@pytest.mark.parametrize("is_same", [True, False], ids=["the same boot", "another boot"])
def test_a_bookmark_says_since_when_bytes_may_have_come(tmp_path, monkeypatch, is_same):
    """In the same boot only: the steady clock of another one says nothing here."""
    bookmarks = Bookmarks(tmp_path, "run42")
    at = time.monotonic() - 5.0
    bookmarks.save({"a.log": (Place(FileId(1, 1), 0, 1, caught_up_at=at),)}, {})
    if not is_same:
        monkeypatch.setattr(boot, "boot_name", lambda: "another")

    (place,) = bookmarks.load()["a.log"]

    assert place.caught_up_at == (at if is_same else None)


async def read_and_stopped(settings, log, stopped):
    """A watcher read ten steps and ended; eleven more came then, the last so many seconds before the next watcher."""
    log.write_bytes(lines(0, 10))
    registry, spool = connect(settings.redis_url), Spool(settings.home / "spool")
    agent = Agent(settings, registry, spool)
    watching = asyncio.create_task(agent.watch())
    await age_of(registry, 9)
    agent.stop()
    await watching
    spool.close()
    await registry.aclose()
    append(log, lines(10, 21))
    if stopped:
        os.utime(log, (time.time() - stopped, time.time() - stopped))
        rewind(settings, 2 * stopped)


def rewind(settings, seconds):
    """As if the bookmark had been written so much earlier."""
    (path,) = (settings.home / "bookmarks").glob("run42.json")
    document = json.loads(path.read_bytes().partition(b"\n")[2])
    for places in document["places"].values():
        for place in places:
            place["caught_up"] -= seconds
    path.write_bytes(_with_sum(json.dumps(document).encode()))


async def age_of(registry, step):
    """How long ago the rank came to a step, once it is told."""

    async def there():
        (rank,) = await registry.ranks.all("run42") or [None]
        run = await registry.runs.get("run42")
        return (rank, run) if rank and run and rank.step == run.last_step == step else None

    rank, run = await until(there)
    now = await registry.now()
    assert now - run.last_progress == pytest.approx(now - rank.progressed_at, abs=1.0)
    return now - rank.progressed_at


def is_about(age, stopped):
    """Never older than it is; where both clocks are possible, younger by a jump of some minutes."""
    return -SOON <= stopped - age <= 10 * MINUTE + SOON


STOPPED = pytest.mark.parametrize("stopped", [0.0, 3 * HOUR], ids=["that trains", "that stopped three hours ago"])


@pytest.fixture(params=[0.0, *JUMPS.args[1]], ids=["as it was", *JUMPS.kwargs["ids"]])
def somebody_sets_the_clock(monkeypatch, request):
    """Sets this node's wall clock; files keep the times that they have."""
    real = time.time
    return lambda: monkeypatch.setattr(time, "time", lambda: real() + request.param)


@STOPPED
async def test_a_watcher_that_starts_anew_tells_the_true_age(watching, settings, log, stopped, somebody_sets_the_clock):
    """What came while it was away is as old as it is, though somebody set the clock meanwhile."""
    await read_and_stopped(settings, log, stopped)
    somebody_sets_the_clock()

    agent = await watching(settings)

    assert is_about(await age_of(agent.registry, 20), stopped)


@STOPPED
async def test_a_first_watcher_asks_two_clocks_how_old_a_log_is(
    watching, settings, log, stopped, somebody_sets_the_clock
):
    """Without a bookmark the registry's clock tells that this node's was set."""
    log.write_bytes(lines(0, 21))
    os.utime(log, (time.time() - stopped, time.time() - stopped))
    somebody_sets_the_clock()

    agent = await watching(settings)

    assert is_about(await age_of(agent.registry, 20), stopped)


async def test_a_time_of_change_believed_as_it_is_makes_a_run_a_day_old(watching, settings, log, monkeypatch):
    """Negative control: it is a day older by the clock that was set, and the run would be called stalled."""
    monkeypatch.setattr(NodeClock, "written", lambda _clock, piece, now: getattr(piece, "written_at", now))
    await read_and_stopped(settings, log, 0.0)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + DAY)

    agent = await watching(settings)

    assert await age_of(agent.registry, 20) == pytest.approx(DAY, abs=SOON)
