"""How an app's answers become messages: by acknowledgement or by response_url."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from bot.workspace.blocks_check import refuse_bad_attachments, refuse_bad_blocks
from bot.workspace.call import Call, arguments
from bot.workspace.chat import as_bot
from bot.workspace.people import BOT_ID, Channel, Member
from bot.workspace.response_urls import ResponseUrl
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

_CONTENT = ("text", "blocks", "attachments", "thread_ts", "metadata")


def say_by_ack(site: Site, member: Member, channel: Channel, answer: Json) -> None:
    """The message in a slash command's acknowledgement: to the asker alone unless it says `in_channel`."""
    try:
        message = _message(site, answer)
    except Refused as no:
        text = f"The app's answer could not be shown ({no.error})."
        site.messages.whisper(channel.id, member.id, {"user": "USLACKBOT", "text": text})
        return
    if message is None:
        return
    if answer.get("response_type") == "in_channel":
        site.messages.post(channel.id, message)
    else:
        site.messages.whisper(channel.id, member.id, message)


async def answer_by_url(site: Site, request: web.Request) -> web.Response:
    """A POST to a response_url."""
    try:
        where = site.response_urls.use(f"{request.match_info['number']}/{request.match_info['secret']}")
    except Refused as no:
        return web.json_response(no.body(), status=404)
    try:
        args = await arguments(request)
        _answer(site, where, args)
    except Refused as no:
        return web.json_response(no.body(), status=200 if no.error == "message_not_found" else 400)
    return web.Response(text="ok")


def _answer(site: Site, where: ResponseUrl, args: Json) -> None:
    call = Call("response_url", args)
    original = where.message_ts
    if call.flag("delete_original"):
        if original is None or not site.messages.replace_whisper(original, None):
            site.messages.delete(where.channel, _own(site, where))
        return
    message = _message(site, {**args, "blocks": call.structure("blocks", "invalid_blocks_format")})
    if message is None:
        raise Refused("no_text")
    if call.flag("replace_original") and original is not None:
        changes = {key: message.get(key) for key in ("text", "blocks", "attachments")}
        if not site.messages.replace_whisper(original, changes):
            site.messages.edit(where.channel, _own(site, where), changes)
        return
    if where.thread_ts and call.args.get("thread_ts") is None and original is not None:
        message["thread_ts"] = where.thread_ts
    if args.get("response_type") == "in_channel":
        site.messages.post(where.channel, message)
    else:
        site.messages.whisper(where.channel, where.user, message)


def _own(site: Site, where: ResponseUrl) -> str:
    if where.message_ts is None or site.messages.find(where.channel, where.message_ts).get("bot_id") != BOT_ID:
        raise Refused("message_not_found")
    return where.message_ts


def _message(site: Site, answer: Json) -> Json | None:
    content: dict[str, Any] = {key: answer[key] for key in _CONTENT if answer.get(key) is not None}
    if not any(content.get(key) for key in ("text", "blocks", "attachments")):
        return None
    refuse_bad_blocks(content.get("blocks"), site.shelf.known.get)
    refuse_bad_attachments(content.get("attachments"), site.shelf.known.get)
    return {**as_bot(), **content}
