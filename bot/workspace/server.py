"""The HTTP server: every path of the workspace, and its life."""

from __future__ import annotations

from aiohttp import web

from bot.workspace import answers, api, debug, files, page
from bot.workspace.people import Member
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

MOST_BYTES = 256 * 1024 * 1024


class Server:
    """Listens, and hands each path to the part that answers it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Listen; the site learns its address."""
        app = web.Application(client_max_size=MOST_BYTES, middlewares=[page.guard(self._site)])
        app.add_routes(
            [
                web.route("*", "/api/{method}", self._api),
                web.get("/link/", self._link),
                web.post("/upload/v1/{secret}", self._upload),
                web.post("/commands/{number}/{secret}", self._response_url),
                web.get("/files-pri/{file}/{tail:.*}", self._file),
            ]
        )
        page.add_to(app, self._site)
        debug.add_to(app, self._site)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        settings = self._site.settings
        listening = web.TCPSite(self._runner, settings.host, settings.port)
        await listening.start()
        port = self._runner.addresses[0][1]
        self._site.base_url = settings.public_url or f"http://127.0.0.1:{port}"

    async def close(self) -> None:
        """Stop listening and end everything."""
        await self._site.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def received_file(self, member: Member, name: str, data: bytes) -> Json:
        """A file a person brought, not yet said anywhere."""
        return files.received(self._site, member, name, data)

    async def _api(self, request: web.Request) -> web.StreamResponse:
        return await api.answer_call(self._site, request)

    async def _link(self, request: web.Request) -> web.StreamResponse:
        return await self._site.sockets.serve(request)

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        response, _ = await api.with_faults(
            self._site, "upload", request, lambda: files.take_upload(self._site, request)
        )
        return response

    async def _response_url(self, request: web.Request) -> web.StreamResponse:
        response, _ = await api.with_faults(
            self._site, "response_url", request, lambda: answers.answer_by_url(self._site, request)
        )
        self._site.feed.wake()
        return response

    async def _file(self, request: web.Request) -> web.StreamResponse:
        """url_private: the app reads a file with its token."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        try:
            self._site.tokens.check(token, level="bot", needed="files:read")
            data = self._site.shelf.read(request.match_info["file"])
        except Refused as no:
            # Slack shows its sign-in page here, with status 200; clients must look at the type.
            return web.Response(
                text=f"<!DOCTYPE html><html><title>Sign in</title>{no.error}</html>", content_type="text/html"
            )
        mimetype = self._site.shelf.known[request.match_info["file"]].get("mimetype") or "application/octet-stream"
        return web.Response(body=data, content_type=mimetype)
