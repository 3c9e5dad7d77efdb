"""/debug: what tests do in Python, over HTTP, for scenarios whose workspace is another process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web

from bot.workspace import acting, faults
from bot.workspace.people import BOT_USER
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused


def add_to(app: web.Application, site: Site) -> None:
    """The /debug paths: GET looks, POST (JSON) changes."""

    async def answer(request: web.Request) -> web.Response:
        what = request.match_info["what"]
        try:
            if request.method == "GET":
                return web.json_response(_LOOKS[what](site, request))
            asked = await request.json() if request.can_read_body else {}
            return web.json_response({"ok": True, **(await _CHANGES[what](site, asked))})
        except Refused as no:
            return web.json_response(no.body(), status=400)
        except (KeyError, ValueError, TypeError) as wrong:
            known = sorted(_LOOKS if request.method == "GET" else _CHANGES)
            return web.json_response({"ok": False, "error": repr(wrong), "known": known}, status=400)

    app.add_routes([web.get("/debug/{what}", answer), web.post("/debug/{what}", answer)])


def _look_at_state(site: Site, _request: web.Request) -> Any:
    return {
        "connections": len(site.sockets.connections),
        "opened": site.sockets.opened,
        "messages": {channel: len(site.messages.everything(channel)) for channel in site.directory.channels},
        "calls": len(site.calls),
        "faults": site.faults.described(),
        "scopes": sorted(site.tokens.scopes),
    }


def _look_at_messages(site: Site, request: web.Request) -> Any:
    channel = site.directory.channel(request.query.get("channel", "training"))
    return site.messages.everything(channel.id)


def _look_at_ephemerals(site: Site, _request: web.Request) -> Any:
    return site.messages.ephemerals


def _look_at_calls(site: Site, request: web.Request) -> Any:
    method = request.query.get("method")
    return [asdict(call) for call in site.calls if method in {None, call.method}]


def _look_at_files(site: Site, _request: web.Request) -> Any:
    return list(site.shelf.known.values())


async def _set_fault(site: Site, asked: Json) -> Json:
    """`{"method", "fault", "with": {…}, "times": 1 | "always"}`, or `{"clear": true}`, or `{"share", "faults"}`.

    Each of `faults` is a name, or `{"fault", "with": {…}}`.
    """
    if asked.get("clear"):
        site.faults.clear(asked.get("method"))
        return {}
    if "share" in asked:
        named: list[Json] = [{"fault": one} if isinstance(one, str) else one for one in asked["faults"]]
        chosen = [faults.KINDS[one["fault"]](**one.get("with", {})) for one in named]
        site.faults.some(asked["share"], chosen, asked.get("methods", ["*"]), asked.get("seed", 0))
        return {}
    fault = faults.KINDS[asked["fault"]](**asked.get("with", {}))
    if asked.get("times") == "always":
        site.faults.always(asked["method"], fault)
    else:
        site.faults.next(asked["method"], fault, asked.get("times", 1))
    return {}


async def _set_sockets(site: Site, asked: Json) -> Json:
    """`{"act": "drop" | "refresh" | "zombify"}` or `{"repeat_next": N}`."""
    site.sockets.repeat_next = asked.get("repeat_next", site.sockets.repeat_next)
    match asked.get("act"):
        case "drop":
            site.sockets.drop()
        case "refresh":
            site.background(site.sockets.refresh())
        case "zombify":
            site.sockets.zombify()
    return {}


async def _set_channel(site: Site, asked: Json) -> Json:
    """`{"channel", "is_archived"?, "bot_is_member"?, "create"?: true, "private"?: true}`."""
    if asked.get("create"):
        people = {"U0ALICE", "U0BOB", BOT_USER}
        site.directory.add_channel(asked["channel"], private=bool(asked.get("private")), members=people)
    channel = site.directory.channel(asked["channel"])
    channel.is_archived = asked.get("is_archived", channel.is_archived)
    if "bot_is_member" in asked:
        (channel.members.add if asked["bot_is_member"] else channel.members.discard)(BOT_USER)
    site.feed.tell("channels")
    return {"channel": channel.id}


async def _set_tokens(site: Site, asked: Json) -> Json:
    """`{"trouble": "token_revoked" | null, "scopes": […]}`."""
    if "trouble" in asked:
        site.tokens.trouble = asked["trouble"]
    if "scopes" in asked:
        site.tokens.scopes = set(asked["scopes"])
    return {}


async def _set_history(site: Site, asked: Json) -> Json:
    """`{"lag_seconds": 30}`."""
    site.history_lag_seconds = float(asked["lag_seconds"])
    return {}


async def _set_clock(site: Site, asked: Json) -> Json:
    """`{"skip_seconds": 1801}`."""
    site.clock.skip(float(asked["skip_seconds"]))
    return {}


async def _set_manifest(site: Site, asked: Json) -> Json:
    """The manifest itself."""
    site.install(asked)
    return {}


async def _set_app_url(site: Site, asked: Json) -> Json:
    """`{"url": "http://127.0.0.1:3000/slack/events" | null}`: signed HTTP from now on, or Socket Mode."""
    site.delivery.app_url = asked["url"]
    return {}


_LOOKS: dict[str, Callable[[Site, web.Request], Any]] = {
    "state": _look_at_state,
    "messages": _look_at_messages,
    "ephemerals": _look_at_ephemerals,
    "calls": _look_at_calls,
    "files": _look_at_files,
}
_CHANGES: dict[str, Callable[[Site, Json], Awaitable[Json]]] = {
    "act": acting.do,
    "faults": _set_fault,
    "sockets": _set_sockets,
    "channel": _set_channel,
    "tokens": _set_tokens,
    "history": _set_history,
    "clock": _set_clock,
    "manifest": _set_manifest,
    "app_url": _set_app_url,
}
