"""A workspace, and unmodified Slack libraries that talk to it."""

import asyncio
import contextlib
import logging

import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.workspace import Workspace
from tests.watcher.conftest import no_courtesy  # noqa: F401 - for every test here


@pytest.fixture
def ack_seconds():
    """How long the workspace waits for an acknowledgement: long, but where a test is about one that does not come."""
    return 30.0


@pytest.fixture
def share_seconds():
    """How long an uploaded file is without its type and its channel."""
    return 0.05


@pytest.fixture
async def slack(ack_seconds, share_seconds):
    """A workspace whose rate limits are off and whose repeats come at once."""
    settings = {
        "rate_limit": False,
        "share_delay_seconds": share_seconds,
        "event_retry_delays_seconds": (0.0, 0.05, 0.05),
    }
    async with Workspace.start(ack_deadline_seconds=ack_seconds, **settings) as workspace:
        yield workspace


@pytest.fixture
def client(slack):
    """slack_sdk's own client, without any retry handler."""
    return client_of(slack)


def client_of(slack, token=None):
    """A client of this workspace."""
    return AsyncWebClient(token=token or slack.bot_token, base_url=slack.url, retry_handlers=[])


def app_of(slack):
    """slack-bolt's own app."""
    app = AsyncApp(client=client_of(slack), signing_secret=slack.signing_secret)
    logging.getLogger("slack_bolt.AsyncApp").setLevel(logging.ERROR)
    return app


@contextlib.asynccontextmanager
async def by_socket(slack, app, *, ping_interval=1):
    """The app connected by Socket Mode."""
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=ping_interval)
    before = slack.sockets.opened
    await handler.connect_async()
    await slack.until(lambda: slack.sockets.opened > before)
    try:
        yield handler
    finally:
        await handler.close_async()


@contextlib.asynccontextmanager
async def by_http(slack, app):
    """The app behind a URL that the workspace signs requests to."""
    runner = web.AppRunner(app.web_app(path="/slack/events", port=0), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.site.delivery.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield slack.site.delivery.app_url
    finally:
        await runner.cleanup()


@pytest.fixture(params=["socket", "http"])
def connected(request, slack):
    """Both ways an app may be connected: `async with connected(app): …`."""
    way = {"socket": by_socket, "http": by_http}[request.param]
    return lambda app: way(slack, app)


async def settle():
    """Let what was just sent arrive."""
    await asyncio.sleep(0.05)
