"""Calls that never return must not hold anything else."""

import asyncio
import threading

import pytest

from tests.watcher.following import append, lines
from watcher.run_watch import RunWatch
from watcher.worker import MOST_LEFT_BEHIND, NoAnswer, Worker


async def test_what_a_call_gives_or_raises_comes_back():
    """As if it had been made here."""
    worker = Worker("test")

    assert await worker.call(lambda: 7, what="seven", seconds=10) == 7
    with pytest.raises(KeyError):
        await worker.call(lambda: {}["x"], what="nothing", seconds=10)
    worker.close()


async def test_a_call_that_hangs_is_left_behind():
    """Its caller goes on with a new thread, and a few such threads are enough."""
    release = threading.Event()
    worker = Worker("test")
    for _ in range(MOST_LEFT_BEHIND):
        with pytest.raises(NoAnswer, match="the share does not answer"):
            await worker.call(release.wait, what="the share", seconds=0.02)

    with pytest.raises(NoAnswer):
        await worker.call(lambda: 7, what="the share", seconds=10)
    assert worker.stuck == MOST_LEFT_BEHIND
    release.set()
    while worker.stuck:
        await asyncio.sleep(0.01)

    assert await worker.call(lambda: 7, what="the share", seconds=10) == 7
    worker.close()


class Told:
    """Stands where findings go."""

    holds_bookmark = False

    def __init__(self):
        self.accepted = []

    def accept(self, said):
        self.accepted.append(said)
        return True


async def test_a_path_that_hangs_does_not_hold_the_others(settings, log, monkeypatch):
    """It is named, the others are read on, and when it answers again it is read from where it stood."""
    from dataclasses import replace  # noqa: PLC0415

    from watcher import part  # noqa: PLC0415

    stuck, fine = log, log.with_name("rank4.log")
    stuck.write_bytes(lines(0, 10))
    fine.write_bytes(lines(0, 10))
    hangs, release = threading.Event(), threading.Event()
    real_read = part.Part.read

    def read(self, limit):
        if hangs.is_set() and self.path == str(stuck):
            release.wait()
        return real_read(self, limit)

    monkeypatch.setattr(part.Part, "read", read)
    told = Told()
    watch = RunWatch(settings.runs[0], replace(settings, read_deadline_seconds=0.2), told, "node17/run42")
    task = asyncio.create_task(watch.watch())
    await _steps(watch, {3: 9, 4: 9})

    hangs.set()
    append(stuck, lines(10, 20))
    append(fine, lines(10, 20))
    await _steps(watch, {3: 9, 4: 19})
    await _true(lambda: any("does not answer" in problem for problem in watch.problems))
    hangs.clear()
    release.set()
    await _steps(watch, {3: 19, 4: 19})

    await _true(lambda: watch.problems == ())
    watch.stop()
    await task


async def _steps(watch, expected):
    def look():
        return {rank.origin.rank: rank.step for rank in watch.reporting.progress.all()} == expected

    await _true(look)


async def _true(look):
    async with asyncio.timeout(60):
        while not look():
            await asyncio.sleep(0.01)
