"""One call of a Web API method: its arguments, however they were sent."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bot.workspace.values import Json, Refused

if TYPE_CHECKING:
    from bot.workspace.site import Site


@dataclass(slots=True)
class Call:
    """A method's arguments, from a form, JSON or the query."""

    method: str
    args: Json

    def text(self, name: str) -> str | None:
        """The argument as text; `None` when it is absent or empty."""
        value = self.args.get(name)
        return None if value is None or value == "" else str(value)

    def need(self, name: str) -> str:
        """The argument as text, or a refusal."""
        value = self.text(name)
        if value is None:
            raise invalid(f"missing required field: {name}")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """The argument as a boolean, in any of the ways clients write one."""
        value = self.args.get(name)
        return default if value in (None, "") else str(value).lower() in {"1", "true", "yes"}

    def number(self, name: str, default: int) -> int:
        """The argument as a whole number."""
        try:
            return int(self.args.get(name) or default)
        except (TypeError, ValueError):
            raise invalid(f"must be a number: {name}") from None

    def structure(self, name: str, error: str) -> Any:
        """The argument as JSON, which forms carry as text; `None` when absent."""
        value = self.args.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise Refused(error) from None


def invalid(*messages: str) -> Refused:
    """`invalid_arguments`, with what is wrong."""
    return Refused("invalid_arguments", response_metadata={"messages": [f"[ERROR] {message}" for message in messages]})


Answer = Callable[["Site", Call], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Method:
    """One Web API method."""

    name: str
    answer: Answer
    scope: str | None = None
    """The scope it always needs; some need more by what they are about."""
    tier: int | None = None
    """Slack's rate tier; `None`: not limited here (chat.postMessage has its own rule)."""
    level: str = "bot"
    """`bot`, `app` or `any`: which token."""


async def arguments(request: web.Request) -> Json:
    """What the caller sent: query, then form or JSON over it."""
    sent: Json = dict(request.query)
    if request.content_type == "application/json":
        body = await request.text()
        if body:
            try:
                given = json.loads(body)
            except ValueError:
                raise Refused("invalid_json") from None
            if not isinstance(given, dict):
                raise Refused("json_not_object")
            sent.update(given)
    elif request.content_type in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        sent.update(await request.post())
    return sent


def bearer(request: web.Request, args: Json) -> str | None:
    """The token: from the header, or from a form (JSON bodies may not carry one)."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    if request.content_type != "application/json" and isinstance(args.get("token"), str):
        return str(args["token"])
    return None
