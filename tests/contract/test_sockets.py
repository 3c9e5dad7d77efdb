"""Socket Mode in its bad hours, through unmodified slack-bolt."""

import asyncio
import contextlib

import aiohttp
import pytest

from bot.workspace import Workspace
from tests.contract.conftest import app_of, by_socket, client_of


def counting_app(slack):
    """An app that counts what reached it."""
    app = app_of(slack)
    app.heard = []

    @app.command("/loss")
    async def loss(ack, body):
        app.heard.append(body["text"])
        await ack()

    @app.event("app_mention")
    async def mentioned(body):
        app.heard.append(body["event_id"])

    return app


async def test_no_connection_means_dispatch_failed(slack):
    """A command to an app that is away says so to the person."""
    outcome = await slack.slash("/loss", "run42")

    assert outcome.error == "dispatch_failed"
    assert "dispatch_failed" in slack.ephemerals()[0]["text"]


async def test_a_dropped_connection_is_replaced(slack):
    """After a cut without a goodbye the app reconnects and commands work again."""
    app = counting_app(slack)

    async with by_socket(slack, app):
        slack.sockets.drop()
        await slack.until(lambda: slack.sockets.opened == 2)
        await slack.slash("/loss", "run42")

    assert app.heard == ["run42"]


async def test_a_refresh_loses_no_command(slack):
    """`disconnect` asks for a new connection before the old one closes."""
    app = counting_app(slack)

    async with by_socket(slack, app):
        refreshing = asyncio.create_task(slack.sockets.refresh(grace=2.0))
        for n in range(10):
            outcome = await slack.slash("/loss", str(n))
            assert outcome.acked
            await asyncio.sleep(0.05)
        await refreshing
        await slack.until(lambda: slack.sockets.opened == 2)
        await slack.slash("/loss", "after")

    assert app.heard == [*map(str, range(10)), "after"]


@pytest.mark.parametrize("ack_seconds", [1.0])
async def test_a_zombie_is_noticed_by_its_missing_pongs(slack):
    """The socket stays open and says nothing; slack_sdk replaces it after a few ping intervals."""
    app = counting_app(slack)

    async with by_socket(slack, app, ping_interval=0.5):
        slack.sockets.zombify()
        outcome = await slack.slash("/loss", "lost")
        await slack.until(lambda: slack.sockets.opened >= 2)
        await slack.until(lambda: any(not c.is_zombie for c in slack.sockets.connections))
        again = await slack.slash("/loss", "heard")

    assert outcome.error == "operation_timeout"
    assert again.acked
    assert app.heard == ["heard"]


async def test_a_repeated_envelope_arrives_twice(slack):
    """Slack may send the very same envelope again; what the app makes of it is the app's affair."""
    app = counting_app(slack)
    slack.sockets.repeat_next = 1

    async with by_socket(slack, app):
        await slack.slash("/loss", "run42")
        await slack.until(lambda: slack.sockets.late_acks)

    assert app.heard == ["run42", "run42"]
    assert slack.sockets.late_acks == [slack.sockets.sent[-1]["envelope_id"]]


async def test_an_event_nobody_acknowledged_comes_again():
    """Retries carry the same event_id, a number and a reason; commands are never repeated."""
    async with Workspace.start(event_retry_delays_seconds=(0.0, *[0.05] * 1000)) as slack:
        app = counting_app(slack)
        await slack.mention("hello")
        await asyncio.sleep(0.02)
        async with by_socket(slack, app):
            await slack.until(lambda: app.heard)
    retries = [(e["retry_attempt"], e["retry_reason"]) for e in slack.sockets.sent if e["type"] == "events_api"]

    assert len(app.heard) == 1
    assert retries[-1][0] >= 1
    assert retries[-1][1] == "connection_failed"


async def test_two_connections_share_the_envelopes(slack):
    """Each envelope goes to one of them, and none twice."""
    first, second = counting_app(slack), counting_app(slack)

    async with by_socket(slack, first), by_socket(slack, second):
        for n in range(40):
            await slack.slash("/loss", str(n))

    assert sorted(first.heard + second.heard, key=int) == [str(n) for n in range(40)]
    assert first.heard
    assert second.heard


async def test_the_eleventh_connection_is_sent_away(slack):
    """`too_many_websockets`, as Slack says it."""
    client = client_of(slack)
    async with aiohttp.ClientSession() as session, contextlib.AsyncExitStack() as stack:
        frames = []
        for _ in range(11):
            url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
            socket = await stack.enter_async_context(session.ws_connect(url))
            frames.append(await socket.receive_json())

    assert [frame["type"] for frame in frames] == ["hello"] * 10 + ["disconnect"]
    assert frames[-1]["reason"] == "too_many_websockets"


async def test_a_connection_url_is_good_once(slack):
    """A ticket cannot be used by somebody who saw it."""
    url = (await client_of(slack).apps_connections_open(app_token=slack.app_token))["url"]

    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(url)

    assert refused.value.status == 401


async def test_pings_are_answered(slack):
    """slack_sdk's own ping gets its pong with the same bytes."""
    url = (await client_of(slack).apps_connections_open(app_token=slack.app_token))["url"]

    async with aiohttp.ClientSession() as session, session.ws_connect(url, autoping=False) as socket:
        await socket.receive()
        await socket.ping(b"sdk-ping-pong:1.0")
        answer = await socket.receive()

    assert (answer.type, bytes(answer.data)) == (aiohttp.WSMsgType.PONG, b"sdk-ping-pong:1.0")
