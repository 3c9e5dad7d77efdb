"""Signed HTTP, as slack_sdk's verifier and slack-bolt see it."""

from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier

from bot.workspace.delivery import signed
from tests.contract.conftest import app_of, by_http


def test_the_signature_is_the_one_slack_sdk_verifies():
    """Same secret, body and time: valid; another body: not."""
    headers = signed("secret", b"command=%2Floss&text=run42")
    verifier = SignatureVerifier("secret")

    assert verifier.is_valid_request("command=%2Floss&text=run42", headers)
    assert not verifier.is_valid_request("command=%2Floss&text=run43", headers)


async def test_a_request_signed_with_another_secret_is_refused_by_bolt(slack):
    """The person sees that it failed, and the listener never ran."""
    app = app_of(slack)
    heard = []

    @app.command("/loss")
    async def loss(ack):
        heard.append(1)
        await ack()

    async with by_http(slack, app):
        slack.site.delivery._settings = type(slack.settings)(signing_secret="another")
        outcome = await slack.slash("/loss")

    assert outcome.error == "http_service_error"
    assert heard == []


async def test_the_url_handshake_works(slack):
    """url_verification: bolt gives the challenge back."""
    async with by_http(slack, app_of(slack)):
        assert await slack.site.delivery.verify_url()


async def test_an_event_that_failed_comes_again_with_its_number(slack):
    """X-Slack-Retry-Num and -Reason, the same event_id."""
    app = app_of(slack)
    seen = []

    @app.middleware
    async def remember(req, next_):
        num = req.headers.get("x-slack-retry-num", [None])[0]
        seen.append((req.body["event_id"], num, req.headers.get("x-slack-retry-reason", [None])[0]))
        if num is None:
            return BoltResponse(status=500)
        return await next_()

    @app.event("app_mention")
    async def mentioned():
        pass

    async with by_http(slack, app):
        await slack.mention("hello")
        await slack.until(lambda: len(seen) == 2)

    assert [retry for _, retry, _ in seen] == [None, "1"]
    assert seen[0][0] == seen[1][0]
    assert seen[1][2] == "http_error"


async def test_nobody_listening_means_dispatch_failed(slack):
    """A refused connection is told to the person."""
    async with by_http(slack, app_of(slack)):
        pass

    outcome = await slack.slash("/loss")

    assert outcome.error == "dispatch_failed"
