"""conversations.*: what channels there are and what was said in them."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable

from bot.workspace.call import Call, Method, invalid
from bot.workspace.messages import without_metadata
from bot.workspace.people import BOT_USER, Channel
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

MOST_PER_PAGE = 999


async def read_history(site: Site, call: Call) -> Json:
    """What was said in a channel, newest first."""
    channel = _readable(site, call, "history")
    is_wanted = _between(site, call)
    messages = [m for m in reversed(site.messages.roots(channel.id)) if is_wanted(m)]
    page, cursor = _page(messages, call, default=100)
    page = [site.messages.shown(channel.id, message) for message in page]
    return {"messages": page, "has_more": bool(cursor), "pin_count": 0, "response_metadata": {"next_cursor": cursor}}


async def read_replies(site: Site, call: Call) -> Json:
    """A thread: its root first, then the replies, oldest first."""
    channel = _readable(site, call, "history")
    ts = call.need("ts")
    try:
        message = site.messages.find(channel.id, ts)
    except Refused:
        raise Refused("thread_not_found") from None
    thread = site.messages.thread(channel.id, message.get("thread_ts", ts))
    is_wanted = _between(site, call)
    shown = [m for m in thread if m["ts"] == thread[0]["ts"] or is_wanted(m)]
    page, cursor = _page(shown, call, default=1000)
    return {"messages": page, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}


async def tell_channel(site: Site, call: Call) -> Json:
    """One channel."""
    channel = _visible(site.directory.channel_by_id(call.need("channel")))
    site.tokens.need(f"{channel.kind}:read")
    return {"channel": channel.as_slack()}


async def list_channels(site: Site, call: Call) -> Json:
    """The channels the app can see, of the kinds asked for."""
    kinds = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
    wanted = [kind.strip() for kind in (call.text("types") or "public_channel").split(",")]
    if not all(kind in kinds for kind in wanted):
        raise Refused("invalid_types")
    for kind in wanted:
        site.tokens.need(f"{kinds[kind]}:read")
    found = [
        channel.as_slack()
        for channel in site.directory.channels.values()
        if channel.kind in {kinds[kind] for kind in wanted}
        and (BOT_USER in channel.members or channel.kind == "channels")
        and not (channel.is_archived and call.flag("exclude_archived"))
    ]
    page, cursor = _page(found, call, default=100)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


async def list_members(site: Site, call: Call) -> Json:
    """Who is in a channel."""
    channel = _visible(site.directory.channel_by_id(call.need("channel")))
    site.tokens.need(f"{channel.kind}:read")
    return {"members": sorted(channel.members), "response_metadata": {"next_cursor": ""}}


async def open_direct(site: Site, call: Call) -> Json:
    """The direct message with a person."""
    users = [user for user in (call.text("users") or "").split(",") if user]
    if call.text("channel"):
        return {"channel": site.directory.channel_by_id(call.need("channel")).as_slack()}
    if len(users) != 1:
        raise invalid("exactly one user can be messaged here")
    if users[0] not in site.directory.members:
        raise Refused("user_not_found")
    channel = site.directory.direct(users[0])
    return {"channel": channel.as_slack() if call.flag("return_im") else {"id": channel.id}}


async def join_channel(site: Site, call: Call) -> Json:
    """The app joins a public channel."""
    channel = site.directory.channel_by_id(call.need("channel"))
    if channel.is_private or channel.is_im:
        raise Refused("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise Refused("is_archived")
    channel.members.add(BOT_USER)
    site.feed.tell("channels")
    return {"channel": channel.as_slack()}


def _visible(channel: Channel) -> Channel:
    """A private channel the app is not in does not exist for it."""
    if channel.is_private and BOT_USER not in channel.members:
        raise Refused("channel_not_found")
    return channel


def _readable(site: Site, call: Call, act: str) -> Channel:
    channel = _visible(site.directory.channel_by_id(call.need("channel")))
    site.tokens.need(f"{channel.kind}:{act}")
    if BOT_USER not in channel.members:
        raise Refused("not_in_channel")
    return channel


def _between(site: Site, call: Call) -> Callable[[Json], bool]:
    oldest, latest = _time(call, "oldest", -math.inf), _time(call, "latest", math.inf)
    is_inclusive = call.flag("inclusive")
    newest_shown = site.clock.now() - site.history_lag_seconds

    def is_wanted(message: Json) -> bool:
        ts = float(message["ts"])
        if ts > newest_shown:
            return False
        return oldest <= ts <= latest if is_inclusive else oldest < ts < latest

    return is_wanted


def _time(call: Call, name: str, otherwise: float) -> float:
    value = call.text(name)
    if value is None:
        return otherwise
    try:
        return float(value)
    except ValueError:
        raise Refused(f"invalid_ts_{name}") from None


def _page(found: list[Json], call: Call, *, default: int) -> tuple[list[Json], str]:
    limit = call.number("limit", default)
    if not 1 <= limit <= MOST_PER_PAGE + 1:
        raise Refused("invalid_limit")
    try:
        start = int(base64.b64decode(call.text("cursor") or "", validate=True).removeprefix(b"next:") or b"0")
    except (ValueError, binascii.Error):
        raise Refused("invalid_cursor") from None
    page = found[start : start + limit]
    if not call.flag("include_all_metadata"):
        page = [without_metadata(item) for item in page]
    more = start + limit < len(found)
    return page, base64.b64encode(b"next:%d" % (start + limit)).decode() if more else ""


METHODS = (
    Method("conversations.history", read_history, tier=3),
    Method("conversations.replies", read_replies, tier=3),
    Method("conversations.info", tell_channel, tier=3),
    Method("conversations.list", list_channels, tier=2),
    Method("conversations.members", list_members, tier=4),
    Method("conversations.open", open_direct, "im:write", 3),
    Method("conversations.join", join_channel, "channels:join", 3),
)
