"""Rate limits as slack_sdk meets them."""

import asyncio

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler

from bot.workspace import Workspace
from tests.contract.conftest import client_of


@pytest.fixture
async def strict():
    """A workspace with Slack's limits, and no time but what a test lets pass."""
    async with Workspace.start() as slack:
        slack.clock.stand()
        yield slack


async def post(client, channel, n=0):
    return await client.chat_postMessage(channel=channel, text=str(n))


async def test_a_burst_is_let_through_and_then_429(strict):
    """One per second and channel, with a small allowance; Retry-After says how long."""
    client = client_of(strict)
    for n in range(3):
        await post(client, strict.channel, n)

    with pytest.raises(SlackApiError) as refused:
        await post(client, strict.channel)

    assert refused.value.response.status_code == 429
    assert refused.value.response["error"] == "ratelimited"
    assert refused.value.response.headers["Retry-After"] == "1"
    assert len(strict.messages()) == 3


async def test_each_channel_has_its_own_allowance(strict):
    """A storm in one channel does not silence another."""
    client = client_of(strict)
    for n in range(3):
        await post(client, strict.channel, n)

    assert (await post(client, strict.channel_id("gpu-ops")))["ok"]


async def test_waiting_as_told_is_enough(strict):
    """After Retry-After the next post is accepted."""
    client = client_of(strict)
    for n in range(3):
        await post(client, strict.channel, n)

    strict.clock.skip(1)

    assert (await post(client, strict.channel))["ok"]


async def test_other_methods_have_their_tier(strict):
    """Fifty chat.update per minute, and no fifty-first."""
    client = client_of(strict)
    ts = (await post(client, strict.channel))["ts"]
    for n in range(50):
        await client.chat_update(channel=strict.channel, ts=ts, text=str(n))

    with pytest.raises(SlackApiError) as refused:
        await client.chat_update(channel=strict.channel, ts=ts, text="x")

    assert refused.value.response["error"] == "ratelimited"


async def test_slack_sdks_own_handler_gets_through(strict):
    """The handler that a fresh client lacks waits and posts."""
    client = client_of(strict)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))

    posting = asyncio.gather(*(post(client, strict.channel, n) for n in range(4)))
    await strict.until(lambda: len(strict.calls_of("chat.postMessage")) == 4)
    strict.clock.skip(1)
    await posting

    assert sorted(m["text"] for m in strict.messages()) == ["0", "1", "2", "3"]
    assert len(strict.calls_of("chat.postMessage")) == 5
