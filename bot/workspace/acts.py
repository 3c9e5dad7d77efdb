"""What people do: commands, clicks, messages, shortcuts, modals; and what they see of the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.workspace import payloads
from bot.workspace.answers import say_by_ack
from bot.workspace.blocks_check import problems_of_options
from bot.workspace.delivery import INTERACTIVE, SLASH, Answer
from bot.workspace.files import share
from bot.workspace.people import BOT_USER, SLACKBOT, TEAM_ID, Channel, Member
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

_NOT_A_COMMAND = 'is not a valid command. Messages that start with the "/" character are interpreted as slash commands.'


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of something a person did."""

    error: str | None
    """What Slack showed them instead, such as `operation_timeout`; `None`: the app acknowledged in time."""
    seconds: float
    """Until the acknowledgement."""
    payload: Json = field(default_factory=dict)
    """What came with the acknowledgement."""
    sent: Json = field(default_factory=dict)
    """What the app got: `trigger_id`, `response_url` …"""
    ts: str | None = None
    """The message this act posted."""

    @property
    def acked(self) -> bool:
        """Whether the app acknowledged in time."""
        return self.error is None


async def slash(
    site: Site, member: Member, channel: Channel, command: str, text: str, *, in_thread: bool = False
) -> Outcome:
    """Type a slash command."""
    command = "/" + command.removeprefix("/")
    if command == "/invite" and not in_thread and text.strip().lstrip("<@").startswith(("runwatch", BOT_USER)):
        invite_app(site, channel, member)
        return Outcome(None, 0.0)
    known = [one["command"] for one in site.manifest.get("features", {}).get("slash_commands", ())]
    if in_thread or (known and command not in known):
        why = "is not supported in threads. Sorry!" if in_thread else _NOT_A_COMMAND
        slackbot_says(site, member, channel, f"{command} {why}")
        return Outcome("invalid_command", 0.0)
    payload = payloads.slash(site, member, channel, command, text)
    answer = await site.delivery.once(SLASH, payload)
    if not answer.acked:
        slackbot_says(site, member, channel, f"{command} failed with the error “{answer.error}”")
    elif answer.payload:
        say_by_ack(site, member, channel, answer.payload)
    return _outcome(answer, payload)


@dataclass(frozen=True, slots=True)
class Press:
    """What somebody does to one interactive element."""

    action_id: str
    value: Any = None
    """What they chose there: an option's value, a list of them, or text."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """What they chose in other elements beside it, by action id."""


async def act_in_message(site: Site, member: Member, channel: Channel, message: Json, press: Press) -> Outcome:
    """Press a button of a message, or choose in one of its menus."""
    blocks = [*(message.get("blocks") or ())]
    for attachment in message.get("attachments") or ():
        blocks += attachment.get("blocks") or ()
    block_id, element = find_element(blocks, press.action_id)
    done = payloads.action(element, block_id, press.value, site.clock.next_ts())
    values = state_values(blocks, {**press.state, press.action_id: press.value})
    payload = payloads.message_actions(site, member, channel, message, actions=[done], state=values)
    answer = await site.delivery.once(INTERACTIVE, payload)
    if not answer.acked:
        slackbot_says(site, member, channel, f"The app did not respond to “{_name_of(element)}” ({answer.error}).")
    return _outcome(answer, payload)


async def act_in_view(site: Site, member: Member, view: Json, press: Press) -> Outcome:
    """Press a button in a modal or in Home."""
    block_id, element = find_element(view["blocks"], press.action_id)
    done = payloads.action(element, block_id, press.value, site.clock.next_ts())
    values = state_values(view["blocks"], {**press.state, press.action_id: press.value})
    payload = payloads.view_actions(site, member, view, [done], values)
    return _outcome(await site.delivery.once(INTERACTIVE, payload), payload)


async def suggest(site: Site, member: Member, blocks: list[Json], typed: Press, where: Json) -> list[Json]:
    """Type into a select with suggestions: the options the app offers."""
    block_id, _ = find_element(blocks, typed.action_id)
    payload = payloads.suggestion(member, typed.action_id, block_id, str(typed.value), where)
    answer = await site.delivery.once(INTERACTIVE, payload)
    if not answer.acked or problems_of_options(answer.payload):
        return []
    return payloads.options_of(answer.payload)


async def run_shortcut(
    site: Site, member: Member, callback_id: str, channel: Channel | None, message: Json | None
) -> Outcome:
    """Choose a shortcut, of a message or of the workspace."""
    if channel is not None and message is not None:
        payload = payloads.message_shortcut(site, member, channel, callback_id, message)
    else:
        payload = payloads.global_shortcut(site, member, callback_id)
    return _outcome(await site.delivery.once(INTERACTIVE, payload), payload)


def say(
    site: Site,
    member: Member,
    channel: Channel,
    text: str,
    *,
    thread_ts: str | None = None,
    files: Sequence[Json] = (),
) -> Json:
    """Write a message; the app hears of it if it subscribed."""
    if channel.is_archived:
        raise Refused("is_archived")
    message: Json = {"user": member.id, "text": text, "team": TEAM_ID}
    if thread_ts:
        site.messages.find(channel.id, thread_ts)
        message["thread_ts"] = thread_ts
    said = share(site, list(files), channel, message) if files else site.messages.post(channel.id, message)
    _tell_app(site, channel, said)
    return said


def invite_app(site: Site, channel: Channel, by: Member) -> None:
    """Put the app into a channel; it hears of that if it subscribed."""
    if BOT_USER in channel.members:
        return
    channel.members.add(BOT_USER)
    site.feed.tell("channels")
    if "member_joined_channel" in site.events and f"{channel.kind}:read" in site.tokens.scopes:
        body: Json = {"type": "member_joined_channel", "user": BOT_USER, "channel": channel.id, "team": TEAM_ID}
        body.update(channel_type="G" if channel.is_private else "C", inviter=by.id, event_ts=site.clock.next_ts())
        _send_event(site, body)


def open_home(site: Site, member: Member) -> None:
    """Look at the app's Home."""
    if "app_home_opened" not in site.events:
        return
    channel = site.directory.direct(member.id)
    body: Json = {"type": "app_home_opened", "user": member.id, "channel": channel.id, "tab": "home"}
    body["event_ts"] = site.clock.next_ts()
    if member.id in site.windows.homes:
        body["view"] = site.windows.homes[member.id]
    _send_event(site, body)


