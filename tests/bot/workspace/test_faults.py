"""Faults on demand: what the caller sees and whether the call took effect."""

import contextlib

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.workspace import faults
from tests.contract.conftest import client_of


async def say(slack, text="x"):
    return await client_of(slack).chat_postMessage(channel=slack.channel, text=text)


@pytest.mark.parametrize(
    ("fault", "posted"),
    [
        (faults.http_error(500), 0),
        (faults.http_error(503, done=True), 1),
        (faults.html(502), 0),
        (faults.html(200, done=True), 1),
        (faults.http_error(200), 0),
        (faults.refused("fatal_error"), 0),
        (faults.refused("fatal_error", done=True), 1),
        (faults.rate_limited(30), 0),
        (faults.cut_before(), 0),
        (faults.cut_after(), 1),
    ],
)
async def test_a_fault_breaks_one_answer_and_says_truly_whether_it_took_effect(slack, fault, posted):
    """The caller gets an error; the message is there exactly when the fault comes after the effect; the next call is fine."""
    slack.faults.next("chat.postMessage", fault)

    with pytest.raises((SlackApiError, aiohttp.ClientError)):
        await say(slack)
    count = len(slack.messages())
    await say(slack)

    assert count == posted
    assert len(slack.messages()) == posted + 1
    assert slack.faults.met == [("chat.postMessage", fault)]


@pytest.mark.parametrize("retry_after", ["1", "3600", "0", None, "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_retry_after_may_be_anything(slack, retry_after):
    """A number, nothing, or a date: the bot must live with each."""
    slack.faults.next("chat.postMessage", faults.rate_limited(retry_after))

    with pytest.raises(SlackApiError) as refused:
        await say(slack)

    assert refused.value.response.status_code == 429
    assert refused.value.response.headers.get("Retry-After") == retry_after


@pytest.mark.parametrize("done", [False, True])
async def test_a_slow_answer_comes_late(slack, done):
    """The caller's own timeout strikes first; the effect is there before or after the wait."""
    slack.faults.next("chat.postMessage", faults.slow(0.6, done=done))
    client = client_of(slack)
    client.timeout = 0.2

    with pytest.raises((TimeoutError, aiohttp.ClientError)):
        await client.chat_postMessage(channel=slack.channel, text="x")

    assert len(slack.messages()) == int(done)


async def test_a_dripping_answer_arrives_byte_by_byte(slack):
    """Right in the end, for those who wait."""
    slack.faults.next("chat.postMessage", faults.drip(0.0002))

    said = await say(slack)

    assert said["ts"] == slack.messages()[0]["ts"]


async def test_faults_queue_up_and_end(slack):
    """`next` counts, `always` stays, `clear` ends; `*` means any method."""
    slack.faults.next("chat.postMessage", faults.http_error(500), times=2)
    slack.faults.always("auth.test", faults.refused("internal_error"))
    client = client_of(slack)
    outcomes = []
    for _ in range(3):
        try:
            await say(slack)
            outcomes.append("ok")
        except SlackApiError as error:
            outcomes.append(error.response.status_code)
    for _ in range(2):
        with pytest.raises(SlackApiError):
            await client.auth_test()
    slack.faults.clear()

    assert outcomes == [500, 500, "ok"]
    assert (await client.auth_test())["ok"]


async def test_a_share_of_calls_fails_the_same_way_each_time(slack):
    """A seed makes chaos repeatable."""

    async def trial():
        slack.faults.some(0.3, [faults.http_error(500), faults.cut_after()], ["chat.postMessage"], seed=7)
        before = len(slack.faults.met)
        for _ in range(40):
            with contextlib.suppress(SlackApiError, aiohttp.ClientError):
                await say(slack)
        slack.faults.clear()
        return [fault.kind for _, fault in slack.faults.met[before:]]

    first, second = await trial(), await trial()

    assert first == second
    assert {"status", "cut"} == set(first)
    assert 4 < len(first) < 25


async def test_history_may_lag(slack, client):
    """What was just said is not there yet; later it is."""
    slack.site.history_lag_seconds = 30
    await say(slack)

    at_once = await client.conversations_history(channel=slack.channel)
    slack.clock.skip(31)
    later = await client.conversations_history(channel=slack.channel)

    assert at_once["messages"] == []
    assert len(later["messages"]) == 1


async def test_an_upload_and_a_response_url_can_fail_too(slack, client):
    """The two doors that are not Web API methods."""
    slack.faults.next("upload", faults.http_error(408, done=True))
    slack.faults.next("response_url", faults.http_error(500))

    with pytest.raises(Exception, match="408"):
        await client.files_upload_v2(content=b"x", filename="a.txt", channel=slack.channel)
    outcome = await slack.slash("/loss")
    async with aiohttp.ClientSession() as session:
        url = slack.site.base_url + slack.site.response_urls.give(slack.channel, "U0ALICE")
        answers = [(await session.post(url, json={"text": "x"})).status for _ in range(2)]

    assert outcome.error == "dispatch_failed"
    assert answers == [500, 200]
