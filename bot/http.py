"""Signed HTTP requests of Slack, and /healthz. Whatever comes in, the answer is never a 5xx of ours."""

import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from bot.repeats import Repeats

logger = logging.getLogger(__name__)

LARGEST_BODY = 1 << 20
PATH = "/slack/events"

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Tell = Callable[[], Awaitable[bytes]]
Health = Callable[[], tuple[bool, Mapping[str, object]]]


class Endpoint:
    """The bot's own address: requests of Slack and the question whether we are well."""

    def __init__(
        self, app: AsyncApp | None, secret: str, repeats: Repeats, health: Health, metrics: Tell | None = None
    ) -> None:
        self._app = app
        self._verifier = SignatureVerifier(secret) if secret else None
        self._repeats = repeats
        self._health = health
        self._metrics = metrics
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def open(self, host: str, port: int) -> None:
        """Listen; `port` 0 takes a free one."""
        site = web.Application(client_max_size=LARGEST_BODY)
        if self._app is not None and self._verifier is not None:
            site.router.add_post(PATH, self._take)
        site.router.add_get("/healthz", self._tell_health)
        if self._metrics is not None:
            site.router.add_get("/metrics", self._tell_metrics)
        self._runner = web.AppRunner(site, access_log=None)
        await self._runner.setup()
        tcp = web.TCPSite(self._runner, host, port)
        await tcp.start()
        assert tcp._server is not None  # noqa: SLF001 - aiohttp tells a chosen port nowhere else
        self.port = int(tcp._server.sockets[0].getsockname()[1])  # type: ignore[attr-defined]  # noqa: SLF001
        logger.info("Listening on http://%s:%s%s", host, self.port, PATH if self._verifier else "/healthz")

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return web.Response(status=413)
        headers = dict(request.headers)
        if not self._is_signed(body, headers):
            return web.Response(status=401, text="not signed by Slack, or too old")
        signature = headers.get("X-Slack-Signature", "")
        # A signature is good for five minutes and one request.
        if not await self._repeats.is_first(f"signature/{signature}"):
            return web.Response(status=401, text="seen before")
        assert self._app is not None
        try:
            asked = AsyncBoltRequest(
                body=body.decode(), query=request.query_string, headers={k: [v] for k, v in headers.items()}
            )
            answer = await self._app.async_dispatch(asked)
        except Exception as failure:
            # A signed request that Bolt cannot read: nothing a repeat would mend.
            logger.warning("A signed request could not be read: %s: %s", type(failure).__name__, failure)
            return web.Response(status=400, text="cannot be read")
        status = answer.status if answer.status < 500 else 400
        kind = answer.first_headers().get("content-type", "text/plain").split(";")[0]
        return web.Response(status=status, text=answer.body or "", content_type=kind)

    def _is_signed(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """The SDK's check raises on a timestamp that is no number, on other letters, on bytes that are no text."""
        try:
            return self._verifier is not None and self._verifier.is_valid_request(body, headers)
        except (ValueError, TypeError, OverflowError):
            return False

    async def _tell_metrics(self, request: web.Request) -> web.Response:
        del request
        assert self._metrics is not None
        return web.Response(body=await self._metrics(), headers={"Content-Type": METRICS_TYPE})

    async def _tell_health(self, request: web.Request) -> web.Response:
        del request
        is_well, facts = self._health()
        return web.json_response(dict(facts), status=200 if is_well else 503)
