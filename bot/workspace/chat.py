"""chat.*: posting, editing, deleting, whispering."""

from __future__ import annotations

from typing import Any

from bot.workspace.blocks_check import refuse_bad_attachments, refuse_bad_blocks
from bot.workspace.call import Call, Method
from bot.workspace.people import APP_ID, BOT_ID, BOT_USER, TEAM_ID, Channel
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

MOST_TEXT_IN_POST = 40_000
MOST_TEXT_IN_UPDATE = 4_000
MOST_METADATA = 15_000


async def post_message(site: Site, call: Call) -> Json:
    """Say something in a channel or thread."""
    channel = _to(site, call)
    content = content_of(site, call)
    if len(content.get("text", "")) > MOST_TEXT_IN_POST:
        raise Refused("msg_too_long")
    may_speak(site, channel)
    wait = site.rates.wait_to_post(channel.id) if site.settings.rate_limit else None
    if wait is not None:
        raise Refused("ratelimited", retry_after=wait)
    message = {**as_bot(), **content}
    root = thread_root(site, channel, call.text("thread_ts"))
    if root is not None:
        message["thread_ts"] = root
        if call.flag("reply_broadcast"):
            message["subtype"] = "thread_broadcast"
    said = site.messages.post(channel.id, message)
    return {"channel": channel.id, "ts": said["ts"], "message": site.messages.shown(channel.id, said)}


async def update_message(site: Site, call: Call) -> Json:
    """Edit a message of the app."""
    channel = site.directory.channel_by_id(call.need("channel"))
    ts = call.need("ts")
    message = site.messages.find(channel.id, ts)
    if channel.is_archived:
        raise Refused("is_archived")
    if message.get("bot_id") != BOT_ID:
        raise Refused("cant_update_message")
    content = content_of(site, call)
    if len(content.get("text", "")) > MOST_TEXT_IN_UPDATE:
        raise Refused("msg_too_long")
    changes: Json = dict(content)
    if "text" in content and "blocks" not in content:
        changes["blocks"] = None  # Slack's rule: text without blocks takes the old blocks away
    for emptied in ("blocks", "attachments"):
        if changes.get(emptied) == []:
            changes[emptied] = None
    changes["edited"] = {"user": BOT_USER, "ts": f"{int(site.clock.now())}.000000"}
    edited = site.messages.edit(channel.id, ts, changes)
    shown = site.messages.shown(channel.id, edited)
    return {"channel": channel.id, "ts": ts, "text": edited.get("text", ""), "message": shown}


async def delete_message(site: Site, call: Call) -> Json:
    """Delete a message of the app."""
    channel = site.directory.channel_by_id(call.need("channel"))
    ts = call.need("ts")
    if site.messages.find(channel.id, ts).get("bot_id") != BOT_ID:
        raise Refused("cant_delete_message")
    site.messages.delete(channel.id, ts)
    return {"channel": channel.id, "ts": ts}


async def post_ephemeral(site: Site, call: Call) -> Json:
    """Say something to one person alone."""
    channel = _to(site, call)
    user = site.directory.members.get(call.need("user"))
    if user is None:
        raise Refused("user_not_found")
    content = content_of(site, call)
    if len(content.get("text", "")) > MOST_TEXT_IN_POST:
        raise Refused("msg_too_long")
    may_speak(site, channel)
    if user.id not in channel.members:
        raise Refused("user_not_in_channel")
    message = {**as_bot(), **content}
    thread_ts = call.text("thread_ts")
    if thread_ts is not None:
        message["thread_ts"] = thread_ts
    return {"message_ts": site.messages.whisper(channel.id, user.id, message)["ts"]}


async def get_permalink(site: Site, call: Call) -> Json:
    """A link to a message, which the page opens."""
    channel = site.directory.channel_by_id(call.need("channel"))
    ts = call.need("message_ts")
    message = site.messages.find(channel.id, ts)
    root = message.get("thread_ts", ts)
    thread = "" if root == ts else f"?thread_ts={root}&cid={channel.id}"
    return {"channel": channel.id, "permalink": f"{site.base_url}/archives/{channel.id}/p{ts.replace('.', '')}{thread}"}


def as_bot() -> Json:
    """The fields that say who speaks: the app."""
    profile = {"id": BOT_ID, "app_id": APP_ID, "name": "Runwatch", "team_id": TEAM_ID, "deleted": False}
    return {"user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID, "team": TEAM_ID, "bot_profile": profile}


def content_of(site: Site, call: Call) -> Json:
    """What is to be said, checked as strictly as Slack checks it."""
    content: Json = {}
    blocks = call.structure("blocks", "invalid_blocks_format")
    attachments = call.structure("attachments", "invalid_attachments")
    refuse_bad_blocks(blocks, site.shelf.known.get)
    refuse_bad_attachments(attachments, site.shelf.known.get)
    text, markdown = call.args.get("text"), call.text("markdown_text")
    if markdown is not None:
        if text or blocks:
            raise Refused("markdown_text_conflict")
        if len(markdown) > 12_000:
            raise Refused("msg_too_long")
        blocks, text = [{"type": "markdown", "text": markdown}], markdown
    if text is not None:
        content["text"] = str(text)
    if blocks is not None:
        content["blocks"] = blocks
    if attachments is not None:
        content["attachments"] = [{"id": index, **one} for index, one in enumerate(attachments, start=1)]
    if not str(text or "").strip() and not blocks and not attachments:
        raise Refused("no_text")
    metadata = call.structure("metadata", "invalid_metadata_format")
    if metadata is not None:
        content["metadata"] = _metadata(metadata)
    return content


def thread_root(site: Site, channel: Channel, ts: str | None) -> str | None:
    """The root of the thread to reply in; a reply to a reply joins the root's thread.

    A root that is gone is no error in Slack: the reply becomes a message of its own, and only the missing
    `message.thread_ts` of the answer tells (slack-go/slack#1571, langchain-ai/open-swe#2753).
    """
    if ts is None:
        return None
    try:
        message = site.messages.find(channel.id, ts)
    except Refused:
        return None
    return str(message.get("thread_ts", ts))


def may_speak(site: Site, channel: Channel) -> None:
    """Refuse a channel the app may not post in."""
    if channel.is_archived:
        raise Refused("is_archived")
    if BOT_USER in channel.members:
        return
    if channel.is_private:
        raise Refused("channel_not_found")
    if "chat:write.public" not in site.tokens.scopes:
        raise Refused("not_in_channel")


def _to(site: Site, call: Call) -> Channel:
    wanted = call.text("channel")
    if wanted is None:
        raise Refused("channel_not_found")
    if wanted in site.directory.members:
        return site.directory.direct(wanted)
    return site.directory.channel(wanted)


def _metadata(metadata: Any) -> Json:
    if not isinstance(metadata, dict):
        raise Refused("invalid_metadata_format")
    if not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict):
        raise Refused("invalid_metadata_schema")
    if len(str(metadata)) > MOST_METADATA:
        raise Refused("metadata_too_large")
    return {"event_type": metadata["event_type"], "event_payload": metadata["event_payload"]}


METHODS = (
    Method("chat.postMessage", post_message, "chat:write"),
    Method("chat.update", update_message, "chat:write", 3),
    Method("chat.delete", delete_message, "chat:write", 3),
    Method("chat.postEphemeral", post_ephemeral, "chat:write", 4),
    Method("chat.getPermalink", get_permalink),
)
