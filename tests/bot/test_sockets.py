"""Connections that break, fall silent, are refreshed or cannot be looked up: the bot answers again, and no event is lost."""

import asyncio
import os
import socket
import time
from collections import defaultdict
from contextlib import contextmanager

import pytest

from benchmarks.whole import percentile
from bot.app import bot_running
from bot.workspace import Workspace
from tests.counts import IS_FULL, count, say
from tests.ports import free_port

DROPS = count(4, 100)
PING_SECONDS = count(1.0, 5.0)
DARK_SECONDS = count(1.0, 8.0)
REFRESH_GRACE_SECONDS = count(1.0, 5.0)
RETRIES = (0.0, *[1.0] * 600)
"""An event that nobody acknowledged comes again each second."""


@contextmanager
def no_names():
    """No name can be looked up."""
    real = socket.getaddrinfo

    def refuse(host, *_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, f"cannot look up {host} just now")

    socket.getaddrinfo = refuse
    try:
        yield
    finally:
        socket.getaddrinfo = real


async def reset(workspace):
    workspace.sockets.drop()


async def silence(workspace):
    workspace.sockets.zombify()


async def refresh(workspace):
    await workspace.sockets.refresh(grace=REFRESH_GRACE_SECONDS)


async def lose_names(workspace):
    """From here on it counts: names can be looked up again."""
    with no_names():
        workspace.sockets.drop()
        await asyncio.sleep(DARK_SECONDS)


KINDS = {"reset": reset, "silent": silence, "refresh": refresh, "names": lose_names}


@pytest.mark.figure
@pytest.mark.timeout(5_400 if IS_FULL else 300)
async def test_dropped_again_and_again_it_answers_and_loses_no_event(settings, registry, monkeypatch):
    """Somebody asks at each drop and is answered once, as long as Slack sends it again (A25)."""
    monkeypatch.setattr("bot.sockets.PING_SECONDS", PING_SECONDS)
    port, load = free_port(), os.getloadavg()[0]
    where = {"port": port, "public_url": f"http://localhost:{port}"}
    async with Workspace.start(event_retry_delays_seconds=RETRIES, **where) as workspace:
        async with bot_running(settings(slack_api_url=workspace.url, channel_interval_seconds=1.0)) as running:
            await workspace.connected()
            await workspace.until(lambda: running.identity.team)
            waits, asked = defaultdict(list), []
            for number in range(DROPS):
                kind = list(KINDS)[number % len(KINDS)]
                asking = asyncio.create_task(ask_meanwhile(workspace, asked))
                began = time.monotonic()
                await KINDS[kind](workspace)
                if kind == "names":
                    began = time.monotonic()
                await answering(workspace)
                waits[kind].append(time.monotonic() - began)
                await asking
            await workspace.until(lambda: all(workspace.replies(ts) for ts in asked), 120)

        answers = [len(workspace.replies(ts)) for ts in asked]

    assert answers == [1] * len(asked)
    said = ", ".join(
        f"{kind} p50 {percentile(took, 0.5):.1f} s, p99 {percentile(took, 0.99):.1f} s, longest {max(took):.1f} s"
        for kind, took in waits.items()
    )
    say(
        "A25",
        f"{DROPS} drops, {len(asked)} mentions meanwhile, each answered once; answering again: {said}; load average "
        f"{load:.1f} before, {os.getloadavg()[0]:.1f} after",
    )


async def ask_meanwhile(workspace, asked):
    """One asks as it drops, one soon after."""
    for _ in range(2):
        asked.append(await workspace.mention("runs"))
        await asyncio.sleep(PING_SECONDS / 2)


async def answering(workspace):
    """Until a command is acknowledged again."""
    while True:
        await workspace.until(
            lambda: any(not (c.is_zombie or c.is_leaving) for c in workspace.sockets.connections), 300
        )
        if (await workspace.slash("/runwatch", "help")).acked:
            return


@pytest.mark.parametrize(
    ("ping", "watch", "retries", "hears"),
    [
        (3_600.0, 3.0, RETRIES, True),
        (1.0, 3_600.0, RETRIES, True),
        (3_600.0, 3_600.0, RETRIES[:8], False),
    ],
    ids=["our watch alone", "pings of the library alone", "control: neither"],
)
async def test_a_silent_connection_makes_nobody_deaf(settings, registry, monkeypatch, ping, watch, retries, hears):  # noqa: PLR0917
    """Open and dead: what is asked then is answered, unless nobody listens for the silence."""
    monkeypatch.setattr("bot.sockets.PING_SECONDS", ping)
    async with Workspace.start(event_retry_delays_seconds=retries, ack_deadline_seconds=1.0) as workspace:
        made = settings(slack_api_url=workspace.url, socket_silence_seconds=watch)
        async with bot_running(made) as running:
            await workspace.connected()
            await workspace.until(lambda: running.identity.team)

            workspace.sockets.zombify()
            ts = await workspace.mention("runs")

            if hears:
                await workspace.until(lambda: workspace.replies(ts))
            else:
                await workspace.until(
                    lambda: [one["retry_attempt"] for one in workspace.sockets.sent[-1:]] == [len(retries)]
                )
            assert bool(workspace.replies(ts)) is hears


async def test_of_a_dead_connection_nothing_is_left(settings, registry, monkeypatch):
    """It says no goodbye; its sockets and tasks are ended all the same, or months of silences would pile up."""
    monkeypatch.setattr("bot.sockets.PING_SECONDS", 3_600.0)
    async with (
        Workspace.start() as workspace,
        bot_running(settings(slack_api_url=workspace.url, socket_silence_seconds=3.0)) as running,
    ):
        await workspace.connected()
        dead = running.sockets.connection.client
        opened = workspace.sockets.opened

        workspace.sockets.zombify()
        await workspace.until(lambda: workspace.sockets.opened > opened)

        assert dead.aiohttp_client_session.closed
        tasks = (dead.message_processor, dead.message_receiver, dead.current_session_monitor)
        assert [task.done() for task in tasks] == [True] * 3
