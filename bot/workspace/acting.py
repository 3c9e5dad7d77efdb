"""What people do, asked for in JSON: by the page, and by scenario processes through /debug."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from bot.workspace import acts, modals
from bot.workspace.acts import Outcome, Press
from bot.workspace.people import Channel
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused


async def do(site: Site, asked: Json) -> Json:
    """Do one act; the answer says what came of it.

    Raises:
        Refused: There is no such act, person, channel, message or element.
    """
    act = _ACTS.get(str(asked.get("act")))
    if act is None:
        raise Refused("unknown_act", known=sorted(_ACTS))
    try:
        return await act(site, asked)
    except (LookupError, ValueError) as wrong:
        raise Refused("invalid_act", why=str(wrong)) from wrong


async def _slash(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    channel = site.directory.channel(asked["channel"])
    in_thread = bool(asked.get("thread_ts"))
    return _told(await acts.slash(site, member, channel, asked["command"], asked.get("text", ""), in_thread=in_thread))


async def _say(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    channel = site.directory.channel(asked["channel"])
    files = [site.shelf.find(file_id) for file_id in asked.get("files") or ()]
    said = acts.say(site, member, channel, asked.get("text", ""), thread_ts=asked.get("thread_ts"), files=files)
    return {"ts": said["ts"]}


async def _click(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    press = Press(asked["action_id"], asked.get("value"), asked.get("state") or {})
    if asked.get("view_id"):
        view = _view(site, member.id, asked["view_id"])
        return _told(await acts.act_in_view(site, member, view, press))
    channel, message = _message(site, asked["ts"])
    return _told(await acts.act_in_message(site, member, channel, message, press))


async def _suggest(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    if asked.get("view_id"):
        view = _view(site, member.id, asked["view_id"])
        blocks, where = view["blocks"], {"view": view}
    else:
        channel, message = _message(site, asked["ts"])
        container = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id}
        blocks = message["blocks"]
        where = {"channel": {"id": channel.id, "name": channel.name}, "container": container}
    options = await acts.suggest(site, member, blocks, Press(asked["action_id"], asked.get("value", "")), where)
    return {"options": options}


async def _shortcut(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    channel, message = _message(site, asked["ts"]) if asked.get("ts") else (None, None)
    return _told(await acts.run_shortcut(site, member, asked["callback_id"], channel, message))


async def _home(site: Site, asked: Json) -> Json:
    acts.open_home(site, site.directory.member(asked["user"]))
    return {}


async def _submit(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    view = _view(site, member.id, asked["view_id"])
    return _told(await modals.submit(site, member, view, asked.get("values") or {}))


async def _close(site: Site, asked: Json) -> Json:
    member = site.directory.member(asked["user"])
    await modals.close(site, member, _view(site, member.id, asked["view_id"]))
    return {}


async def _dismiss(site: Site, asked: Json) -> Json:
    site.messages.replace_whisper(str(asked["ts"]), None)
    return {}


_ACTS: dict[str, Callable[[Site, Json], Awaitable[Json]]] = {
    "slash": _slash,
    "say": _say,
    "click": _click,
    "suggest": _suggest,
    "shortcut": _shortcut,
    "open_home": _home,
    "submit": _submit,
    "close": _close,
    "dismiss": _dismiss,
}


def _told(outcome: Outcome) -> Json:
    told: dict[str, Any] = asdict(outcome)
    told.pop("sent")
    return {**told, "acked": outcome.acked}


def _message(site: Site, ts: str) -> tuple[Channel, Json]:
    whispered = site.messages.whispered(ts)
    if whispered is not None:
        return site.directory.channel(whispered["channel"]), whispered
    channel = site.messages.channel_of(ts)
    if channel is None:
        raise Refused("message_not_found")
    return site.directory.channel(channel), site.messages.find(channel, ts)


def _view(site: Site, user: str, view_id: str) -> Json:
    home = site.windows.homes.get(user)
    if home is not None and home["id"] == view_id:
        return home
    return site.windows.find(view_id=view_id)[1]
