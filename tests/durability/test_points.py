"""Killed at each named point of its work, bot and watcher lose nothing and tell nothing twice (RELIABILITY A3)."""

import asyncio
import os
import random
from collections import Counter

import pytest

from bot.workspace import Workspace, faults
from tests.counts import IS_FULL, count, say
from tests.durability.points import POINTS
from tests.durability.watcher_process import BOOKMARK_EVERY, ENOUGH
from tests.scenarios.nursery import Nursery
from tests.servers import PATIENT

pytestmark = pytest.mark.figure

KILLS = count(1, 60)
FEW = (
    "during Slack.call chat.postMessage",
    "after Slack.call chat.postMessage",
    "before Ledger.delivered",
    "before os.fsync",
    "after Events.publish_all",
)
"""What every run of the suite tries; all of them with RUNWATCH_TEST_FULL=1."""
ASKED = tuple(filter(None, os.environ.get("RUNWATCH_TEST_POINTS", "").split(",")))
"""Only these, whatever is full: names of points, with commas between."""
PER_SECOND = {"bot": 3.0, "watcher": 6.0}
"""How many findings there are while one of them is killed."""
SETTLE_SECONDS = count(60.0, 1200.0)
STUCK_SECONDS = 20.0
METHODS = ("chat.postMessage", "chat.update")
TWICE_IF_BLIND = "after Slack.call chat.postMessage"


class Story:
    """A bot and a watcher, one of them killed at a point again and again."""

    def __init__(self, workspace, redis_url, home, nursery, *, side, without=""):
        self._workspace, self._url, self._home, self._nursery = workspace, redis_url, home, nursery
        self._side, self._without = side, without
        self._lives = {}
        self.killed = Counter()

    def start(self, side, point="-", nth=1):
        words = ["tests.durability.points", point, str(nth), side]
        if side == "bot":
            words += [self._workspace.url, self._url, self._workspace.bot_token, self._without]
        else:
            words += [self._url, "w0", str(self._home), str(PER_SECOND[self._side])]
        self._lives[side] = self._nursery.start(words, os.environ, self._home / f"{side}.log", self._home)

    async def kill_at(self, point, times):
        """So many lives of one of them end at this point; the other one is left alone."""
        side = self._side
        for number in range(times):
            self.end(side)
            self.start(side, point, 1 if POINTS[point][0].is_seldom else random.Random(number).choice([1, 1, 2, 3]))
            for _ in range(round(STUCK_SECONDS / 0.02)):
                if self._lives[side].poll() is not None:
                    self.killed[point] += 1
                    break
                await asyncio.sleep(0.02)
            if side == "bot":
                await self._tell_something()
        self.end(side)
        self.start(side)

    async def _tell_something(self):
        """What ends a bot five times in a row, and tells nothing in between, is poison and no accident."""
        before = len(self._workspace.messages())
        self.start("bot")
        while len(self._workspace.messages()) == before:
            await asyncio.sleep(0.05)

    async def told(self):
        """No more is found; how many runs there were, and how often each was told of when all were."""
        # A killed life may have found some more than its bookmark says: the last one first comes to where they end.
        beyond = self._expected() + 2 * BOOKMARK_EVERY
        async with asyncio.timeout(SETTLE_SECONDS):
            while self._expected() < beyond:
                await asyncio.sleep(0.05)
            (self._home / ENOUGH).touch()
            while len(runs := self.runs()) < self._expected() or not self._is_done():
                await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        return self._expected(), runs | self.runs()

    def go_on(self):
        """More is found again."""
        (self._home / ENOUGH).unlink()
        for side in tuple(self._lives):
            self.end(side)
            self.start(side)

    def _is_done(self):
        bookmark = self._home / "bookmark"
        return bookmark.exists() and bookmark.stat().st_mtime > (self._home / ENOUGH).stat().st_mtime

    def _expected(self):
        bookmark = self._home / "bookmark"
        return int(bookmark.read_text() or 0) if bookmark.exists() else 0

    def runs(self):
        return Counter(one["text"].split("·")[0].strip() for one in self._workspace.messages())

    def end(self, *sides):
        for side in sides or self._lives:
            if side in self._lives:
                self._lives[side].kill()
                self._lives[side].wait()


@pytest.fixture(scope="module")
def nursery():
    one = Nursery()
    yield one
    one.close()


@pytest.fixture
async def story(victim, tmp_path, nursery):
    """`story(side, without)`: bot and watcher alive, that side to be killed, a tenth of Slack's answers wrong."""
    async with Workspace.start(rate_limit=False, **PATIENT) as workspace:
        workspace.faults.some(0.1, (faults.cut_after(), faults.html(502, done=True)), METHODS, 1)
        made = []

        def begin(side, without=""):
            one = Story(workspace, victim.url, tmp_path, nursery, side=side, without=without)
            made.append(one)
            one.start("watcher")
            one.start("bot")
            return one

        yield begin
        for one in made:
            one.end()


@pytest.mark.timeout(120 + 4 * KILLS * len(POINTS))
@pytest.mark.parametrize("side", ["bot", "watcher"])
async def test_killed_at_a_point_nothing_is_lost_and_nothing_comes_twice(story, side):
    """At every point, so many times, and each of these kills really happened there."""
    tried = ASKED or (tuple(POINTS) if IS_FULL else FEW)
    points = [name for name in tried if POINTS[name][0].side == side]
    if not points:
        pytest.skip("none of the points that were asked for is on this side")
    night = story(side)

    for number, point in enumerate(points):
        await night.kill_at(point, KILLS)
        if IS_FULL or number == len(points) - 1:
            # A bot that is killed all the time does not keep up: what waits is told before the next point.
            expected, told = await night.told()
            say("A3", f"{point}: {night.killed[point]} kills, {expected} findings, {told.total()} told")
            assert (len(told), set(told.values())) == (expected, {1})
            night.go_on()

    say("A3", f"{side}: {len(points)} points, {night.killed.total()} kills, {expected} findings, {told.total()} told")
    assert night.killed == dict.fromkeys(points, KILLS)


async def test_without_looking_the_kill_behind_a_post_tells_twice(story):
    """Negative control: the same kills, and the next bot sees nothing in the channel."""
    night = story("bot", "blind")

    await night.kill_at(TWICE_IF_BLIND, 3)
    # The next bot tells it again when the earlier post must have arrived, which may be long after each run was told of.
    async with asyncio.timeout(SETTLE_SECONDS):
        while max(night.runs().values(), default=0) < 2:
            await asyncio.sleep(0.05)

    assert max(night.runs().values()) > 1
