"""Bringing what people do to the app: by Socket Mode or signed HTTP, with Slack's deadlines and repeats."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.workspace.settings import WorkspaceSettings
from bot.workspace.sockets import Sockets
from bot.workspace.values import Json

SLASH, INTERACTIVE, EVENTS = "slash_commands", "interactive", "events_api"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the app made of it."""

    payload: Json
    """What came with the acknowledgement."""
    error: str | None
    """`operation_timeout`, `dispatch_failed`, `http_service_error` …; `None`: acknowledged."""
    seconds: float
    """How long the (last) acknowledgement took."""
    attempts: int = 1

    @property
    def acked(self) -> bool:
        """Whether the app acknowledged in time."""
        return self.error is None


class Delivery:
    """One door to the app."""

    def __init__(self, settings: WorkspaceSettings, sockets: Sockets) -> None:
        self._settings = settings
        self._sockets = sockets
        self._session: aiohttp.ClientSession | None = None
        self.app_url = settings.app_url
        """Where signed requests go; `None`: Socket Mode."""

    async def once(self, kind: str, payload: Json, *, attempt: int = 0, reason: str = "") -> Answer:
        """Deliver and wait for the acknowledgement, three seconds at most."""
        started = time.monotonic()
        answered: Json = {}
        error: str | None = None
        try:
            if self.app_url:
                answered = await self._by_http(self.app_url, kind, payload, attempt, reason)
            else:
                deadline = self._settings.ack_deadline_seconds
                answered = await self._sockets.deliver(kind, payload, deadline, attempt=attempt, reason=reason)
        except TimeoutError:
            error = "operation_timeout"
        except (ConnectionError, aiohttp.ClientConnectionError):
            error = "dispatch_failed"
        except _BadStatus as bad:
            error = str(bad)
        return Answer(answered, error, time.monotonic() - started, attempt + 1)

    async def event(self, payload: Json) -> Answer:
        """Deliver an event; one that was not acknowledged comes again, up to three times."""
        answer = await self.once(EVENTS, payload)
        for attempt, delay in enumerate(self._settings.event_retry_delays_seconds, start=1):
            if answer.acked or answer.error == "no_retry":
                break
            await asyncio.sleep(delay)
            reason = {"operation_timeout": "timeout", "dispatch_failed": "connection_failed"}
            again = reason.get(answer.error or "", "http_error")
            answer = await self.once(EVENTS, payload, attempt=attempt, reason=again)
        return answer

    async def verify_url(self) -> bool:
        """The handshake of a new request URL: the app must give the challenge back."""
        assert self.app_url
        challenge = {
            "token": "local",
            "challenge": hashlib.sha256(self.app_url.encode()).hexdigest(),
            "type": "url_verification",
        }
        answered = await self._by_http(self.app_url, EVENTS, challenge, 0, "")
        return challenge["challenge"] in {answered.get("challenge"), answered.get("text")}

    async def close(self) -> None:
        """Close the HTTP client."""
        if self._session is not None:
            await self._session.close()

    async def _by_http(self, url: str, kind: str, payload: Json, attempt: int, reason: str) -> Json:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(self._settings.ack_deadline_seconds))
        body, content_type = _encoded(kind, payload)
        headers = signed(self._settings.signing_secret, body)
        headers["Content-Type"] = content_type
        headers["User-Agent"] = "Slackbot 1.0 (+https://api.slack.com/robots)"
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": _HTTP_REASON.get(reason, reason)}
        async with self._session.post(url, data=body, headers=headers) as response:
            text = await response.text()
            if response.status != 200:
                no_retry = response.headers.get("X-Slack-No-Retry") == "1"
                raise _BadStatus("no_retry" if no_retry else "http_service_error")
            return _decoded(response.content_type, text)


_HTTP_REASON = {"timeout": "http_timeout"}


class _BadStatus(Exception):
    """The app answered, but not 200."""


def signed(secret: str, body: bytes, timestamp: float | None = None) -> dict[str, str]:
    """The two headers by which an app knows that Slack is asking."""
    at = str(int(time.time() if timestamp is None else timestamp))
    digest = hmac.new(secret.encode(), b"v0:" + at.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={digest}"}


def _encoded(kind: str, payload: Json) -> tuple[bytes, str]:
    if kind == EVENTS:
        return json.dumps(payload).encode(), "application/json"
    form: dict[str, Any] = payload if kind == SLASH else {"payload": json.dumps(payload)}
    return urlencode(form).encode(), "application/x-www-form-urlencoded"


def _decoded(content_type: str, text: str) -> Json:
    if not text.strip():
        return {}
    if content_type == "application/json":
        try:
            decoded = json.loads(text)
        except ValueError:
            return {}
        return decoded if isinstance(decoded, dict) else {}
    return {"text": text}
