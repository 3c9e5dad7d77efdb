"""Signed HTTP: what is not Slack's is refused, and nothing that comes in makes us fail."""

import random
import time

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.signature import SignatureVerifier

from bot.http import LARGEST_BODY, Endpoint
from bot.repeats import Repeats
from tests.counts import count, say

SECRET = "hush"
MUTATIONS = count(2_000, 100_000)


@pytest.fixture
async def endpoint(registry):
    async def authorize():
        return AuthorizeResult(enterprise_id=None, team_id="T1", bot_token="xoxb-1")

    app = AsyncApp(authorize=authorize, request_verification_enabled=False)

    @app.command("/loss")
    async def loss(ack):
        await ack()

    opened = Endpoint(app, SECRET, Repeats(registry), lambda: (True, {"connected": True}))
    await opened.open("127.0.0.1", 0)
    yield opened
    await opened.close()


def signed(body, *, secret=SECRET, at=None):
    stamp = str(int(time.time() if at is None else at))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    kind = "application/x-www-form-urlencoded"
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature, "Content-Type": kind}


async def send(endpoint, body, headers):
    url = f"http://127.0.0.1:{endpoint.port}/slack/events"
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as answer:
        return answer.status


COMMAND = "command=%2Floss&text=run42&team_id=T1&user_id=U1&channel_id=C1&response_url=http%3A%2F%2Fx"


async def test_a_signed_request_is_answered_once(endpoint):
    """The same request again is a replay."""
    headers = signed(COMMAND)

    assert await send(endpoint, COMMAND, headers) == 200
    assert await send(endpoint, COMMAND, headers) == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        signed(COMMAND, secret="other"),
        signed(COMMAND, at=time.time() - 3600),
        {**signed(COMMAND), "X-Slack-Request-Timestamp": "yesterday"},
        {**signed(COMMAND), "X-Slack-Request-Timestamp": "9" * 400},
        {**signed(COMMAND), "X-Slack-Signature": "v0=é"},
        {**signed(COMMAND), "X-Slack-Signature": ""},
    ],
    ids=["none", "other secret", "old", "no number", "huge", "not ascii", "empty"],
)
async def test_what_is_not_signed_by_slack_is_refused(endpoint, headers):
    """401, never a failure of ours."""
    assert await send(endpoint, COMMAND, headers) == 401


async def test_bytes_that_are_no_text_are_refused(endpoint):
    """The SDK's own check raises on them."""
    headers = {"X-Slack-Request-Timestamp": str(int(time.time())), "X-Slack-Signature": "v0=00"}

    assert await send(endpoint, b"\xff\xfe\x00", headers) == 401


async def test_a_body_that_is_too_large_is_refused(endpoint):
    """Before anything else is done with it."""
    assert await send(endpoint, b"x" * (LARGEST_BODY + 1), {}) == 413


@pytest.mark.figure
@pytest.mark.timeout(120 + MUTATIONS // 50)
async def test_any_mutation_of_a_request_is_refused(endpoint):
    """Changed bytes and headers by thousands: nothing accepted, nothing fails (RELIABILITY A26)."""
    dice = random.Random(7)
    headers = signed(COMMAND)
    seen = set()
    url = f"http://127.0.0.1:{endpoint.port}/slack/events"
    async with aiohttp.ClientSession() as session:
        for _ in range(MUTATIONS):
            body, changed = bytearray(COMMAND.encode()), dict(headers)
            if dice.random() < 0.6:
                body[dice.randrange(len(body))] = dice.randrange(256)
            else:
                name = dice.choice(["X-Slack-Request-Timestamp", "X-Slack-Signature"])
                text = list(changed[name])
                text[dice.randrange(len(text))] = chr(dice.choice([0x41, 0x39, 0xE9, 0x2D]))
                changed[name] = "".join(text)
            if bytes(body) == COMMAND.encode() and changed == headers:
                continue
            async with session.post(url, data=bytes(body), headers=changed) as answer:
                seen.add(answer.status)

    say("A26", f"{MUTATIONS} mutated requests: answered {seen}")
    assert seen == {401}


async def test_without_the_check_a_mutation_is_taken(endpoint, monkeypatch):
    """Negative control: whoever believes every signature takes a forged command."""
    monkeypatch.setattr(Endpoint, "_is_signed", lambda *_: True)

    assert await send(endpoint, COMMAND, signed(COMMAND, secret="other")) == 200


async def test_a_signed_request_that_nobody_can_read_is_no_failure(endpoint):
    """Signed nonsense is answered, not crashed on."""
    for body in ("payload=%7Bnot+json", "payload=[]", "", "{", "payload=null"):
        assert await send(endpoint, body, signed(body)) < 500


async def test_health_tells_whether_we_are_well(endpoint):
    """A page for those who watch the watcher."""
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{endpoint.port}/healthz") as answer:
        assert answer.status == 200
        assert await answer.json() == {"connected": True}
