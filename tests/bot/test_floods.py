"""More than a channel takes: a burst of many watchers (A13), and minutes in which Slack takes nothing (A14)."""

import asyncio
import os
import random
import time
from dataclasses import dataclass
from itertools import pairwise

import pytest

from benchmarks.whole import percentile
from bot.app import bot_running
from bot.slack import Slack
from bot.workspace import Workspace, faults
from diagnosis.findings import Severity
from registry import StreamId, wire
from tests.bot.conftest import settled
from tests.counts import IS_FULL, count, say
from tests.servers import PATIENT

pytestmark = [pytest.mark.figure, pytest.mark.timeout(1_800 if IS_FULL else 300)]

BURST = count(5, 3)
"""Posts that may come at once before the workspace says 429; Slack's own word for it is "short bursts"."""


@dataclass(frozen=True, slots=True)
class Flood:
    """Each watcher finds the trouble of a run of its own, rank by rank."""

    watchers: int = count(12, 200)
    ranks: int = count(5, 15)
    seconds: float = count(3, 60)
    every: int = 10
    """One watcher of so many finds a critical trouble, on all its ranks at once; they come evenly."""

    @property
    def findings(self):
        """When (seconds from the start), whose, which rank, how bad: in order."""
        chance, planned = random.Random(13), []
        for watcher in range(self.watchers):
            is_critical = watcher % self.every == 0
            at = self.seconds * watcher / self.watchers
            for rank in range(self.ranks):
                when = at if is_critical else chance.uniform(0.0, self.seconds)
                planned.append((when, watcher, rank, Severity.CRITICAL if is_critical else Severity.WARNING))
        return sorted(planned)


def run_of(watcher):
    return f"run{watcher:03}"


async def let_loose(flood, registry, finding):
    """Publish it all in its time; returns when each run was first found in trouble (Unix seconds)."""
    streams = [StreamId(f"node{watcher:03}", "e1") for watcher in range(flood.watchers)]
    for stream in streams:
        await registry.events.register(stream)
    began, first, told = time.monotonic(), {}, dict.fromkeys(streams, 0)
    for when, watcher, rank, severity in flood.findings:
        await asyncio.sleep(max(0.0, began + when - time.monotonic()))
        kind = "nonfinite_loss" if severity is Severity.CRITICAL else "loss_spike"
        found = finding(kind, run=run_of(watcher), rank=rank, severity=severity)
        stream = streams[watcher]
        told[stream] += 1
        await registry.events.publish(stream.watcher, stream.epoch, told[stream], wire.encode(found))
        first.setdefault(run_of(watcher), time.time())
    return first


def refused(workspace):
    return [call for call in workspace.calls_of("chat.postMessage") if call.status == 429]


@pytest.mark.parametrize("pace", [1.0, 0.0], ids=["paced", "control: no pace"])
async def test_a_burst_of_many_watchers_keeps_the_pace_of_the_channel(settings_of, registry, finding, pace):
    """One root for each run with all its ranks, none twice, no reply, and never more than Slack takes (A13)."""
    flood = Flood()
    async with Workspace.start(post_burst=BURST, **PATIENT) as workspace:
        patient = {"edit_interval_seconds": 3.0, "slack_deadline_seconds": 20.0, "judge_every_seconds": 2.0}
        async with bot_running(settings_of(workspace, channel_interval_seconds=pace, **patient)) as running:
            await workspace.connected()
            await workspace.until(lambda: running.identity.team and running.monitor.is_reigning)
            began, load = time.time(), os.getloadavg()[0]

            first = await let_loose(flood, registry, finding)
            if pace:
                await workspace.until(lambda: is_all_told(workspace, flood), 1_200)
            else:
                await workspace.until(lambda: refused(workspace), 120)

        roots = [(root["text"], float(root["ts"])) for root in workspace.messages()]
        assert (refused(workspace) == []) is bool(pace)
        if pace:
            stood = {name: at for name in first for text, at in roots if f"*{name}*" in text or f"*{name} " in text}
            assert len(roots) == len(stood) == flood.watchers
            assert [workspace.replies(root["ts"]) for root in workspace.messages()] == [[]] * flood.watchers
            describe(flood, first, stood, time.time() - began, load)


