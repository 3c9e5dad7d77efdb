"""From a line of a log to its message nothing waits for its next look: each part is woken by the one before (A12).

All looks of watcher and bot are an hour apart here, so what is not woken does not come.
"""

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from bot.announcer import Announcer
from registry import keys
from tests.bot.conftest import begin_watching
from watcher.publisher import Publisher
from watcher.settings import WatchedRun, WatcherSettings
from watcher.wakeup import WakeUp

HOUR = 3600.0
BOUND_SECONDS = 3.0
"""So long a line may wait at most, but for one in a hundred."""
GOOD = "step={} loss=2.5 lr=0.0001 grad_norm=1.0\n"
NAN = "step={} loss=nan lr=0.0001 grad_norm=1.0\n"
HEALTHY = 30
"""Lines before the first one that is written here."""


@pytest.fixture
def seldom(monkeypatch):
    """What is a poll looks once an hour."""
    for name in (
        "watcher.run_watch.QUIET_SECONDS",
        "watcher.publisher.IDLE_SECONDS",
        "watcher.publisher.CHECK_SECONDS",
    ):
        monkeypatch.setattr(name, HOUR)
    monkeypatch.setattr("bot.monitor.WAIT_SECONDS", HOUR)
    monkeypatch.setattr("bot.follower.STREAMS_EVERY_SECONDS", 0.0)


@pytest.fixture
async def followed(seldom, workspace, monitoring, redis_url, tmp_path):
    """`(write, told)`: writes a line into the log of a run; how many runs the channel tells of."""
    logs = {f"run{number}": tmp_path / f"run{number}.log" for number in (1, 2)}
    for log in logs.values():
        log.write_text("".join(map(GOOD.format, range(HEALTHY))))
    settings = WatcherSettings(
        runs=tuple(WatchedRun(name, (str(log),)) for name, log in logs.items()),
        node="node17",
        state_dir=tmp_path / "state",
        redis_url=redis_url,
        poll_seconds=HOUR,
        wake_seconds=0.0,
        gpu_seconds=0.0,
    )
    steps = dict.fromkeys(logs, HEALTHY)

    def write(run, line=GOOD):
        with logs[run].open("a") as log:
            log.write(line.format(steps[run]))
        steps[run] += 1

    async with monitoring(), AsyncExitStack() as stack:
        agent = await begin_watching(stack, settings)
        async with asyncio.timeout(60):
            while not all(run.files and not run.lag_bytes for run in agent.runs):
                await asyncio.sleep(0.02)
        yield write, lambda: len(workspace.messages())


async def test_a_line_is_told_although_nobody_looks_for_an_hour(followed):
    """The log wakes the watcher, the finding the spool, Redis the bot, and the news the channel."""
    write, told = followed

    for number, run in enumerate(("run1", "run2"), 1):
        write(run, NAN)
        await _go_on(write, run, lambda number=number: told() == number, 60.0)

        assert told() == number


def deaf_to_logs(monkeypatch):
    """Nobody listens to a log any more, once it was written to."""
    monkeypatch.setattr(WakeUp, "arm", lambda *_: None)


def deaf_to_the_watcher(monkeypatch):
    """Nobody says that something was found."""
    accept = Publisher.accept

    def unheard(self, verdict):
        kept, self._news = self._news, asyncio.Event()
        was_accepted = accept(self, verdict)
        self._news = kept
        return was_accepted

    monkeypatch.setattr(Publisher, "accept", unheard)


def deaf_to_redis(monkeypatch):
    """What is published wakes nobody who has subscribed."""
    monkeypatch.setattr(keys, "WAKE", "rw:nobody")


def deaf_to_news(monkeypatch):
    """Nobody says that something is to be told."""
    monkeypatch.setattr(Announcer, "_put", lambda self, channel, said: self._outbox(channel).put(said))


@pytest.mark.parametrize("deafen", [deaf_to_logs, deaf_to_the_watcher, deaf_to_redis, deaf_to_news])
async def test_without_one_of_the_wake_ups_it_waits_for_the_next_look(followed, monkeypatch, deafen):
    """Negative control: the line is written, and nothing is told."""
    write, told = followed
    write("run1", NAN)
    await _go_on(write, "run1", lambda: told() == 1, 60.0)

    deafen(monkeypatch)
    await _go_on(write, "run2", lambda: False, BOUND_SECONDS / 3)
    write("run2", NAN)
    await _go_on(write, "run2", lambda: told() > 1, BOUND_SECONDS)

    assert told() == 1


async def _go_on(write, run, look, seconds):
    """The run trains on until that is so, or for so long: a line that was written while nobody slept wakes nobody."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not look():
                await asyncio.sleep(0.1)
                write(run)