def slackbot_says(site: Site, member: Member, channel: Channel, text: str) -> None:
    """Slack itself tells one person something."""
    site.messages.whisper(channel.id, member.id, {"user": SLACKBOT, "text": text})


def find_element(blocks: list[Json], action_id: str) -> tuple[str, Json]:
    """The block and the element of this action id."""
    for block in blocks:
        for element in (*(block.get("elements") or ()), block.get("accessory"), block.get("element")):
            if isinstance(element, dict) and element.get("action_id") == action_id:
                return block["block_id"], element
    raise LookupError(f"nothing here has the action_id {action_id!r}")


def state_values(blocks: list[Json], chosen: Mapping[str, Any]) -> Json:
    """The state of every element that has one: what was chosen, or what it began with."""
    values: Json = {}
    for block in blocks:
        for element in (*(block.get("elements") or ()), block.get("accessory"), block.get("element")):
            if not isinstance(element, dict) or "action_id" not in element or element["type"] in _STATELESS:
                continue
            action_id = element["action_id"]
            value = chosen[action_id] if action_id in chosen else _initial(element)
            values.setdefault(block["block_id"], {})[action_id] = payloads.state_of(element, value)
    return values


_STATELESS = {"button", "image", "overflow", "workflow_button", "feedback_buttons", "icon_button"}


def _initial(element: Json) -> Any:
    is_suggested = "external" in element["type"]
    for key, value in element.items():
        if key == "initial_option":
            return value if is_suggested else value["value"]
        if key == "initial_options":
            return value if is_suggested else [one["value"] for one in value]
        if key.startswith("initial_"):
            return value
    return None


def _name_of(element: Json) -> str:
    return str((element.get("text") or element.get("placeholder") or {}).get("text", element["action_id"]))


def _tell_app(site: Site, channel: Channel, message: Json) -> None:
    """Events for a message a person wrote: a mention, and the message itself where the app subscribed."""
    if BOT_USER not in channel.members:
        return
    shared: Json = {key: message[key] for key in ("user", "text", "ts", "thread_ts", "files", "team") if key in message}
    shared.update(channel=channel.id, event_ts=message["ts"], client_msg_id=f"local-{message['ts']}")
    events, scopes = site.events, site.tokens.scopes
    is_mention = re.search(rf"<@{BOT_USER}(\|[^>]*)?>", message.get("text", "")) is not None and not channel.is_im
    if is_mention and "app_mention" in events and "app_mentions:read" in scopes:
        _send_event(site, {"type": "app_mention", **shared})
    if f"message.{channel.kind}" in events and f"{channel.kind}:history" in scopes:
        kind = {"channels": "channel", "groups": "group"}.get(channel.kind, "im")
        subtype = {"subtype": "file_share"} if message.get("files") else {}
        _send_event(site, {"type": "message", **subtype, **shared, "channel_type": kind})


def _send_event(site: Site, body: Json) -> None:
    async def deliver() -> None:
        await site.delivery.event(payloads.event(site, body))

    site.background(deliver())


def _outcome(answer: Answer, sent: Json) -> Outcome:
    return Outcome(answer.error, answer.seconds, answer.payload, sent)