def is_all_told(workspace, flood):
    roots = workspace.messages()
    return len(roots) >= flood.watchers and all(f"{flood.ranks} ranks" in root["text"] for root in roots)


def describe(flood, first, stood, seconds, load):
    """The figure's times, said and not asserted."""
    waits = [stood[run_of(n)] - first[run_of(n)] for n in range(0, flood.watchers, flood.every)]
    last = max(stood.values()) - min(first.values())
    most = max(sum(at <= other < at + 10.0 for other in stood.values()) for at in stood.values())
    say(
        "A13",
        f"{flood.watchers * flood.ranks} findings of {flood.watchers} watchers in {flood.seconds:.0f} s: "
        f"{len(stood)} roots, none twice, no 429, at most {most} in ten seconds; {len(waits)} criticals p50 "
        f"{percentile(waits, 0.5):.1f} s, p99 {percentile(waits, 0.99):.1f} s; the last root after {last:.0f} s, "
        f"all ranks after {seconds:.0f} s; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after",
    )


WAITING = count(24, 200)
STORM_SECONDS = count(4, 300)
LONGEST_RETRY_AFTER = count(2, 20)


def storm():
    """Retry-After of one refusal after the other, together as long as the storm lasts."""
    chance, waits = random.Random(14), []
    while sum(waits) < STORM_SECONDS:
        waits.append(chance.randint(1, LONGEST_RETRY_AFTER))
    return waits


async def test_minutes_of_429_lose_nothing_and_keep_the_order(registry, monitoring, publish, finding, refusing):
    """Nobody comes before its time; then all that waited is told in the order in which it was found (A14)."""
    runs, waits, load = [f"run{number:03}" for number in range(WAITING)], storm(), os.getloadavg()[0]
    for wait in waits:
        refusing.faults.next("chat.postMessage", faults.rate_limited(wait))
    # The very first to be told is held up by something else, and keeps its place all the same.
    refusing.faults.next("conversations.list", faults.slow(0.5))
    for run in runs:
        await publish(finding(run=run))

    began = time.time()
    async with monitoring(lease_seconds=120.0):
        await settled(registry, WAITING, 1_200)

    roots = [next(run for run in runs if run in root["text"]) for root in refusing.messages()]
    calls, retry_after = refusing.calls_of("chat.postMessage"), iter(waits)
    # A call is noted when it was answered, so a later one never seems too early.
    gaps = [(after.at - before.at, next(retry_after)) for before, after in pairwise(calls) if before.status == 429]
    assert roots == runs
    assert len(refused(refusing)) == len(waits)
    assert [(gap, wait) for gap, wait in gaps if gap < wait - 0.05] == []
    say(
        "A14",
        f"{len(waits)} refusals of 1 to {LONGEST_RETRY_AFTER} s, {sum(waits)} s in all, {WAITING} alerts waiting: 0 "
        f"early, 0 lost, in order, no further 429, all told {time.time() - began:.0f} s after the first; "
        f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after",
    )


@pytest.fixture
async def refusing():
    """A workspace as strict as Slack, its pace too."""
    async with Workspace.start(post_burst=BURST, **PATIENT) as workspace:
        yield workspace


@pytest.fixture
async def slack(refusing):
    """The one door, at the pace that Slack takes."""
    door = Slack(refusing.bot_token, refusing.url, deadline_seconds=20.0, post_interval_seconds=1.0)
    yield door
    await door.aclose()


@pytest.fixture
def settings_of(settings):
    """Settings of a bot in a workspace of the test's own."""

    def make(workspace, **changes):
        return settings(slack_api_url=workspace.url, **changes)

    return make
