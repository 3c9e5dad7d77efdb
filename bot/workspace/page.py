"""The page's side of the server: its files, what it shows, its live stream and what people do in it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.workspace import acting, files
from bot.workspace.people import APP_ID, BOT_ID, BOT_USER, TEAM_NAME
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

FOLDER = Path(__file__).parent / "page"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_SHOWN_PER_CHANNEL = 400
_HEARTBEAT_SECONDS = 15.0
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def guard(site: Site) -> Middleware:
    """Only this machine's own pages may act: no rebound host name, no foreign origin.

    The workspace has no sign-in, so a page from elsewhere in the same browser must not reach it.
    """

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = urlsplit(f"//{request.host}").hostname
        origin = request.headers.get("Origin")
        if site.settings.host in _LOOPBACK and host not in _LOOPBACK:
            return web.Response(status=403, text="this workspace answers on loopback only")
        if origin is not None and urlsplit(origin).netloc != request.host:
            return web.Response(status=403, text="another site's page may not act here")
        return await handler(request)

    return check


def add_to(app: web.Application, site: Site) -> None:
    """The page's paths."""

    async def state(_request: web.Request) -> web.Response:
        return web.json_response(_everything(site), headers=_HEADERS)

    async def stream(request: web.Request) -> web.StreamResponse:
        return await _stream(site, request)

    async def act(request: web.Request) -> web.Response:
        try:
            return web.json_response({"ok": True, **await acting.do(site, await request.json())})
        except Refused as no:
            return web.json_response(no.body())
        except (KeyError, ValueError, TypeError) as wrong:
            return web.json_response({"ok": False, "error": "invalid_act", "why": repr(wrong)}, status=400)

    async def upload(request: web.Request) -> web.Response:
        member = site.directory.member(request.query["user"])
        file = files.received(site, member, request.query["name"], await request.read())
        return web.json_response({"ok": True, "file": file})

    async def file(request: web.Request) -> web.Response:
        return _file(site, request.match_info["file"])

    app.add_routes(
        [
            web.get("/", _index),
            web.get("/page/{name}", _static),
            web.get("/archives/{channel}/{message}", _permalink),
            web.get("/ui/state", state),
            web.get("/ui/stream", stream),
            web.post("/ui/act", act),
            web.post("/ui/upload", upload),
            web.get("/ui/files/{file}", file),
        ]
    )


def _everything(site: Site) -> Json:
    """All the page needs to draw itself."""
    features = site.manifest.get("features", {})
    return {
        "team": TEAM_NAME,
        "bot": {"user": BOT_USER, "id": BOT_ID, "app": APP_ID},
        "now": site.clock.now(),
        "connections": len(site.sockets.connections),
        "mode": "http" if site.delivery.app_url else "socket",
        "members": [
            {"id": m.id, "name": m.name, "real_name": m.real_name, "is_guest": m.is_restricted, "is_bot": m.is_bot}
            for m in site.directory.members.values()
        ],
        "channels": [
            {**channel.as_slack(), "members": sorted(channel.members)} for channel in site.directory.channels.values()
        ],
        "messages": {
            channel: site.messages.everything(channel)[-_SHOWN_PER_CHANNEL:] for channel in site.directory.channels
        },
        "ephemerals": site.messages.ephemerals[-_SHOWN_PER_CHANNEL:],
        "homes": site.windows.homes,
        "modals": site.windows.stacks,
        "commands": features.get("slash_commands", []),
        "shortcuts": features.get("shortcuts", []),
    }


async def _stream(site: Site, request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={**_HEADERS, "Content-Type": "text/event-stream"})
    await response.prepare(request)
    queue = site.feed.listen()
    try:
        await response.write(b": hello\n\n")
        while True:
            try:
                change = await asyncio.wait_for(queue.get(), _HEARTBEAT_SECONDS)
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            if change is None:
                break
            await response.write(b"data: " + json.dumps(change).encode() + b"\n\n")
    except ConnectionError:
        pass  # the page was closed
    finally:
        site.feed.forget(queue)
    with contextlib.suppress(ConnectionError):
        await response.write_eof()
    return response


def _file(site: Site, file_id: str) -> web.Response:
    try:
        data = site.shelf.read(file_id)
    except Refused:
        return web.Response(status=404, text="no such file")
    known = site.shelf.known[file_id]
    mimetype = known.get("mimetype") or "application/octet-stream"
    headers = dict(_HEADERS)
    if not mimetype.startswith("image/"):
        # What people upload is never run as a page of ours.
        mimetype = "text/plain" if mimetype.startswith("text/") else "application/octet-stream"
        safe_name = known["name"].encode("ascii", "replace").decode().replace('"', "")
        headers["Content-Disposition"] = f'attachment; filename="{safe_name}"'
    return web.Response(body=data, content_type=mimetype, headers=headers)


async def _index(_request: web.Request) -> web.Response:
    return _page("index.html")


async def _static(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in {path.name for path in FOLDER.iterdir()}:
        return web.Response(status=404, text="no such part of the page")
    return _page(name)


async def _permalink(request: web.Request) -> web.Response:
    """A message's link opens the page there."""
    thread = request.query.get("thread_ts", "")
    place = f"/#{request.match_info['channel']}/{request.match_info['message']}/{thread}".rstrip("/")
    return web.Response(status=302, headers={"Location": place})


def _page(name: str) -> web.Response:
    path = FOLDER / name
    return web.Response(body=path.read_bytes(), content_type=_TYPES[path.suffix], charset="utf-8", headers=_HEADERS)
