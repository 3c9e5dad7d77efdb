"""The Web API's door: who asks, what goes wrong on demand, which method answers."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.workspace import chat, conversations, files, session, users, views
from bot.workspace.call import Call, Method, arguments, bearer
from bot.workspace.faults import Fault
from bot.workspace.site import ApiCall, Site
from bot.workspace.values import Json, Refused

FAMILIES = (session, chat, conversations, files, users, views)
METHODS: dict[str, Method] = {method.name: method for family in FAMILIES for method in family.METHODS}


async def answer_call(site: Site, request: web.Request) -> web.StreamResponse:
    """One call of `/api/METHOD`."""
    name = request.match_info["method"]
    try:
        args = await arguments(request)
    except Refused as no:
        return _reply(no.body())

    async def act() -> web.Response:
        return await _answer(site, name, args, bearer(request, args))

    response, note = await with_faults(site, name, request, act)
    known = {key: value for key, value in args.items() if key != "token"}
    site.calls.append(ApiCall(site.clock.now(), name, known, note, response.status))
    site.feed.wake()
    return response


async def with_faults(
    site: Site, name: str, request: web.Request, act: Callable[[], Awaitable[web.Response]]
) -> tuple[web.StreamResponse, str | None]:
    """Do it, unless a fault says otherwise; the response and what to note about it."""
    fault = site.faults.take(name)
    if fault is None:
        response = await act()
        return response, _error_in(response)
    if not fault.done:
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
            response = await act()
            return response, _error_in(response)
        return _broken(fault, request)
    response = await act()
    if fault.kind == "slow":
        await asyncio.sleep(fault.seconds)
        return response, _error_in(response)
    if fault.kind == "drip":
        return await _drip(request, response, fault.seconds), "drip"
    return _broken(fault, request)


async def _answer(site: Site, name: str, args: Json, token: str | None) -> web.Response:
    headers = {"X-OAuth-Scopes": ",".join(sorted(site.tokens.scopes)), "X-Slack-Req-Id": secrets.token_hex(8)}
    method = METHODS.get(name)
    if method is not None and method.scope:
        headers["X-Accepted-OAuth-Scopes"] = method.scope
    try:
        return _reply({"ok": True, **await _allowed_answer(site, method, name, args, token)}, 200, headers)
    except Refused as no:
        if no.error == "ratelimited":
            headers["Retry-After"] = str(no.more["retry_after"])
            return _reply({"ok": False, "error": "ratelimited"}, 429, headers)
        return _reply(no.body(), 200, headers)


async def _allowed_answer(site: Site, method: Method | None, name: str, args: Json, token: str | None) -> Json:
    if method is None:
        raise Refused("unknown_method", req_method=name)
    if method.level != "none":
        site.tokens.check(token, level=method.level, needed=method.scope)
    if method.tier and site.settings.rate_limit:
        wait = site.rates.wait_to_call(name, method.tier)
        if wait is not None:
            raise Refused("ratelimited", retry_after=wait)
    return await method.answer(site, Call(name, args))


def _broken(fault: Fault, request: web.Request) -> tuple[web.Response, str]:
    if fault.kind == "cut":
        if request.transport is not None:
            request.transport.abort()
        return web.Response(), "cut after" if fault.done else "cut before"
    if fault.kind == "refused":
        return _reply({"ok": False, "error": fault.error}), fault.error
    if fault.kind == "rate_limited":
        headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
        return _reply({"ok": False, "error": "ratelimited"}, 429, headers), "ratelimited"
    response = web.Response(status=fault.status, text=fault.body, content_type=fault.content_type)
    return response, f"http {fault.status}"


async def _drip(request: web.Request, whole: web.Response, seconds: float) -> web.StreamResponse:
    body = whole.body if isinstance(whole.body, bytes) else b""
    response = web.StreamResponse(status=whole.status, headers={"Content-Type": "application/json; charset=utf-8"})
    response.content_length = len(body)
    try:
        await response.prepare(request)
        for index in range(len(body)):
            await response.write(body[index : index + 1])
            await asyncio.sleep(seconds)
    except (ConnectionError, asyncio.CancelledError):
        pass  # the client had enough
    return response


def _reply(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


def _error_in(response: web.StreamResponse) -> str | None:
    if not isinstance(response, web.Response) or response.content_type != "application/json":
        return None if response.status == 200 else f"http {response.status}"
    error: str | None = json.loads(response.text or "{}").get("error")
    return error
