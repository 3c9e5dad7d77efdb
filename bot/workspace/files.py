"""files.*: the three-step upload, and what became of a file."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from aiohttp import web

from bot.workspace.call import Call, Method, invalid
from bot.workspace.chat import as_bot, may_speak, thread_root
from bot.workspace.people import BOT_USER, Channel, Member
from bot.workspace.shelf import type_of
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

PREVIEW_CHARACTERS = 4_000


async def get_upload_url(site: Site, call: Call) -> Json:
    """Step one: an id and a place for the bytes."""
    name, length = call.need("filename"), call.number("length", -1)
    if length < 0:
        raise invalid("missing required field: length")
    if length == 0:
        raise Refused("file_upload_size_restricted")
    file_id, secret = site.shelf.announce(name, length, BOT_USER, site.clock.now(), alt_txt=call.text("alt_txt"))
    return {"upload_url": f"{site.base_url}/upload/v1/{secret}", "file_id": file_id}


async def take_upload(site: Site, request: web.Request) -> web.Response:
    """Step two: the bytes, as a raw body or a form."""
    announced = site.shelf.waiting.get(request.match_info["secret"])
    if announced is None:
        return web.Response(status=404, text="no such upload")
    data = await request.read()
    if request.content_type == "multipart/form-data":
        form = await request.post()
        field: Any = next(iter(form.values()), b"")
        data = field.file.read() if isinstance(field, web.FileField) else str(field).encode()
    site.shelf.store(announced["id"], data)
    announced["size"] = len(data)
    return web.Response(text=f"OK - {len(data)}")


async def complete_upload(site: Site, call: Call) -> Json:
    """Step three: the file exists. Its mimetype and its share come a moment later, as in Slack."""
    wanted = call.structure("files", "invalid_arguments")
    if not isinstance(wanted, list) or not wanted or not all(isinstance(one, dict) for one in wanted):
        raise invalid("missing required field: files")
    if call.text("initial_comment") and call.args.get("blocks"):
        raise invalid("initial_comment and blocks exclude each other")
    channels = _share_in(site, call)
    announced = [site.shelf.announced(str(one.get("id"))) for one in wanted]
    if not all(file is not None and site.shelf.has_bytes(file["id"]) for file in announced):
        raise Refused("file_not_found")
    files: list[Json] = []
    for one, upload in zip(wanted, announced, strict=True):
        assert upload is not None
        files.append(_created(site, upload, one.get("title") or upload["name"]))
    site.shelf.waiting = {k: v for k, v in site.shelf.waiting.items() if v not in announced}
    thread_ts = call.text("thread_ts")
    site.background(_settle(site, files, channels, thread_ts, call.text("initial_comment")))
    return {"files": [dict(file) for file in files]}


async def tell_file(site: Site, call: Call) -> Json:
    """What is known of a file by now."""
    file = dict(site.shelf.find(call.need("file")))
    return {"file": file, "comments": [], "response_metadata": {"next_cursor": ""}}


async def delete_file(site: Site, call: Call) -> Json:
    """The file goes; messages keep a tombstone."""
    file = site.shelf.find(call.need("file"))
    if file["user"] != BOT_USER:
        raise Refused("cant_delete_file")
    site.shelf.save({"id": file["id"], "mode": "tombstone", "user": file["user"], "shares": {}})
    return {}


def received(site: Site, member: Member, name: str, data: bytes) -> Json:
    """A file a person brought through the page, complete at once and not yet said anywhere."""
    file_id, secret = site.shelf.announce(name, len(data), member.id, site.clock.now(), alt_txt=None)
    site.shelf.store(file_id, data)
    file = _created(site, site.shelf.waiting.pop(secret), name)
    recognise(site, file)
    return file


def _share_in(site: Site, call: Call) -> list[Channel]:
    ids = [one for one in (call.text("channels") or "").split(",") if one]
    ids += [one for one in (call.text("channel_id"),) if one]
    channels = []
    for channel_id in ids:
        if channel_id not in site.directory.channels:
            raise Refused("channel_not_found")
        channel = site.directory.channels[channel_id]
        if BOT_USER not in channel.members:
            raise Refused("channel_not_found" if channel.is_private else "not_in_channel")
        may_speak(site, channel)
        channels.append(channel)
    return channels


def _created(site: Site, upload: Json, title: str) -> Json:
    base = f"{site.base_url}/files-pri/{upload['id']}"
    file: Json = {
        **upload,
        "timestamp": upload["created"],
        "title": title,
        "mimetype": "",
        "filetype": "",
        "pretty_type": "",
        "mode": "hosted",
        "is_external": False,
        "is_public": False,
        "url_private": f"{base}/{upload['name']}",
        "url_private_download": f"{base}/download/{upload['name']}",
        "permalink": f"{site.base_url}/files/{upload['user']}/{upload['id']}/{upload['name']}",
        "shares": {},
        "channels": [],
        "groups": [],
        "ims": [],
    }
    site.shelf.save(file)
    return file


async def _settle(
    site: Site, files: list[Json], channels: list[Channel], thread_ts: str | None, comment: str | None
) -> None:
    await asyncio.sleep(site.settings.share_delay_seconds)
    for file in files:
        recognise(site, file)
    if not channels or any("alt_txt" in file for file in files):
        return  # Slack's own bug: an upload with alt_txt is kept and never shared (python-slack-sdk #1818)
    for channel in channels:
        message = {**as_bot(), "text": comment or "", "upload": False}
        root = thread_root(site, channel, thread_ts)
        if root is not None:
            message["thread_ts"] = root
        share(site, files, channel, message)


def recognise(site: Site, file: Json) -> None:
    """Slack has looked at the bytes: what it is, how it looks."""
    data = site.shelf.read(file["id"])
    mimetype, filetype, pretty = type_of(file["name"], data)
    file.update(mimetype=mimetype, filetype=filetype, pretty_type=pretty)
    if mimetype.startswith("text/") or mimetype in {"application/json", "application/csv"}:
        whole = data.decode(errors="replace")
        file.update(mode="snippet", preview=whole[:PREVIEW_CHARACTERS], lines=whole.count("\n") + 1)
        file["is_truncated"] = len(whole) > PREVIEW_CHARACTERS
    site.shelf.save(file)


def share(site: Site, files: list[Json], channel: Channel, message: Json) -> Json:
    """Say it with files; each file remembers where it was shared."""
    said = site.messages.post(channel.id, {**message, "files": [_in_message(file) for file in files]})
    shared = {"ts": said["ts"], "reply_users": [], "channel_name": channel.name, "team_id": said.get("team")}
    if said.get("thread_ts"):
        shared["thread_ts"] = said["thread_ts"]
    for file in files:
        visibility = "private" if channel.is_private or channel.is_im else "public"
        file["shares"].setdefault(visibility, {}).setdefault(channel.id, []).append(shared)
        file[{"channels": "channels", "groups": "groups"}.get(channel.kind, "ims")].append(channel.id)
        site.shelf.save(file)
    return said


def _in_message(file: Json) -> Json:
    """The file as its message shows it: what it is, not where else it was shared."""
    return copy.deepcopy(
        {key: value for key, value in file.items() if key not in {"shares", "channels", "groups", "ims"}}
    )


METHODS = (
    Method("files.getUploadURLExternal", get_upload_url, "files:write", 4),
    Method("files.completeUploadExternal", complete_upload, "files:write", 4),
    Method("files.info", tell_file, "files:read", 4),
    Method("files.delete", delete_file, "files:write", 3),
)
